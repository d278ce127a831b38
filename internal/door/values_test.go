package door_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/door"
)

func TestManyShortValuesTakeRoomByTheirNumber(t *testing.T) {
	each := door.Weight{Value: 100, Object: 500}
	for _, c := range []struct {
		name, text string
		atLeast    int64
		atMost     int64
	}{
		{"a few", `{"a": [1, 2, 3]}`, 0, 0},
		{"a long text", `["` + strings.Repeat(`{,`, 100_000) + `"]`, 0, 0},
		{"objects", "[" + strings.Repeat("{},", 1000), 690_000, 800_000},
		{"numbers", "[" + strings.Repeat("1,", 1000), 90_000, 110_000},
	} {
		all := door.NewBusy(1 << 20)
		h := door.Hold{Of: all}
		if err := h.Values([]byte(c.text), each); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := all.Used(); got < c.atLeast || got > c.atMost {
			t.Errorf("%s take %d bytes, not %d to %d", c.name, got, c.atLeast, c.atMost)
		}
		if h.End(); all.Used() != 0 {
			t.Errorf("%s: %d bytes were not given back", c.name, all.Used())
		}
	}
}

func TestValuesWithoutRoomAreRefused(t *testing.T) {
	all := door.NewBusy(1 << 20)
	h := door.Hold{Of: all}
	defer h.End()
	each := door.Weight{Value: 100, Object: 500}
	if err := h.Values([]byte("["+strings.Repeat("{},", 2000)), each); !errors.Is(err, door.ErrNeverFits) {
		t.Errorf("more than there can be: %v", err)
	}
	all.Try(600_000) // as if another request had them
	if err := h.Values([]byte("["+strings.Repeat("{},", 1000)), each); !errors.Is(err, door.ErrBusy) {
		t.Errorf("more than there is: %v", err)
	}
	if all.Used() != 600_000 {
		t.Errorf("what was refused has taken %d bytes", all.Used()-600_000)
	}
}
