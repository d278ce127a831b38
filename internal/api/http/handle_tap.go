package http

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	usualTapBody = 4 << 10
	// MaxTapBody is how much of a body a tap may be told.
	MaxTapBody = 32 << 10
	// maxTapped bounds how many messages are remembered for the ends of those that met a condition.
	maxTapped = 10_000
)

// tapping is a tap under way.
type tapping struct {
	c       *call
	what    Tapping
	queue   queue.Name      // zero: a component is tapped
	columns message.Columns // of the queue
	where   *condition.Expr
	matcher *codec.Matcher // nil: all events are told
	body    int
	most    uint64 // events; 0: until somebody stops
	told    uint64

	met   map[message.ID]bool // those that met the condition
	order []message.ID        // the same, as they came, in a ring
	next  int
}

// tap tells what happens in a queue or at a component, a line an event, until the client goes away.
func tap(c *call) error {
	if err := c.only("of", "where", "max", "max_body"); err != nil {
		return err
	}
	t := &tapping{c: c}
	if err := t.find(c.r.URL.Query().Get("of")); err != nil {
		return err
	}
	if err := t.settings(); err != nil {
		return err
	}
	if err := c.hold.Take(c.ctx(), journey.TapBytes); err != nil {
		return c.noBody(err)
	}
	at := journey.Place{Namespace: t.queue.Namespace, Name: t.queue.Name}
	if t.what.Step != "" {
		at = journey.Place{Name: t.what.Step}
	}
	if c.d.taps == nil {
		return noTap.problem("this server lets nobody tap it")
	}
	events, err := c.d.taps.Open(at)
	if err != nil {
		return tooManyTaps.problemf("%d taps are open", journey.MaxTaps)
	}
	defer events.Close()
	c.w.Header().Set("Content-Type", "application/x-ndjson")
	c.w.Header().Set("Cache-Control", "no-store")
	if err := t.write(TapLine{Tapping: &t.what}); err != nil {
		return err
	}
	return t.follow(events)
}

// find finds out what is tapped, and whether the user may. A name without a namespace is that of a component, else of a
// queue or topic.
func (t *tapping) find(name string) error {
	c := t.c
	if name == "" {
		return badRequest.problem("of is missing").withHint("of=NAME of a queue, topic or component")
	}
	if c.d.components != nil && !strings.Contains(name, "/") {
		for _, n := range c.d.components() {
			if n.Name == name {
				t.what.Step = name
				return t.allowed()
			}
		}
	}
	n, err := c.resolve(relative(queue.DefaultNamespace, name))
	if err != nil {
		return err
	}
	t.queue, t.what.Queue = n, n.String()
	if err := t.allowed(); err != nil {
		return err
	}
	s, err := c.d.store.Stats(c.ctx(), n)
	if errors.Is(err, queue.ErrNotFound) {
		if _, err := c.d.store.TopicStats(c.ctx(), n); err == nil {
			return nil
		}
		return noTap.problemf("there is no queue, topic or component %s", n.Short())
	}
	t.columns = s.Definition.Columns
	return err
}

// allowed refuses users who may not look into what is tapped.
func (t *tapping) allowed() error {
	if t.what.Step == "" {
		return t.c.may(access.Take, t.queue)
	}
	err := t.c.overAll("tap components")
	var p *Problem
	if errors.As(err, &p) {
		return p.withHint(p.Hint + "; the queue of that name is " + queue.DefaultNamespace + "/" + t.what.Step)
	}
	return err
}

func (t *tapping) settings() (err error) {
	c := t.c
	if t.most, err = c.number("max", 1<<40); err != nil {
		return err
	}
	body, err := c.number("max_body", MaxTapBody)
	if err != nil {
		return err
	}
	t.body = or(int(body), usualTapBody)
	where := c.r.URL.Query().Get("where")
	switch {
	case where == "":
		return nil
	case t.what.Step == "":
		t.where, err = c.d.store.Parse(c.ctx(), t.queue, where)
	default:
		if t.where, err = condition.Parse(where); err != nil {
			err = fmt.Errorf("%w: %w", queue.ErrCondition, err)
		}
	}
	if err == nil {
		t.matcher, t.met = codec.NewMatcher(t.where), map[message.ID]bool{}
	}
	return err
}

func (t *tapping) follow(events *journey.Tap) error {
	ctx, cancel := t.c.d.untilStop(t.c.ctx())
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			if t.c.ctx().Err() != nil {
				return nil // the client is gone
			}
			return t.write(TapLine{Stopped: "the server is stopping"})
		case <-events.Wake():
		}
		if err := t.allowed(); err != nil {
			return t.write(TapLine{Stopped: err.Error()})
		}
		some, dropped := events.Take()
		for i := range some {
			if e := &some[i]; t.meets(e) {
				if err := t.tell(e); err != nil || t.over() {
					return err
				}
			}
		}
		if dropped > 0 {
			if err := t.put(TapLine{Dropped: dropped}); err != nil {
				return err
			}
		}
		if err := t.c.w.flush(); err != nil {
			return err
		}
	}
}

func (t *tapping) over() bool { return t.most > 0 && t.told >= t.most }

func (t *tapping) tell(e *journey.Tapped) error {
	t.told++
	return t.put(TapLine{Tapped: t.c.tapped(e, t.body)})
}

// meets tells whether an event is of a message that meets the condition. One that is told of by its id alone does if
// the message did before.
func (t *tapping) meets(e *journey.Tapped) bool {
	if m := e.Message; m != nil && m.Row != nil && t.columns != nil {
		m.Body = t.columns.AppendJSON(nil, m.Row)
		e.Size = len(m.Body)
	}
	if t.matcher == nil {
		return true
	}
	if e.Message == nil {
		return t.met[e.ID]
	}
	m := *e.Message
	m.ID = e.ID
	if !t.matcher.Subject(&m).Match(0) {
		return false
	}
	t.remember(e.ID)
	return true
}

func (t *tapping) remember(id message.ID) {
	if t.met[id] {
		return
	}
	t.met[id] = true
	if len(t.order) < maxTapped {
		t.order = append(t.order, id)
		return
	}
	delete(t.met, t.order[t.next])
	t.order[t.next] = id
	t.next = (t.next + 1) % maxTapped
}

func (t *tapping) put(l TapLine) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = t.c.w.Write(append(data, '\n'))
	return err
}

// write is put of what the client shall see at once.
func (t *tapping) write(l TapLine) error {
	if err := t.put(l); err != nil {
		return err
	}
	return t.c.w.flush()
}
