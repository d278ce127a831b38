package queue

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// CreateQueue makes a queue. When it is there with the same definition, created is false; with another one the error is
// a *DifferentError. With Definition.Topic the queue subscribes to that topic, which has to be there. Definitions count
// in Limits.Memory: what there is no room for is refused, ErrQueueFull.
func (s *Store) CreateQueue(ctx context.Context, n Name, d Definition) (created bool, err error) {
	return s.createQueue(ctx, n, d, terms{})
}

// terms are what is special about a definition.
type terms struct {
	needed bool     // it is made even if there is no memory for it
	notes  []Note   // are kept with it
	is     []NoteIs // have to be so, else it is not made
}

func (s *Store) createQueue(ctx context.Context, n Name, d Definition, t terms) (created bool, err error) {
	n = s.Resolve(n)
	if err := n.Check(); err != nil {
		return false, err
	}
	d = s.normal(n, d)
	if err := d.Check(n); err != nil {
		return false, err
	}
	over := func() {}
	err = s.defineNoted(ctx, t, func() (event, error) {
		if q := s.state.queueNames[n]; q != nil {
			if ds := differences(q.def, d); ds != nil {
				return nil, &DifferentError{Name: n, Have: q.def, Wanted: d, Differences: ds}
			}
			return nil, nil
		}
		if s.elsewhere(n, AQueue) != nil {
			return nil, fmt.Errorf("%w: queue %s", ErrElsewhere, n.Short())
		}
		if err := s.mayDefineMore(); err != nil {
			return nil, err
		}
		coming := []*int{&s.state.coming}
		if d.Topic != "" {
			t := s.state.topicOf(d.Topic)
			if t == nil {
				return nil, fmt.Errorf("%w: topic %s, to which queue %s subscribes", ErrNotFound, d.Topic, n.Short())
			}
			if err := s.mayHaveMore(t); err != nil {
				return nil, err
			}
			coming = append(coming, &t.coming)
		}
		if over, err = s.reserve(d.resident(n), t.needed, coming...); err != nil {
			return nil, err
		}
		created = true
		s.state.nextID++
		return &queueDefined{queue: s.state.nextID - 1, name: n, def: d}, nil
	}, n, d.Topic, func() { over() })
	return created && err == nil, err
}

// mayDefineMore refuses one more queue or topic when there are as many as there may be, with those on their way.
func (s *Store) mayDefineMore() error {
	if len(s.state.queues)+len(s.state.topics)+s.state.coming >= s.limits.Queues {
		return fmt.Errorf("%w: the limit of %d queues and topics is reached", ErrDefinition, s.limits.Queues)
	}
	if s.state.nextID >= s.numbers {
		return fmt.Errorf("%w: all %d numbers of queues and topics were given", ErrDefinition, s.numbers)
	}
	return nil
}

// Definer makes queues and topics on terms of its own: those that Configured and Noted tell.
type Definer interface {
	CreateQueue(ctx context.Context, n Name, d Definition) (created bool, err error)
	AlterQueue(ctx context.Context, n Name, d Definition) error
	CreateTopic(ctx context.Context, n Name, labels map[string]string) (created bool, err error)
}

// Noted makes definitions, each with notes as one atomic group: after an error or a crash there are both or neither.
// Notes are as SetNotes takes them. They are kept, too, where the definition is there already.
type Noted interface {
	Definer
	// If makes them only while notes are so: else nothing happens, ErrChanged.
	If(is ...NoteIs) Definer
}

// definer is a Definer and a Noted of a Store.
type definer struct {
	store *Store
	terms terms
}

// Configured makes what the operator's own configuration defines. It counts in Limits.Memory and is never refused for
// it: else a store that is full could not be started with a configuration that has grown, and nobody could empty it. It
// is not for what clients ask for.
func (s *Store) Configured() Definer { return definer{s, terms{needed: true}} }

// Noted makes definitions that have notes.
func (s *Store) Noted(notes ...Note) Noted { return definer{s, terms{notes: notes}} }

