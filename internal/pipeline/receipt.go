package pipeline

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/batch"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// A receipt tells what became of one part at one sink. Those of a delivery whose source takes receipts
// (component.Delivery.Receipts) are put by the source in the change that settles it. All others, and those that are too
// many for that, are put ahead: their delivery is settled when they are durable or given up. In neither case does a
// push wait for its receipt.
const (
	// mostRiding bounds the receipts of a delivery that its settlement takes along: a thousand settlements share a
	// change.
	mostRiding = 8
	// mostAhead and mostAheadBytes bound the receipts that wait to be put ahead; those beyond are dropped.
	mostAhead      = 50_000
	mostAheadBytes = 32 << 20
)

// Bounds of the texts of a receipt, in bytes. Reasons and ids are the far end's, devices may be the message's.
const (
	mostReceiptName   = 300
	mostReceiptReason = 300
	mostReceiptID     = 1024
)

// receipts are those of one sink.
type receipts struct {
	p            *Pipeline
	node         *node
	to           queue.Name
	done         func(error)
	put, dropped atomic.Uint64
	untold       obituaries // of those that are dropped
}

// receiptsTo is where a component's receipts go; the zero name: it has none.
func receiptsTo(c any) queue.Name {
	if r, ok := c.(component.Receipted); ok {
		return r.Receipts()
	}
	return queue.Name{}
}

func (p *Pipeline) receiptsOf(n *node) *receipts {
	to := receiptsTo(n.Sink)
	if to == (queue.Name{}) {
		return nil
	}
	r := &receipts{p: p, node: n, to: to}
	r.done = r.ended
	return r
}

// ended counts a receipt, and logs why there is none: at once, or within obituaryEvery.
func (r *receipts) ended(err error) {
	if err == nil {
		r.put.Add(1)
		return
	}
	r.dropped.Add(1)
	r.node.failed(fmt.Errorf("a receipt: %w", err), r.p.options.Clock())
	now := time.Now()
	if tell := r.untold.died(err, now); tell > 0 {
		r.log(tell, err)
		return
	}
	r.untold.later(now, r.log)
}

func (r *receipts) log(count uint64, err error) {
	r.p.options.Logger.Warn("receipts are dropped: the pushes go on without them",
		"step", r.node.Name, "count", count, "queue", r.to.Short(), "reason", cut(reasonText(err), obituaryReason))
}

// write makes the receipt of a part that n is done with, before the part leaves its journey.
func (r *receipts) write(q *part, o *component.Outcome) {
	c := o.Receipt
	if c == nil {
		c = new(component.Receipt)
	}
	c.To, c.Done = r.to, r.done
	c.Message.Body = r.body(q, o, c)
	j := q.j
	if j.delivery.Receipts {
		j.mu.Lock()
		rides := j.riding < mostRiding
		if rides {
			j.riding++
			c.Next, j.receipts = j.receipts, c
		}
		j.mu.Unlock()
		if rides {
			return
		}
	}
	j.left.Add(1)
	if err := r.p.ahead.Post(ahead{j, c}); err != nil {
		r.ended(err)
		j.left.Add(-1) // the part itself is still there
	}
}

// body is a receipt as JSON: the same names in each, null for what is not known. All texts are bounded.
func (r *receipts) body(q *part, o *component.Outcome, c *component.Receipt) []byte {
	b := make([]byte, 0, 640)
	b = append(b, `{"id":"`...)
	b = q.msg.ID.Append(b)
	b = append(b, '"')
	b = appendText(b, "sink", r.node.Name, mostReceiptName)
	b = appendText(b, "queue", shortQueue(q.j.delivery.Queue), mostReceiptName)
	b = appendText(b, "app", c.App, mostReceiptName)
	b = appendText(b, "environment", c.Environment, mostReceiptName)
	b = appendText(b, "device", c.Device, mostReceiptName)
	b = appendText(b, "outcome", outcomeWord(o), mostReceiptName)
	reason := c.Reason
	if reason == "" && o.Verdict != component.Delivered {
		reason = reasonText(o.Reason)
	}
	b = appendText(b, "reason", reason, mostReceiptReason)
	b = appendText(b, "push_id", c.PushID, mostReceiptID)
	tries := q.tries
	if o.Verdict == component.Delivered {
		tries++
	}
	b = append(b, `,"attempts":`...)
	b = strconv.AppendInt(b, int64(tries), 10)
	b = append(b, `,"handed_out":`...)
	b = strconv.AppendInt(b, int64(q.j.delivery.Attempt), 10)
	var at instants
	for h := message.Accepted; h < message.Settled; h++ {
		b = at.append(b, receiptHops[h], q.msg.Hops[h])
	}
	b = at.append(b, "answered_at", r.p.options.Clock().UnixNano())
	return append(b, '}')
}

