package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// bury makes a dead letter of the journey's message, as it came. Its part q ends when the dead letter is durable. A
// journey becomes a dead letter of a node once, however many of its messages that node gives up.
func (j *journey) bury(q *part, n *node, o component.Outcome) {
	n.rejected.Add(1)
	o.Verdict = component.Rejected
	n.failed(o.Reason, j.p.options.Clock())
	j.mu.Lock()
	first := true
	for _, b := range j.buried {
		first = first && b != n
	}
	if first {
		j.buried = append(j.buried, n)
	}
	j.mu.Unlock()
	if !first {
		q.end(n, o)
		return
	}
	q.outcome = kept(o)
	n.graveyard.force(&part{j: j, msg: j.deadLetter(n, o.Reason), own: true, size: j.size, fatal: &burial{n, q}})
}

// deadLetter is the journey's message as it came, with its death.
func (j *journey) deadLetter(n *node, reason error) *message.Message {
	m := j.delivery.Message.Clone()
	m.Death = &message.Death{
		Queue:    j.delivery.Queue,
		Step:     j.step(n),
		Reason:   reasonText(reason),
		Attempts: max(1, j.delivery.Attempt),
		Time:     j.p.options.Clock(),
	}
	m.Only, m.NotBefore = "", time.Time{}
	// A second death within the window of the first one's deduplication id would be taken for the first.
	m.Dedup = ""
	// Dead letters are put in the order of deaths: a mark would have those refused that were read earlier. The part
	// keeps apart the dead letters of several steps in one queue, and those of one message that dies again after a
	// replay.
	m.Origin.Mark = 0
	if m.Origin.Source != "" {
		m.Origin.Part = partOf(m.Origin.Part, "dead letter of "+n.Name, 0)
	}
	return m
}

// MaxReason bounds the reason that a dead letter carries, in bytes.
const MaxReason = 4096

func reasonText(err error) string {
	if err == nil {
		return "no reason given"
	}
	return cut(err.Error(), MaxReason)
}

// cut shortens a text to so many bytes.
func cut(text string, most int) string {
	if len(text) > most {
		return message.Shorten(text, most-len("…"))
	}
	return text
}

// graveyard is the sink that keeps the dead letters of one queue.
type graveyard struct {
	store DeadLetters
	queue queue.Name
}

// Send puts dead letters into the queue. It never gives one up: they are tried again until they are durable.
func (g graveyard) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	letters := make([]message.Message, len(batch))
	for i, m := range batch {
		letters[i] = *m
	}
	_, err := g.store.Put(ctx, g.queue, letters)
	switch {
	case err == nil:
		return make([]component.Outcome, len(batch)), nil
	case len(batch) > 1 && (errors.Is(err, queue.ErrTooLarge) || errors.Is(err, queue.ErrMismatch)):
		return nil, component.RejectError(err) // one of them is at fault: by halves
	case len(batch) == 1:
		return []component.Outcome{component.Again(0, err)}, nil
	}
	return nil, err
}

func (graveyard) Close() error { return nil }