// If lets them be made only while notes are so.
func (d definer) If(is ...NoteIs) Definer {
	d.terms.is = is
	return d
}

// CreateQueue is Store.CreateQueue.
func (d definer) CreateQueue(ctx context.Context, n Name, def Definition) (created bool, err error) {
	return d.store.createQueue(ctx, n, def, d.terms)
}

// AlterQueue is Store.AlterQueue.
func (d definer) AlterQueue(ctx context.Context, n Name, def Definition) error {
	return d.store.alter(ctx, n, alteration{d: def, terms: d.terms})
}

// CreateTopic is Store.CreateTopic.
func (d definer) CreateTopic(ctx context.Context, n Name, labels map[string]string) (created bool, err error) {
	return d.store.createTopic(ctx, n, labels, d.terms)
}

// normal applies defaults and namespace aliases.
func (s *Store) normal(n Name, d Definition) Definition {
	d = d.normal(n)
	if dead, err := ParseName(d.DeadLetter); err == nil {
		d.DeadLetter = s.Resolve(dead).String()
	}
	if d.Topic != "" {
		if t, err := ParseName(d.Topic); err == nil {
			d.Topic = s.Resolve(t).String()
		}
	}
	if d.Filter != "" {
		if e, err := condition.Parse(d.Filter); err == nil {
			d.Filter = e.String()
		}
	}
	d.Labels = maps.Clone(d.Labels)
	if d.Columns = slices.Clone(d.Columns); len(d.Columns) == 0 {
		d.Columns = nil
	}
	return d
}

// define journals what plan returns, under the name n, and waits for it. plan runs under the lock; nil means that there
// is nothing to do. Two definitions of one name never overtake each other; topic, if it is one, is a name to wait for
// as well. over is called, under the lock, when what plan returned is applied, or was not kept.
func (s *Store) define(ctx context.Context, plan func() (event, error), n Name, topic string, over ...func()) error {
	return s.defineNoted(ctx, terms{}, plan, n, topic, over...)
}

// defineNoted is define with notes that are kept in the same group, and that have to be so.
func (s *Store) defineNoted(ctx context.Context, t terms, plan func() (event, error), n Name, topic string,
	over ...func()) error {
	behind := []Name{n}
	if second, err := ParseName(topic); err == nil {
		behind = append(behind, second)
	}
	return s.defineNames(ctx, t, plan, behind[:1], behind, over...)
}

// defineNames is defineNoted for what concerns several names, behind all definitions of some names.
func (s *Store) defineNames(ctx context.Context, t terms, plan func() (event, error), names, behind []Name,
	over ...func()) error {
	if err := checkNotes(t.notes); err != nil {
		return err
	}
	for {
		if err := s.enter(ctx); err != nil {
			return err
		}
		var f *flight
		for _, n := range behind {
			if f == nil {
				f = s.defining[n]
			}
		}
		var d *draft
		var err error
		if f != nil {
			d = &f.draft
		} else {
			d, err = s.state.asExpected(t.is)
		}
		if d != nil {
			s.leave()
			if err := await(ctx, d); err != nil {
				return err
			}
			continue
		}
		var e event
		if err == nil {
			e, err = plan()
		}
		if err != nil || e == nil && len(t.notes) == 0 {
			s.leave()
			return err
		}
		f = newFlight()
		if e != nil {
			f.add(e)
		}
		end := func() {
			s.endDefining(f)
			for _, o := range over {
				o()
			}
		}
		f.undo, f.after = end, end
		s.beginDefining(f, names...)
		err = s.addNotes(f, t.notes)
		if err == nil {
			err = s.submit(f)
		}
		if err != nil {
			f.giveUp()
			s.leave()
			return err
		}
		s.mu.Unlock()
		return f.wait(ctx)
	}
}

