package collapse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Queues is what a Backlog asks; a queue.Service is one.
type Queues interface {
	First(ctx context.Context, from queue.From) (queue.Peeked, bool, error)
}

// Backlog is a queue in which newer messages may wait, whose attributes say the same of their device and collapse id.
// nil: there is none.
type Backlog struct {
	store      Queues
	queue      queue.Name
	attributes []string
	others     []string // by which messages may name the device, in place of the first of attributes
}

// NewBacklog makes one. The attributes are those that have to be the same: both messages have them as the same text, or
// both have not.
func NewBacklog(store Queues, q queue.Name, attributes ...string) *Backlog {
	return &Backlog{store: store, queue: q, attributes: attributes}
}

// Or says that messages may name their device by another of the attributes, in place of the first one: Start makes the
// index for that, too.
func (b *Backlog) Or(attribute string) {
	if b != nil {
		b.others = append(b.others, attribute)
	}
}

// Start looks into the queue as Newer will, so that the indexes are there before the first message is. A queue that is
// not there yet is no error.
func (b *Backlog) Start(ctx context.Context) error {
	if b == nil {
		return nil
	}
	for _, device := range append([]string{b.attributes[0]}, b.others...) {
		var m message.Message
		for _, name := range []string{device, b.attributes[1]} { // the usual messages have those
			m.Attributes.Set(name, message.String("-"))
		}
		if _, err := b.first(ctx, &m); err != nil && !errors.Is(err, queue.ErrNotFound) {
			return fmt.Errorf("look for newer messages in the backlog: %w", err)
		}
	}
	return nil
}

// Newer tells whether a message newer than this one waits in the queue, ready to be claimed, for the same device and
// with the same collapse id. It looks at the oldest that waits: of a device's messages in their order that is enough.
// What a queue cannot be asked is no. The error says that the store could not be asked now, or not until then.
func (b *Backlog) Newer(m *message.Message, until time.Time) (bool, error) {
	if b == nil || m.Time.IsZero() {
		return false, nil
	}
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	waiting, err := b.first(ctx, m)
	if errors.Is(err, queue.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		return false, fmt.Errorf("look for newer messages in the backlog: %w", err)
	}
	if err != nil || waiting == nil || !waiting.Time.After(m.Time) {
		return false, nil
	}
	for _, name := range b.attributes {
		v, there := m.Attributes.Get(name)
		w, too := waiting.Attributes.Get(name)
		if there != too || there && v.Text() != w.Text() {
			return false, nil
		}
	}
	return true, nil
}

// first is the oldest message that waits with m's attributes; nil: there is none.
func (b *Backlog) first(ctx context.Context, m *message.Message) (*message.Message, error) {
	var text strings.Builder
	for _, name := range b.attributes {
		if v, there := m.Attributes.Get(name); there && v.Kind() == message.KindString {
			if text.Len() > 0 {
				text.WriteString(" and ")
			}
			text.WriteString("`" + name + "` = '")
			text.WriteString(quotes.Replace(v.Text()))
			text.WriteString("'")
		}
	}
	if text.Len() == 0 {
		return nil, nil
	}
	where, err := condition.Parse(text.String())
	if err != nil {
		return nil, err
	}
	p, ok, err := b.store.First(ctx, queue.From{Queue: b.queue, Where: where})
	if err != nil || !ok {
		return nil, err
	}
	return &p.Message, nil
}

// quotes writes text between the single quotes of conditions.
var quotes = strings.NewReplacer(`\`, `\\`, `'`, `''`)
