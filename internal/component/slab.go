package component

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Slab are messages that a source has read at once and sends at once, as a pipe brings lines. They mean what as many
// deliveries would, one after the other: each is settled, tried again or given up by itself. What they share is memory,
// and what there is to do for each of them once.
//
// A slab holds what is there: nobody waits for one to be full. SlabMessages and SlabBytes bound it.
type Slab struct {
	// Messages are in their order, and the pipeline's from then on: it fills in what they lack. Their bodies may be
	// pieces of one text.
	Messages []message.Message
	// Settle is called once for each of Messages, as the Settle of a Delivery is: i is its place among them, and m a
	// message as it was sent, which may be a copy. What keeps i alone lets go of the slab's memory. Nil is for sources
	// that do not care.
	Settle func(i int, m *message.Message, o Outcome)
}

// The size of a slab: enough to share what it costs, little enough that a message that is kept does not keep much else
// from being forgotten.
const (
	SlabMessages = 64
	SlabBytes    = 64 << 10 // of bodies, for more than one message
)

// SlabOut is met by an Out that takes a slab for less than its messages one by one.
type SlabOut interface {
	Out
	// SendSlab is Send for each message of a slab, in their order. taken is how many of them were taken before an
	// error: for the others, Settle will not be called.
	SendSlab(ctx context.Context, s Slab) (taken int, err error)
}

// SendSlab sends a slab to out, whatever that can take at once.
func SendSlab(ctx context.Context, out Out, s Slab) (taken int, err error) {
	if all, ok := out.(SlabOut); ok {
		return all.SendSlab(ctx, s)
	}
	for i := range s.Messages {
		d := Delivery{Message: &s.Messages[i]}
		if s.Settle != nil {
			d.Settle = func(o Outcome) { s.Settle(i, d.Message, o) }
		}
		if err := out.Send(ctx, d); err != nil {
			return i, err
		}
	}
	return len(s.Messages), nil
}

// SlabTransform is a Transform that does several messages for less than one by one, such as one that only computes. The
// pipeline gives it what waits in its order, but never waits for more.
//
// TransformSlab is Transform for each of ms, which may come from several slabs, with the answers of a GroupTransform.
// It waits for nothing, since the messages before are held up by those behind them: ctx ends with the pipeline alone.
// What it makes may share memory.
type SlabTransform interface {
	Transform
	TransformSlab(ctx context.Context, ms []*message.Message, emit EmitFor) []error
}
