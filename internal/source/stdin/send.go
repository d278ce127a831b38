package stdin

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

// sender makes slabs of lines and sends them.
type sender struct {
	source  *Source
	courier *lines.Courier
	out     component.Out

	ready []readied // of the slab that is to be sent
	bytes int
	ids   [component.SlabMessages]message.ID
}

// readied is a line whose message is to be made.
type readied struct {
	text   []byte
	origin message.Origin
}

// add takes a line, whose text has to stay as it is until send.
func (t *sender) add(l lines.Line) {
	s := t.source
	if len(l.Text) == 0 && s.skipEmpty {
		if s.mark != nil {
			s.mark.Skip(l.End)
		}
		return
	}
	r := readied{text: l.Text}
	if s.mark != nil {
		low := s.mark.Begin(l.Offset, l.End)
		r.origin = message.Origin{Source: s.identity, Offset: uint64(l.Offset), Mark: uint64(low)}
	}
	t.ready = append(t.ready, r)
	t.bytes += len(l.Text)
}

// full tells whether what was added has to be sent before more is.
func (t *sender) full() bool {
	return len(t.ready) >= component.SlabMessages || t.bytes >= component.SlabBytes
}

// send sends what was added, if anything was. The bodies are copied together once.
func (t *sender) send(ctx context.Context) error {
	n := len(t.ready)
	if n == 0 {
		return nil
	}
	now := time.Now()
	text, messages, ids := make([]byte, 0, t.bytes), make([]message.Message, n), t.ids[:n]
	message.NewIDs(ids)
	for i, r := range t.ready {
		start := len(text)
		text = append(text, r.text...)
		m := &messages[i]
		m.ID, m.Body, m.Time, m.Origin = ids[i], text[start:len(text):len(text)], now, r.origin
		m.Hops.Mark(message.Accepted, now)
	}
	clear(t.ready)
	t.ready, t.bytes = t.ready[:0], 0
	_, err := component.SendSlab(ctx, t.out, component.Slab{Messages: messages, Settle: t.settle})
	return err
}

// settle takes what became of a message: one that was not delivered is sent again.
func (t *sender) settle(_ int, m *message.Message, o component.Outcome) {
	if t.delivered(m, o) {
		return
	}
	t.courier.Back(func(ctx context.Context, settle func(bool)) error {
		return t.out.Send(ctx, component.Delivery{Message: m,
			Settle: func(o component.Outcome) { settle(t.delivered(m, o)) }})
	})
}

func (t *sender) delivered(m *message.Message, o component.Outcome) bool {
	done := o.Verdict == component.Delivered
	if done && t.source.mark != nil {
		t.source.mark.Settle(int64(m.Origin.Offset))
	}
	return done
}
