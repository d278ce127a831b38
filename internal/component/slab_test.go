package component_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// few takes so many deliveries.
type few struct {
	left int
	took []component.Delivery
}

var errFull = errors.New("no more")

func (f *few) Send(_ context.Context, d component.Delivery) error {
	if f.left == 0 {
		return errFull
	}
	f.left--
	f.took = append(f.took, d)
	return nil
}

func TestAnOutThatKnowsNoSlabsTakesTheirMessagesOneByOne(t *testing.T) {
	out := &few{left: 2}
	var settled []int
	slab := component.Slab{Messages: []message.Message{{Key: "a"}, {Key: "b"}, {Key: "c"}}}
	slab.Settle = func(i int, m *message.Message, o component.Outcome) {
		if m.Key != slab.Messages[i].Key || o.Verdict != component.Dropped {
			t.Errorf("message %d: %s, %v", i, m.Key, o.Verdict)
		}
		settled = append(settled, i)
	}
	taken, err := component.SendSlab(t.Context(), out, slab)
	if taken != 2 || !errors.Is(err, errFull) {
		t.Fatalf("%d were taken: %v", taken, err)
	}
	out.took[1].Settle(component.Drop(nil))
	out.took[0].Settle(component.Drop(nil))
	if !slices.Equal(settled, []int{1, 0}) {
		t.Errorf("settled %v", settled)
	}
	out = &few{left: 1}
	if taken, err := component.SendSlab(t.Context(), out, component.Slab{Messages: slab.Messages[:1]}); taken != 1 ||
		err != nil || out.took[0].Settle != nil {
		t.Errorf("a source that does not care: %d were taken: %v", taken, err)
	}
}
