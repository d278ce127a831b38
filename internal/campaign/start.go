package campaign

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Order is what is to be started.
type Order struct {
	Queue queue.Name // or topic: where the message goes, of which a fanout makes many
	Body  []byte     // of that message
	Name  string     // for people
	// Key makes a second order with the same one be the first one again, while that is remembered.
	Key   string
	At    time.Time // not before; zero: at once
	Local string    // LocalForm: each user at that time of their own; "": no matter
	// Rows are JSON objects that the fanout takes in place of its source: a test, or a list made elsewhere. nil: the
	// source's. None at all is a mistake, since a list that came out empty must not become a campaign to everybody.
	Rows []json.RawMessage
}

// check finds what is wrong with an order.
func (o *Order) check() error {
	bytes := 0
	for i, row := range o.Rows {
		bytes += len(row) + 1
		if len(row) == 0 || row[0] != '{' || !json.Valid(row) {
			return fmt.Errorf("%w: row %d is no JSON object", ErrOrder, i+1)
		}
	}
	switch {
	case len(o.Body) > MostBody:
		return fmt.Errorf("%w: the body has %d bytes, the most are %d", ErrOrder, len(o.Body), MostBody)
	case len(o.Name) > mostName, len(o.Key) > mostName:
		return fmt.Errorf("%w: a name or key has more than %d bytes", ErrOrder, mostName)
	case o.Rows != nil && len(o.Rows) == 0:
		return fmt.Errorf("%w: there are no rows: leave them out to tell all that the fanout's source has", ErrOrder)
	case len(o.Rows) > MostRows:
		return fmt.Errorf("%w: %d rows, the most are %d", ErrOrder, len(o.Rows), MostRows)
	case bytes > MostRowsBytes:
		return fmt.Errorf("%w: the rows have %d bytes, the most are %d", ErrOrder, bytes, MostRowsBytes)
	}
	if o.Local != "" {
		if _, err := time.Parse(LocalForm, o.Local); err != nil {
			return fmt.Errorf("%w: %.40q is no local time: write it as %s", ErrOrder, o.Local, LocalForm)
		}
	}
	return nil
}

// hash tells an order from others.
func (o *Order) hash() []byte {
	h := sha256.New()
	for _, text := range []string{o.Queue.String(), string(o.Body), o.Name, o.At.UTC().String(), o.Local} {
		fmt.Fprintf(h, "%d %s", len(text), text)
	}
	for _, row := range o.Rows {
		fmt.Fprintf(h, "%d %s", len(row), row)
	}
	return h.Sum(nil)[:16]
}

// rows is a list as the start message has it.
func (o *Order) rows() string {
	return "[" + string(bytes.Join(asBytes(o.Rows), []byte(","))) + "]"
}

func asBytes(rows []json.RawMessage) [][]byte {
	all := make([][]byte, len(rows))
	for i, row := range rows {
		all[i] = row
	}
	return all
}

// Start begins a campaign: it is remembered, and its message put, in one durable change. before: an order with that key
// was carried out before, and this is that campaign. Errors: ErrOrder, ErrOther, ErrTooMany, and those of a put.
func (r *Registry) Start(ctx context.Context, o Order) (v View, before bool, err error) {
	if err := o.check(); err != nil {
		return View{}, false, err
	}
	o.Queue = r.store.Resolve(o.Queue)
	if err := r.known(ctx, o.Queue); err != nil {
		return View{}, false, err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	now := r.clock().UTC()
	c := &campaign{id: newID(now), runs: map[string]run{}, def: definition{
		Name: o.Name, Key: o.Key, Queue: o.Queue.String(), State: Running, Body: []byte(cut(string(o.Body), mostShown)),
		Started: now, Due: o.At, Local: o.Local, Rows: len(o.Rows), Hash: o.hash(),
	}}
	r.mu.Lock()
	if same := r.byKey[c.def.Queue+" "+o.Key]; o.Key != "" && same != nil {
		defer r.mu.Unlock()
		if !bytes.Equal(same.def.Hash, c.def.Hash) {
			return View{}, false, fmt.Errorf("%w: %.100q is that of %s", ErrOther, o.Key, same.id)
		}
		return r.view(same), true, nil
	}
	active := 0
	for _, other := range r.all {
		if other.def.Ended.IsZero() {
			active++
		}
	}
	for r.all[c.id] != nil {
		c.id = newID(now)
	}
	r.mu.Unlock()
	if active >= MostActive {
		return View{}, false, fmt.Errorf("%w: %d have not ended", ErrTooMany, active)
	}
	change := queue.Change{
		Puts:  []queue.QueuePut{{To: o.Queue, Messages: []message.Message{c.message(&o)}}},
		Notes: []queue.Note{noteOf(c.id, c.def)},
	}
	// It is known before its message is there, which a fanout may have in hand before Commit returns; and a caller who
	// goes away leaves no message behind whose campaign nobody knows.
	r.keep(c)
	if _, _, err := r.store.Commit(context.WithoutCancel(ctx), change); err != nil {
		r.drop(c)
		return View{}, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view(c), false, nil
}

// keep adds a campaign to those that are known.
func (r *Registry) keep(c *campaign) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[c.id] = c
	if c.def.Key != "" {
		r.byKey[c.def.Queue+" "+c.def.Key] = c
	}
	r.publish()
}

// drop takes back what keep did.
func (r *Registry) drop(c *campaign) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, c.id)
	if c.def.Key != "" {
		delete(r.byKey, c.def.Queue+" "+c.def.Key)
	}
	r.publish()
}

// message is what the campaign is made of.
func (c *campaign) message(o *Order) message.Message {
	m := message.Message{ID: message.NewID(), Body: o.Body, NotBefore: o.At, Time: c.def.Started}
	m.Hops.Mark(message.Accepted, c.def.Started)
	m.Attributes.Set(Attribute, message.String(c.id))
	if o.Local != "" {
		m.Attributes.Set(Local, message.String(o.Local))
	}
	if len(o.Rows) > 0 {
		m.Attributes.Set(Rows, message.String(o.rows()))
	}
	return m
}

// known refuses a queue that is not there: with queues made on demand, a campaign would lie in a misspelt one for good.
func (r *Registry) known(ctx context.Context, n queue.Name) error {
	if there, err := r.store.HasTopic(ctx, n); there || err != nil {
		return err
	}
	_, err := r.store.Stats(ctx, n)
	return err
}
