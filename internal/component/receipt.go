package component

import (
	"context"
	"errors"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Receipted is met by sinks of which an owner may want a receipt for each message. The pipeline writes it, once the
// sink is done with the message for good; what only the sink knows stands in the Receipt of its Outcomes.
type Receipted interface {
	// Receipts is the queue or topic that the receipts are put into; the zero name: none are wanted. It is the same at
	// all times.
	Receipts() queue.Name
}

// Receipt tells of one message that a sink is done with. The sink makes it and fills in what it knows, the pipeline
// adds the message to be put, and whoever puts that calls Done. It belongs to one of them at a time.
type Receipt struct {
	// What the sink says. "" is not known. The pipeline cuts what is too long.
	App         string // by its name in the configuration
	Environment string
	Device      string // a hash, never what the device is addressed by
	Reason      string // of another outcome than Delivered: a word that is the same for all messages of the kind
	PushID      string // the far end's own name of what it took

	To      queue.Name
	Message message.Message
	// Done is called once, from any goroutine: with nil when the receipt is durable, else with why there is none. It
	// must be quick.
	Done func(error)
	// Next is another receipt of the same delivery; nil: there is none.
	Next *Receipt
}

// Bytes is about what the receipt takes of memory until it is put.
func (r *Receipt) Bytes() int { return r.Message.Size() + receiptBytes }

const receiptBytes = 512

// ReceiptStore is what receipts are put into; a queue.Service is one.
type ReceiptStore interface {
	Put(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error)
}

// ReceiptPuts are the puts of receipts, those of one queue together.
func ReceiptPuts(rs []*Receipt) (puts []queue.QueuePut) {
	for i, r := range rs {
		last := len(puts) - 1
		if last < 0 || puts[last].To != r.To {
			puts = append(puts, queue.QueuePut{To: r.To, Messages: make([]message.Message, 0, len(rs)-i)})
			last++
		}
		puts[last].Messages = append(puts[last].Messages, r.Message)
	}
	return puts
}

// PutReceipts puts receipts and calls Done of each. Where not all of a queue's fit, as many of the first ones as it
// finds room for are put.
func PutReceipts(ctx context.Context, store ReceiptStore, rs []*Receipt) {
	for _, p := range ReceiptPuts(rs) {
		putReceipts(ctx, store, p, rs[:len(p.Messages)])
		rs = rs[len(p.Messages):]
	}
}

func putReceipts(ctx context.Context, store ReceiptStore, p queue.QueuePut, rs []*Receipt) {
	n := len(rs)
	_, err := store.Put(ctx, p.To, p.Messages)
	for err != nil && n > 1 && errors.Is(err, queue.ErrQueueFull) {
		n /= 2
		if _, again := store.Put(ctx, p.To, p.Messages[:n]); again == nil {
			EndReceipts(rs[:n], nil)
			rs = rs[n:]
			break
		}
	}
	EndReceipts(rs, err)
}

// EndReceipts calls Done of each.
func EndReceipts(rs []*Receipt, err error) {
	for _, r := range rs {
		r.Done(err)
	}
}
