package door

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// entries asks a page for room for entries of a size until it has none, and returns how many it had.
func entries(t *testing.T, p *Page, size int64) (n int) {
	t.Helper()
	for ; n < 1000; n++ {
		ok, err := p.Room(t.Context(), size)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return n
		}
	}
	t.Fatal("the page has no end")
	return 0
}

func TestAPageEndsAtItsBytes(t *testing.T) {
	for _, c := range []struct {
		size int64
		want int
	}{{10, 10}, {30, 3}, {100, 1}, {101, 1}, {100_000, 1}} {
		hold := Hold{Of: NewBusy(1 << 20)}
		if n := entries(t, &Page{Hold: &hold, Most: 100, Cost: 4}, c.size); n != c.want {
			t.Errorf("a page of 100 bytes has %d entries of %d, not %d", n, c.size, c.want)
		}
		if used := hold.Of.Used(); used != min(4*c.size*int64(c.want), 1<<20) {
			t.Errorf("%d entries of %d bytes hold %d", c.want, c.size, used)
		}
		hold.End()
	}
}

func TestAPageEndsWhereTheAccountHasNoRoomForMore(t *testing.T) {
	all := NewBusy(1000)
	others := Hold{Of: all}
	if !others.Try(700) {
		t.Fatal("there is no room")
	}
	hold := Hold{Of: all}
	if n := entries(t, &Page{Hold: &hold, Most: 1000, Cost: 1}, 100); n != 3 {
		t.Errorf("a page has %d entries of 100 bytes where there is room for 3", n)
	}
	all.Patience = time.Millisecond
	none := Hold{Of: all}
	late := Page{Hold: &none, Most: 1000, Cost: 1}
	if _, err := late.Room(t.Context(), 100); !errors.Is(err, ErrBusy) {
		t.Error("the first entry of another page:", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := late.Room(ctx, 100); !errors.Is(err, context.Canceled) {
		t.Error("of one whose client has gone:", err)
	}
	hold.End()
	if ok, err := late.Room(t.Context(), 100); !ok || err != nil {
		t.Error("when the first page is written:", ok, err)
	}
}

func TestEntriesAreMadeAsFarAsThereIsRoom(t *testing.T) {
	for _, c := range []struct {
		name  string
		size  int
		limit int64
		next  int
	}{
		{"all of them", 1 << 10, 1 << 20, 20},
		{"as many as a page has", 10 << 10, 1 << 20, 10},
		{"as many as there is room for", 10 << 10, 160 << 10, 4},
		{"one that is large", 1 << 20, 64 << 10, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			hold := Hold{Of: NewBusy(c.limit)}
			made := 0
			texts, next, err := Entries(t.Context(), &Page{Hold: &hold, Most: 100 << 10, Cost: 4}, make([]int, 20),
				func(int) (any, error) {
					if made++; made == 2 {
						return nil, nil // deleted meanwhile
					}
					return strings.Repeat("x", c.size), nil
				})
			left := 0
			if next > 1 {
				left = 1
			}
			if err != nil || next != c.next || len(texts) != next-left {
				t.Errorf("%d entries, and the next page begins with %d: %v", len(texts), next, err)
			}
			hold.End()
			if used := hold.Of.Used(); used != 0 {
				t.Errorf("%d bytes are still taken", used)
			}
		})
	}
}
