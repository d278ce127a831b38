package queue

import "github.com/tidwall/btree"

// definedAs is a queue as it was defined at one moment.
type definedAs struct {
	name    Name
	def     Definition
	version uint64
}

// grave is a name to which dead letters go, with the queues from which they go there: any number of them.
type grave struct {
	name    string
	from    btree.Map[uint32, *queueState]
	becomes string // the queue of that name has another one by now, and from are those that have not followed yet
}

// burying notes where the dead letters of q go by now; "": nowhere, it is no more.
func (s *state) burying(q *queueState, to string) {
	g := q.buries
	if g != nil {
		if g.name == to {
			return
		}
		if g.from.Delete(q.id); g.from.Len() == 0 && s.graves[g.name] == g {
			delete(s.graves, g.name)
		}
		q.buries = nil
	}
	if to == "" {
		return
	}
	if g = s.graves[to]; g == nil {
		g = &grave{name: to}
		s.graves[to] = g
	}
	g.from.Set(q.id, q)
	q.buries = g
}

// renameGrave lets the queues whose dead letters go to a queue that is renamed send them there by its new name.
func (s *state) renameGrave(name, becomes string) {
	g := s.graves[name]
	if g == nil {
		return
	}
	delete(s.graves, name) // who names it from now on means another queue
	g.becomes = becomes
	s.postpone(func() (more bool) {
		for range atOnce {
			_, q, some := g.from.Min()
			if !some {
				return false
			}
			s.follow(q)
		}
		return g.from.Len() > 0
	})
}

// follow lets q know the name that the queue of its dead letters has by now. It has to be called before the definition
// or the name of q changes.
func (s *state) follow(q *queueState) {
	g := q.buries
	if g == nil || g.becomes == "" {
		return
	}
	q.touch()
	grown := int64(len(g.becomes) - len(q.def.DeadLetter))
	q.def.DeadLetter = g.becomes
	s.renewed(q, grown)
}
