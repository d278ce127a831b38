package journey

import (
	"errors"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestATapSeesItsPlaceAloneAndCopies(t *testing.T) {
	var taps Taps
	if taps.On() {
		t.Error("somebody taps at the beginning")
	}
	tap, err := taps.Open(news)
	if err != nil {
		t.Fatal(err)
	}
	m := &message.Message{ID: id(1), Body: make([]byte, TapBody+5)}
	m.Body[0] = 'a'
	taps.Tell(&Note{ID: id(1), Kind: Accepted, Place: news}, m)
	taps.Tell(&Note{ID: id(2), Kind: Accepted, Place: Place{Name: "hook"}}, m)
	m.Body[0] = 'b'
	<-tap.Wake()
	got, dropped := tap.Take()
	if len(got) != 1 || dropped != 0 || got[0].ID != id(1) || got[0].Message.Body[0] != 'a' ||
		len(got[0].Message.Body) != TapBody || got[0].Size != TapBody+5 {
		t.Errorf("%d events, %d dropped", len(got), dropped)
	}
	tap.Close()
	if taps.On() {
		t.Error("somebody taps at the end")
	}
	taps.Tell(&Note{ID: id(1), Place: news}, m)
	if got, _ := tap.Take(); len(got) != 0 {
		t.Error("a closed tap is told")
	}
}

func TestATapThatIsNotReadLosesAndIsToldHowMany(t *testing.T) {
	var taps Taps
	tap, err := taps.Open(news)
	if err != nil {
		t.Fatal(err)
	}
	defer tap.Close()
	m := &message.Message{Body: make([]byte, TapBody)}
	var tellers sync.WaitGroup
	for range 4 {
		tellers.Go(func() {
			for n := range uint64(100) {
				taps.Tell(&Note{ID: id(n), Place: news}, m)
			}
		})
	}
	tellers.Wait()
	got, dropped := tap.Take()
	if len(got) == 0 || len(got)*TapBody > TapBytes || len(got)+int(dropped) != 400 {
		t.Errorf("%d events, %d dropped", len(got), dropped)
	}
	taps.Tell(&Note{ID: id(7), Place: news}, nil)
	if got, dropped = tap.Take(); len(got) != 1 || dropped != 0 || got[0].Message != nil {
		t.Errorf("after that %d events, %d dropped", len(got), dropped)
	}
}

func TestTapsAreBounded(t *testing.T) {
	var taps Taps
	var open []*Tap
	for n := range MaxTaps {
		tap, err := taps.Open(Place{"default", string(rune('a' + n))})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, tap)
	}
	if _, err := taps.Open(news); !errors.Is(err, ErrTaps) {
		t.Errorf("one more: %v", err)
	}
	open[3].Close()
	if _, err := taps.Open(news); err != nil {
		t.Errorf("in the place of one that was closed: %v", err)
	}
}

func BenchmarkTellingNobody(b *testing.B) {
	var taps Taps
	n := &Note{Place: news}
	for b.Loop() {
		taps.Tell(n, nil)
	}
}
