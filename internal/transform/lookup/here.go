package lookup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// staticSource has its answers in the settings.
type staticSource struct{ values map[string]*found }

func newStatic(c *Config) (source, error) {
	if len(c.Source.Values) == 0 {
		return nil, component.Setting("source.values", errors.New("is missing: what is there to be found, by key?"))
	}
	if c.Key == "" {
		return nil, component.Setting("key", errors.New("is missing: which attribute or field says what to look for?"))
	}
	s := &staticSource{map[string]*found{}}
	for name, value := range c.Source.Values {
		text, err := json.Marshal(value)
		if err == nil {
			s.values[name], err = c.ofJSON(text)
		}
		if err != nil {
			return nil, component.Setting("source.values."+name, err)
		}
	}
	return s, nil
}

func (*staticSource) names() []string             { return []string{nameKey} }
func (*staticSource) most() (most, usual int)     { return 10_000, DefaultBatch }
func (*staticSource) start(context.Context) error { return nil }
func (*staticSource) close() error                { return nil }

func (s *staticSource) ask(_ context.Context, keys []string, tell func(string, *found, error)) error {
	for _, key := range keys {
		if f := s.values[decodeKey(key)[0].Text()]; f != nil {
			tell(key, f, nil)
		}
	}
	return nil
}

// queueSource finds messages that lie in a queue.
type queueSource struct {
	config *Config
	name   queue.Name
	store  queue.Service
	fields *matchField
}

// matchField is the name in a condition of what keys are compared with.
type matchField struct{ name string }

func newQueue(c *Config, env component.Env) (source, error) {
	if c.Source.Queue == "" {
		return nil, component.Setting("source.queue", errors.New("is missing: in which queue is it to be found?"))
	}
	name, err := queue.ParseName(c.Source.Queue)
	if err != nil {
		return nil, component.Setting("source.queue", err)
	}
	if c.Source.Match == "" {
		return nil, component.Setting("source.match",
			errors.New("is missing: which column or attribute of its messages is the key?"))
	}
	if e, err := condition.Parse(c.Source.Match + " = 1"); err != nil || len(e.Names()) != 1 ||
		!strings.EqualFold(strings.Trim(c.Source.Match, "`"), e.Names()[0]) {
		return nil, component.Setting("source.match", fmt.Errorf("%q is not the name of a column or attribute",
			c.Source.Match))
	}
	if c.Key == "" {
		return nil, component.Setting("key", errors.New("is missing: which attribute or field says what to look for?"))
	}
	return &queueSource{config: c, name: name, store: env.Store, fields: &matchField{c.Source.Match}}, nil
}

func (*queueSource) names() []string         { return []string{nameKey} }
func (*queueSource) most() (most, usual int) { return 1000, defaultQueueBatch }
func (*queueSource) close() error            { return nil }

func (s *queueSource) start(context.Context) error {
	if s.store == nil {
		return errors.New("there is no store whose queue could be looked into")
	}
	return nil
}

// where is the condition that keys meet.
func (f *matchField) where(keys []string) string {
	var b strings.Builder
	b.WriteString(f.name + " in (")
	for i, key := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(literal(decodeKey(key)[0]))
	}
	return b.String() + ")"
}

// literal writes a value in the language of conditions.
func literal(v message.Value) string {
	switch v.Kind() {
	case message.KindBool:
		if v.AsBool() {
			return "true"
		}
		return "false"
	case message.KindInt, message.KindUint, message.KindFloat, message.KindDecimal:
		return v.Text()
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(v.Text()) + "'"
}

func (s *queueSource) ask(ctx context.Context, keys []string, tell func(string, *found, error)) error {
	where, err := s.store.Parse(ctx, s.name, s.fields.where(keys))
	if err != nil {
		return fmt.Errorf("queue %s: %w", s.name.Short(), err)
	}
	_, byText := parameters(s.names(), keys, true)
	lying := map[string][]json.RawMessage{}
	for after := uint64(0); ; {
		ms, err := s.store.Peek(ctx, s.name, queue.PeekRequest{Where: where, After: after, Max: 1000})
		if err != nil {
			return s.failed(err)
		}
		for i := range ms {
			if ms[i].Damage != "" {
				return fmt.Errorf("queue %s: message %d: %s", s.name.Short(), ms[i].Sequence, ms[i].Damage)
			}
			key, ok := byText[s.keyOf(&ms[i])]
			if !ok {
				continue // it matches in a way that its text does not show, such as 1 and 1.0
			}
			lying[key] = append(lying[key], ms[i].Body())
		}
		if len(ms) < 1000 {
			break
		}
		after = ms[len(ms)-1].Sequence
	}
	for key, bodies := range lying {
		f, err := s.of(bodies)
		tell(key, f, err)
	}
	return nil
}

// of makes what was found of messages' bodies: all of them, or the newest.
func (s *queueSource) of(bodies []json.RawMessage) (*found, error) {
	for _, b := range bodies {
		if !json.Valid(b) {
			return nil, fmt.Errorf("a message in %s is not JSON", s.name.Short())
		}
	}
	if !s.config.Many {
		return s.config.ofJSON(bodies[len(bodies)-1])
	}
	list, err := json.Marshal(bodies)
	if err != nil {
		return nil, err
	}
	return s.config.ofJSON(list)
}

// keyOf is the text of what a message is found by.
func (s *queueSource) keyOf(p *queue.Peeked) string {
	name := strings.Trim(s.fields.name, "`")
	for i := range p.Columns {
		if strings.EqualFold(p.Columns[i].Name, name) && i < len(p.Message.Row) {
			return p.Message.Row[i].Text()
		}
	}
	if v, ok := p.Message.Attributes.Get(name); ok {
		return v.Text()
	}
	switch name {
	case "id":
		return p.Message.ID.String()
	case "key":
		return p.Message.Key
	}
	return ""
}

// failed says whether it is worth another try: a queue that is not there yet may come.
func (s *queueSource) failed(err error) error {
	err = fmt.Errorf("queue %s: %w", s.name.Short(), err)
	if errors.Is(err, queue.ErrCondition) {
		return err
	}
	return component.RetryError(0, err)
}
