package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// seen is everything that a store shows.
type seen struct {
	queues map[queue.Name]*seenQueue
	names  []queue.Name
	topics map[queue.Name][]queue.Name
	notes  map[string]string
	whole  bool // with bodies

	snapshots []queue.Snapshot
}

type seenQueue struct {
	stats    queue.Stats
	messages []queue.Peeked
	bodies   []string
}

// look asks the store for all it has.
func (w *world) look(whole bool) (*seen, error) {
	ctx := context.Background()
	s := &seen{queues: map[queue.Name]*seenQueue{}, topics: map[queue.Name][]queue.Name{}, notes: map[string]string{},
		whole: whole}
	for _, n := range must(w.s.Queues(ctx)) {
		ps, err := w.s.Peek(ctx, n, queue.PeekRequest{Max: 10000, NoBody: !whole})
		if err != nil {
			return nil, err
		}
		st, err := w.s.Stats(ctx, n)
		if err != nil {
			return nil, err
		}
		q := &seenQueue{stats: st, messages: ps}
		if whole {
			for i := range ps {
				if !errors.Is(ctx.Err(), nil) {
					return nil, ctx.Err()
				}
				q.bodies = append(q.bodies, string(ps[i].Body()))
			}
		}
		if n == probe {
			continue
		}
		s.names = append(s.names, n)
		s.queues[n] = q
	}
	for _, n := range must(w.s.Topics(ctx)) {
		st, err := w.s.TopicStats(ctx, n)
		if err != nil {
			return nil, err
		}
		s.topics[n] = st.Subscriptions
	}
	s.snapshots = must(w.s.Snapshots(ctx))
	for _, n := range must(w.s.Notes(ctx, "soak")) {
		s.notes[n.Key] = string(n.Value)
	}
	return s, nil
}

// probe is a queue for finding out what time the store thinks it is. The reference knows nothing of it.
var probe = queue.Name{Namespace: queue.DefaultNamespace, Name: "probe"}

// compare tells in what the store differs from the reference. It teaches the reference the sequences that the store
// gave.
func (w *world) compare(r *reference, s *seen) error {
	w.resolve(r, s)
	if err := w.compareSnapshots(r, s.snapshots); err != nil {
		return err
	}
	for _, n := range s.names {
		if r.queue(n) == nil {
			if len(s.queues[n].messages) > 0 || !w.isGrave(r, n) {
				return fmt.Errorf("the store has a queue %s with %d messages, the reference has none", n.Short(),
					len(s.queues[n].messages))
			}
			r.create(n, queue.Definition{}, 0) // made for a dead letter that did not come
		}
	}
	for _, q := range slices.Clone(r.queues) {
		sq := s.queues[q.name]
		if sq == nil {
			if len(q.messages) == 0 && q.put == 0 && w.isGrave(r, q.name) {
				r.drop(q.name)
				continue
			}
			return fmt.Errorf("queue %s is gone", q.name.Short())
		}
		if err := learn(q, sq, r.now); err != nil {
			return err
		}
		if err := comparePast(r, q, &sq.stats); err != nil {
			return err
		}
		for i, m := range q.messages {
			if err := sq.same(q, i, m, r.now, s.whole); err != nil {
				return err
			}
		}
		st := sq.stats
		have := [5]uint64{st.TotalPut, st.TotalDone, st.TotalDead, st.TotalExpired, st.TotalPurged}
		want := [5]uint64{q.put, q.done, q.dead, q.expired, q.purged}
		if have != want {
			return fmt.Errorf("queue %s counts put, done, dead, expired, purged as %v, the reference as %v",
				q.name.Short(), have, want)
		}
		if st.Bytes != q.bytes() {
			return fmt.Errorf("queue %s counts %d bytes, the reference %d", q.name.Short(), st.Bytes, q.bytes())
		}
		if st.Messages() != int64(len(q.messages)) {
			return fmt.Errorf("queue %s counts %d messages, the reference %d", q.name.Short(), st.Messages(),
				len(q.messages))
		}
		if d := st.Definition; d.MaxAttempts != q.def.MaxAttempts || d.MaxMessages != q.def.MaxMessages ||
			d.MaxBytes != q.def.MaxBytes ||
			d.Retention != q.def.Retention || d.Delay != q.def.Delay || d.Unordered != q.def.Unordered ||
			d.Lease != q.lease() ||
			d.DedupWindow != q.window() || d.History != q.def.History || d.ExactlyOnce != q.def.ExactlyOnce ||
			(d.Topic == "") != (q.def.Topic == "") || len(d.Columns) != len(q.def.Columns) ||
			d.DeadLetter != graveOf(q).String() {
			return fmt.Errorf("queue %s is defined as %+v, the reference says %+v", q.name.Short(), d, q.def)
		}
	}
	if len(s.topics) != len(r.topics) {
		return fmt.Errorf("there are %d topics, the reference has %d", len(s.topics), len(r.topics))
	}
	for _, t := range r.topics {
		if fmt.Sprint(s.topics[t.name]) != fmt.Sprint(t.subs) {
			return fmt.Errorf("topic %s has subscriptions %v, the reference %v", t.name.Short(), s.topics[t.name],
				t.subs)
		}
	}
	if fmt.Sprint(s.notes) != fmt.Sprint(r.notes) {
		return fmt.Errorf("the notes are %v, those of the reference %v", s.notes, r.notes)
	}
	return nil
}

// isGrave tells whether n is where some queue's dead letters go.
func (w *world) isGrave(r *reference, n queue.Name) bool {
	for _, q := range r.queues {
		if graveOf(q) == n {
			return true
		}
	}
	return strings.HasSuffix(n.Name, "_dead")
}

