package queue

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Inventory is what stores have, for comparing: of each thing what stands for it, whatever journal it is in.
type Inventory struct {
	Queues map[Name]QueueSum
	Topics map[Name][sha256.Size]byte
	Notes  map[[2]string][sha256.Size]byte // by room and key
	Now    int64                           // journaled time: ids that are remembered no longer are not in it
}

// QueueSum stands for a queue with its definition, its totals, what it remembers of ids and sources, its snapshots, and
// all of its messages with their bodies and with how they are.
type QueueSum struct {
	Messages, Past, Claimed, Snapshots int
	Digest                             [sha256.Size]byte
}

// NewInventory makes one for what several journals tell, which is added to it. It is of the journaled time of the
// latest one.
func NewInventory(of ...*Folded) *Inventory {
	v := &Inventory{Queues: map[Name]QueueSum{}, Topics: map[Name][sha256.Size]byte{},
		Notes: map[[2]string][sha256.Size]byte{}}
	for _, f := range of {
		v.Now = max(v.Now, f.state.now)
	}
	return v
}

// Add adds what of a journal is wanted. It reads every body; read is told how many messages. The error is a
// *journal.DamageError where one cannot be read.
func (v *Inventory) Add(ctx context.Context, p Part, read func(messages int64)) error {
	s := p.From.state
	for _, q := range s.queuesByID.Values() {
		if !p.Queue(q.name) {
			continue
		}
		sum, err := v.sum(ctx, p.From.journal, q, read)
		if err != nil {
			return err
		}
		v.Queues[q.name] = sum
	}
	for _, t := range s.topicsByID.Values() {
		if !p.Topic(t.name) {
			continue
		}
		saved := t.save()
		saved.defined.topic = 0
		h := sha256.New()
		addTo(h, saved.defined.append(nil))
		for _, n := range saved.totals {
			addTo(h, putUint(nil, n))
		}
		names := newListed(lessName)
		for _, q := range t.subscribed.all.Values() {
			names.Set(q.name)
		}
		names.Scan(func(n Name) bool {
			addTo(h, []byte(n.String()))
			return true
		})
		v.Topics[t.name] = [sha256.Size]byte(h.Sum(nil))
	}
	s.notes.Scan(func(n Note) bool {
		if p.Note(n) {
			v.Notes[[2]string{n.Room, n.Key}] = sha256.Sum256(n.Value)
		}
		return true
	})
	return nil
}

// sumAtOnce is how many bodies are read at once.
const sumAtOnce = 256

// sum is what stands for a queue.
func (v *Inventory) sum(ctx context.Context, j journal.Journal, q *queueState, read func(int64)) (sum QueueSum,
	err error) {
	saved := q.save()
	saved.defined.queue = 0
	h := sha256.New()
	addTo(h, saved.append(nil, v.Now))
	sum.Snapshots = len(q.snapshots)
	var some []entry
	flush := func() {
		if err == nil {
			err = sumMessages(ctx, h, j, some)
			read(int64(len(some)))
		}
		some = some[:0]
	}
	eachKept(q, func(e entry) {
		if e.there() {
			sum.Messages++
		} else {
			sum.Past++
		}
		if c := e.claim(); c != nil && !c.doomed() {
			sum.Claimed++
		}
		if some = append(some, e); len(some) == sumAtOnce {
			flush()
		}
	})
	flush()
	sum.Digest = [sha256.Size]byte(h.Sum(nil))
	return sum, err
}

func sumMessages(ctx context.Context, h hash.Hash, j journal.Journal, es []entry) error {
	places := make([]journal.Address, len(es))
	for i, e := range es {
		places[i] = e.place()
	}
	bodies := make([][sha256.Size]byte, len(es))
	var failed error
	err := j.Read(ctx, places, func(i int, r journal.Record, err error) {
		if err != nil && failed == nil {
			failed = err
		}
		bodies[i] = sha256.Sum256(r.Body)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	for i, e := range es {
		b := appendMutable([]byte{0}, 0, e)
		b = putUint(b, e.seq())
		b = putBool(b, e.there())
		b = putInt(b, e.at())
		b = putInt(b, e.size())
		b = putUint(b, uint64(e.durable()))
		b = putInt(b, e.expire())
		b = putBool(b, e.shared() != nil)
		addTo(h, b)
		addTo(h, e.head())
		addTo(h, bodies[i][:])
	}
	return nil
}

// addTo adds bytes to a hash so that nothing is taken for something else.
func addTo(h hash.Hash, b []byte) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
	h.Write(n[:])
	h.Write(b)
}

// Differs names what is not the same in both, at most so many things.
func (v *Inventory) Differs(o *Inventory, most int) (names []string) {
	note := func(what string) {
		if len(names) < most {
			names = append(names, what)
		}
	}
	differs(v.Queues, o.Queues, func(n Name) { note("queue " + n.String()) })
	differs(v.Topics, o.Topics, func(n Name) { note("topic " + n.String()) })
	differs(v.Notes, o.Notes, func(k [2]string) { note("note " + k[1] + " in " + k[0]) })
	return names
}

func differs[K, V comparable](a, b map[K]V, note func(K)) {
	for k, v := range a {
		if other, there := b[k]; !there || other != v {
			note(k)
		}
	}
	for k := range b {
		if _, there := a[k]; !there {
			note(k)
		}
	}
}