// beginDefining lets puts and definitions that concern any of some names wait for a flight, until endDefining is
// called. The lock is held.
func (s *Store) beginDefining(f *flight, names ...Name) {
	f.defines = &defines{names: names}
	for _, n := range names {
		s.defining[n] = f
		q := s.state.queueNames[n]
		if q == nil {
			continue
		}
		if t := s.state.topicOf(q.def.Topic); t != nil {
			f.defines.topics = append(f.defines.topics, t)
			if s.redefining[t] == nil {
				s.redefining[t] = map[*flight]struct{}{}
			}
			s.redefining[t][f] = struct{}{}
		}
	}
}

// endDefining ends that.
func (s *Store) endDefining(f *flight) {
	if f.defines == nil {
		return
	}
	for _, n := range f.defines.names {
		delete(s.defining, n)
	}
	for _, t := range f.defines.topics {
		if delete(s.redefining[t], f); len(s.redefining[t]) == 0 {
			delete(s.redefining, t)
		}
	}
	f.defines = nil
}

// DeleteQueue removes a queue with everything in it. Readers that wait on it are told ErrNotFound. A long queue is
// purged first: after an error or a crash it may be there with fewer messages.
func (s *Store) DeleteQueue(ctx context.Context, n Name) error {
	n = s.Resolve(n)
	if err := s.clear(ctx, n); err != nil {
		return err
	}
	return s.define(ctx, func() (event, error) {
		q := s.state.queueNames[n]
		if q == nil {
			return nil, fmt.Errorf("%w: %s", ErrNotFound, n.Short())
		}
		return &queueGone{q.id}, nil
	}, n, "")
}

// CreateTopic makes a topic. It changes the labels of one that is there. Topics count in Limits.Memory as queues do.
func (s *Store) CreateTopic(ctx context.Context, n Name, labels map[string]string) (created bool, err error) {
	return s.createTopic(ctx, n, labels, terms{})
}

func (s *Store) createTopic(ctx context.Context, n Name, labels map[string]string, with terms) (created bool,
	err error) {
	n = s.Resolve(n)
	if err := n.Check(); err != nil {
		return false, err
	}
	over := func() {}
	err = s.defineNoted(ctx, with, func() (event, error) {
		t := s.state.topicNames[n]
		if t != nil && maps.Equal(t.labels, labels) {
			return nil, nil
		}
		if t != nil {
			if over, err = s.reserve(topicWeight(n, labels)-t.weight, with.needed); err != nil {
				return nil, err
			}
			return &topicDefined{t.id, n, maps.Clone(labels)}, nil
		}
		if err := s.mayDefineMore(); err != nil {
			return nil, err
		}
		if over, err = s.reserve(topicWeight(n, labels), with.needed, &s.state.coming); err != nil {
			return nil, err
		}
		created = true
		s.state.nextID++
		return &topicDefined{s.state.nextID - 1, n, maps.Clone(labels)}, nil
	}, n, "", func() { over() })
	return created && err == nil, err
}

// DeleteTopic removes a topic. Its subscriptions stay, as queues that nothing new reaches.
func (s *Store) DeleteTopic(ctx context.Context, n Name) error {
	n = s.Resolve(n)
	return s.define(ctx, func() (event, error) {
		t := s.state.topicNames[n]
		if t == nil {
			return nil, fmt.Errorf("%w: topic %s", ErrNotFound, n.Short())
		}
		return &topicGone{t.id}, nil
	}, n, "")
}

// reserve takes memory for a definition on its way to the journal, or refuses it, ErrQueueFull, when there is no room.
// What takes no more than before always passes, and so does what is needed. Each of some numbers is one more as long as
// it is on its way. The lock is held, also when the caller calls over.
func (s *Store) reserve(grown int64, needed bool, coming ...*int) (over func(), err error) {
	grown = max(grown, 0)
	p := plan{s: s.state}
	if grown > 0 && !needed && !p.remembers(grown) {
		s.state.forgetDue(forgetAtOnce)
		if err := p.fitsMemory(grown); err != nil {
			return nil, err
		}
	}
	s.state.reservedResident += grown
	for _, n := range coming {
		*n++
	}
	return func() {
		s.state.reservedResident -= grown
		for _, n := range coming {
			*n--
		}
		grown, coming = 0, nil
	}, nil
}