// resolve finds out which of the doomed messages have gone: while the disk is full they may stay for a while.
func (w *world) resolve(r *reference, s *seen) {
	if !w.hampered() {
		return
	}
	for i := 0; i < len(r.queues); i++ {
		q := r.queues[i]
		sq := s.queues[q.name]
		if sq == nil {
			continue
		}
		type identity struct {
			id  message.ID
			seq uint64
		}
		there := map[identity]bool{}
		for _, p := range sq.messages {
			there[identity{p.Message.ID, p.Sequence}] = true
			there[identity{p.Message.ID, 0}] = true
		}
		for _, m := range append([]*refMessage(nil), q.messages...) {
			if m.doomed == stays || there[identity{m.id, m.seq}] {
				continue
			}
			if m.doomed == late {
				q.remove(m)
				q.expired++
			} else {
				r.bury(q, m).at = 0
			}
		}
	}
}

// learn matches a queue's messages with those of the reference: in their order, but for new ones of one step, whose
// order among each other nothing prescribes when they are dead letters.
func learn(q *refQueue, sq *seenQueue, now int64) error {
	if len(sq.messages) != len(q.messages) {
		return fmt.Errorf("queue %s holds %s, the reference %s", q.name.Short(), listSeen(sq), listRef(q))
	}
	last := uint64(0)
	for i, p := range sq.messages {
		if p.Sequence <= last {
			return fmt.Errorf("queue %s shows message %d behind %d", q.name.Short(), p.Sequence, last)
		}
		last = p.Sequence
		m := q.messages[i]
		if m.seq == 0 {
			for j := i; j < len(q.messages) && !fits(q.messages[i], &p); j++ {
				if fits(q.messages[j], &p) {
					q.messages[i], q.messages[j] = q.messages[j], q.messages[i]
				}
			}
			m = q.messages[i]
		}
		switch {
		case m.id != p.Message.ID || m.seq != 0 && m.seq != p.Sequence:
			return fmt.Errorf("queue %s holds %s, the reference %s", q.name.Short(), listSeen(sq), listRef(q))
		case m.seq == 0 && p.Sequence < q.next:
			return fmt.Errorf("queue %s gave %s the place %d, which had been given before", q.name.Short(), m.id,
				p.Sequence)
		}
		at := p.Message.Hops[message.Accepted] / 1000
		if m.at != 0 && at != m.at || at > now {
			return fmt.Errorf("queue %s took message %d at %v, the reference at %v; now it is %v", q.name.Short(),
				p.Sequence, timeOf(at), timeOf(m.at), timeOf(now))
		}
		m.seq, m.at = p.Sequence, at
		q.next = max(q.next, p.Sequence+1)
	}
	return nil
}

func fits(m *refMessage, p *queue.Peeked) bool {
	died := ""
	if p.Message.Death != nil {
		died = p.Message.Death.Queue
	}
	return m.seq == 0 && m.id == p.Message.ID && m.died == died
}

// same compares one message.
func (sq *seenQueue) same(q *refQueue, i int, m *refMessage, now int64, whole bool) error {
	p := &sq.messages[i]
	bad := func(what string, have, want any) error {
		return fmt.Errorf("queue %s, message %d: %s is %v, the reference says %v", q.name.Short(), m.seq, what, have,
			want)
	}
	until := int64(0)
	state := q.state(m, now)
	switch {
	case m.doomed != stays: // no lease keeps it, which tells it from the claim that it was before it was settled
	case state == queue.Delayed:
		until = m.wake
	case state == queue.Claimed:
		until = m.deadline
	}
	switch {
	case p.State != state:
		return bad("its state", p.State, state)
	case p.Attempts != m.attempts:
		return bad("the number of attempts", p.Attempts, m.attempts)
	case !p.Until.Equal(timeOf(until)):
		return bad("until", p.Until, timeOf(until))
	case p.Message.Key != m.key:
		return bad("the key", p.Message.Key, m.key)
	case (p.Message.Death != nil) != (m.died != ""):
		return bad("the death", p.Message.Death, m.died)
	case m.died != "" && (p.Message.Death.Queue != m.died || p.Message.Death.Attempts != m.tries):
		return bad("the death", *p.Message.Death, fmt.Sprintf("in %s after %d", m.died, m.tries))
	case m.blamed && !strings.Contains(p.Message.Death.Reason, "cannot be read"):
		return bad("the reason", p.Message.Death.Reason, "that the body cannot be read")
	}
	n, _ := p.Message.Attributes.Get("n")
	s, _ := p.Message.Attributes.Get("s")
	if n.AsInt() != m.n || s.AsString() != m.s {
		return bad("the attributes", p.Message.Attributes, []any{m.n, m.s})
	}
	switch {
	case !whole:
	case m.unsound && p.Damage == "":
		return bad("the body", "readable", "that it is damaged")
	case !m.unsound && p.Damage != "":
		return bad("the body", p.Damage, "that it is sound")
	case !m.unsound && sq.bodies[i] != m.body:
		return bad("the body", brief(sq.bodies[i]), brief(m.body))
	}
	return nil
}

func listSeen(sq *seenQueue) string {
	var b strings.Builder
	for _, p := range sq.messages {
		fmt.Fprintf(&b, "%d:%s(%s) ", p.Sequence, short(p.Message.ID.String()), p.State)
	}
	return "[" + b.String() + "]"
}

func listRef(q *refQueue) string {
	var b strings.Builder
	for _, m := range q.messages {
		fmt.Fprintf(&b, "%d:%s ", m.seq, short(m.id.String()))
	}
	return "[" + b.String() + "]"
}

func brief(body string) string {
	if len(body) > 60 {
		return fmt.Sprintf("%q… (%d bytes)", body[:60], len(body))
	}
	return strconv.Quote(body)
}

func short(id string) string { return id[len(id)-4:] }