// receiptHops are the names of the hops in receipts, up to Sent.
var receiptHops = [...]string{
	message.Accepted: "accepted_at", message.Durable: "durable_at", message.Claimed: "claimed_at",
	message.Transformed: "transformed_at", message.Sent: "sent_at",
}

// outcomeWord is what became of a message, in the words of hikyaku_sink_messages_total.
func outcomeWord(o *component.Outcome) string {
	switch {
	case o.Verdict == component.Delivered:
		return "delivered"
	case o.Verdict == component.Rejected:
		return "rejected"
	}
	return droppedWord(o.Reason)
}

func shortQueue(full string) string {
	if n, err := queue.ParseName(full); err == nil {
		return n.Short()
	}
	return full
}

func appendText(b []byte, name, text string, most int) []byte {
	b = appendName(b, name)
	if text == "" {
		return append(b, "null"...)
	}
	b, _ = message.String(cut(text, most)).AppendJSON(b) // a text always has a form
	return b
}

// instants writes instants, with microseconds. Those of one message are mostly within a second, whose text it keeps.
type instants struct {
	second int64
	text   []byte
	room   [24]byte
}

func (t *instants) append(b []byte, name string, at int64) []byte {
	b = appendName(b, name)
	if at <= 0 {
		return append(b, "null"...)
	}
	second, micros := at/1e9, at%1e9/1000
	if t.text == nil || second != t.second {
		t.second, t.text = second, time.Unix(second, 0).UTC().AppendFormat(t.room[:0], "2006-01-02T15:04:05.")
	}
	b = append(b, '"')
	b = append(b, t.text...)
	for unit := int64(100_000); unit > 0; unit /= 10 {
		b = append(b, byte('0'+micros/unit%10))
	}
	return append(b, 'Z', '"')
}

func appendName(b []byte, name string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

// ahead is a receipt that is put before its journey is settled.
type ahead struct {
	journey *journey
	receipt *component.Receipt
}

// openReceipts begins to take receipts that are put ahead, where a sink has any.
func (p *Pipeline) openReceipts() {
	for _, n := range p.graph.nodes {
		if n.receipts != nil {
			p.ahead = batch.New(batch.Config[ahead]{
				Pending: mostAhead, PendingBytes: mostAheadBytes,
				Size:   func(a ahead) int { return a.receipt.Bytes() },
				Handle: p.putAhead,
			})
			return
		}
	}
}

// closeReceipts puts those that wait.
func (p *Pipeline) closeReceipts() error {
	if p.ahead == nil {
		return nil
	}
	return p.ahead.Close()
}

// announceReceipts logs the dropped receipts that no line told of, at the end of a run.
func (p *Pipeline) announceReceipts() {
	for _, n := range p.graph.nodes {
		if r := n.receipts; r != nil {
			r.untold.rest(r.log)
		}
	}
}

func (p *Pipeline) putAhead(ctx context.Context, as []ahead) []error {
	rs := make([]*component.Receipt, len(as))
	for i, a := range as {
		rs[i] = a.receipt
	}
	component.PutReceipts(ctx, p.options.Store, rs)
	for _, a := range as {
		a.journey.drop()
	}
	return nil
}

// checkReceipts refuses receipts that would go round: into a queue whose messages come to their sink.
func (g *graph) checkReceipts() {
	for _, n := range g.nodes {
		to := receiptsTo(n.Sink)
		if to == (queue.Name{}) {
			continue
		}
		for _, s := range g.nodes {
			if !n.sources.has(s.index) {
				continue
			}
			for _, name := range s.Drains {
				if fullName(name) == to.String() {
					g.wrong(n.Name, "", "name another queue in receipts",
						"its receipts would come back to it: source %s takes from %s", s.Name, to.Short())
				}
			}
		}
	}
}
