package wns

import (
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/receipt"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Receipts is the queue of receipts.
func (s *Sink) Receipts() queue.Name { return s.receipts }

// tellReceipt lets the outcome say what only the sink knows of the message.
func (d *delivery) tellReceipt() {
	r, done := new(component.Receipt), d.done
	d.named = func(name string) { r.PushID = name }
	d.done = func(o component.Outcome) {
		if d.app != nil {
			r.App = d.app.name
		}
		r.Device = receipt.Device(d.wish.channel)
		r.Reason = receipt.Reason(o)
		o.Receipt = r
		done(o)
	}
}
