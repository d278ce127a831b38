package queue

import (
	"github.com/tidwall/btree"

	"github.com/hikyaku/hikyaku/internal/message"
)

// remembered is what a deduplication id was given to. It is not changed once it was made.
type remembered struct {
	dedup string
	seq   uint64
	id    message.ID
	until int64 // journaled time
}

// rememberedBytes is about what an id costs beside its text.
const rememberedBytes = 120

func (r *remembered) bytes() int64 { return rememberedBytes + int64(len(r.dedup)) }

// remember keeps a deduplication id until its window ends, whatever happens to the message. It counts against the bytes of the store.
func (s *state) remember(q *queueState, r *remembered) {
	q.dedup[r.dedup] = r
	q.forget = append(q.forget, r)
	s.idBytes += r.bytes()
	s.forgetOld(q)
}

// forgetOld drops ids whose window has ended. Expiries stand in the order of puts; one that is early, because the window was
// altered, waits for those before it.
func (s *state) forgetOld(q *queueState) {
	n := 0
	for _, f := range q.forget {
		if f.until > s.now {
			break
		}
		if q.dedup[f.dedup] == f { // else it was taken again since
			delete(q.dedup, f.dedup)
		}
		s.idBytes -= f.bytes()
		n++
	}
	if n == len(q.forget) {
		q.forget = nil
	} else {
		q.forget = q.forget[n:]
	}
}

// duplicateOf tells whether a message with this id was put within the window.
func (q *queueState) duplicateOf(dedup string, now int64) (r *remembered, ok bool) {
	r = q.dedup[dedup]
	return r, r != nil && r.until > now
}

// originState is what a queue knows of one outside source.
type originState struct {
	mark  uint64 // everything below was taken or is not coming
	taken *btree.BTreeG[originPlace]
}

type originPlace struct{ offset, part uint64 }

func lessPlace(a, b originPlace) bool {
	return a.offset < b.offset || a.offset == b.offset && a.part < b.part
}

func newOriginState() *originState {
	return &originState{taken: btree.NewBTreeGOptions(lessPlace, btree.Options{NoLocks: true})}
}

// raise moves the mark, which never falls, and forgets what lies below it.
func (st *originState) raise(mark uint64) {
	st.mark = max(st.mark, mark)
	for p, ok := st.taken.Min(); ok && p.offset < st.mark; p, ok = st.taken.Min() {
		st.taken.Delete(p)
	}
}

// tookFrom remembers that the message made from that place is in the queue.
func (q *queueState) tookFrom(o *message.Origin) {
	st := q.origins[o.Source]
	if st == nil {
		st = newOriginState()
		q.origins[o.Source] = st
	}
	st.taken.Set(originPlace{o.Offset, o.Part})
	st.raise(o.Mark)
}

// tookBefore tells whether the message made from that place was taken already.
func (q *queueState) tookBefore(o *message.Origin) bool {
	st := q.origins[o.Source]
	return st != nil && (o.Offset < st.mark || has(st.taken, originPlace{o.Offset, o.Part}))
}

func has(t *btree.BTreeG[originPlace], p originPlace) bool {
	_, ok := t.Get(p)
	return ok
}
