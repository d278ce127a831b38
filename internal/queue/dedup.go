package queue

import (
	"container/heap"

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

// remember keeps a deduplication id until its window ends, whatever happens to the message. It counts against the bytes
// of the store.
func (s *state) remember(q *queueState, r *remembered) {
	q.dedup[r.dedup] = r
	q.forget = append(q.forget, r)
	s.rememberBytes(q, r.bytes())
	s.forgetOld(q, forgetWithPut)
}

// rememberBytes counts what a queue remembers of ids and sources.
func (s *state) rememberBytes(q *queueState, n int64) {
	s.idBytes += n
	q.rememberedBytes += n
}

// Bounds of the ids that are forgotten at once.
const (
	forgetAtOnce  = 1000
	forgetWithPut = 8 // more than one, so that what was put fast is forgotten by what is put slowly
)

// forgetOld drops ids whose window has ended, at most so many, and returns how many. Expiries stand in the order of
// puts; one that is early, because the window was altered, waits for those before it.
func (s *state) forgetOld(q *queueState, limit int) int {
	n := 0
	if len(q.forget) > 0 && q.forget[0].until <= s.now {
		q.touch()
	}
	for _, f := range q.forget {
		if f.until > s.now || n == limit {
			break
		}
		if q.dedup[f.dedup] == f { // else it was taken again since
			delete(q.dedup, f.dedup)
		}
		s.rememberBytes(q, -f.bytes())
		n++
	}
	if n == len(q.forget) {
		q.forget = nil
	} else {
		q.forget = q.forget[n:]
	}
	s.reopen(q)
	return n
}

// window is when the first of a queue's ids may be forgotten.
type window struct {
	until int64
	place int // among the state's windows, from 1; 0: nowhere, the queue remembers none
}

// windows are the queues that remember ids, as a heap, the one whose first id can go earliest first.
type windows []*queueState

func (w windows) Len() int           { return len(w) }
func (w windows) Less(i, j int) bool { return w[i].window.until < w[j].window.until }
func (w windows) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].window.place, w[j].window.place = i+1, j+1
}

func (w *windows) Push(x any) {
	q := x.(*queueState)
	*w = append(*w, q)
	q.window.place = len(*w)
}

func (w *windows) Pop() any {
	last := len(*w) - 1
	q := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	q.window.place = 0
	return q
}

// forgetPatience gathers ids that can go, so that a queue that gets ids all the time wakes nobody for each of them, µs.
const forgetPatience = 1_000_000

// due is when ids should be forgotten; 0: none are remembered.
func (w windows) due() int64 {
	if len(w) == 0 {
		return 0
	}
	return w[0].window.until + forgetPatience
}

// reopen puts a queue to its place among the windows, after its first id has changed.
func (s *state) reopen(q *queueState) {
	w := &q.window
	switch {
	case len(q.forget) == 0:
		if w.place != 0 {
			heap.Remove(&s.windows, w.place-1)
		}
	case w.place == 0:
		w.until = q.forget[0].until
		heap.Push(&s.windows, q)
	case w.until != q.forget[0].until:
		w.until = q.forget[0].until
		heap.Fix(&s.windows, w.place-1)
	}
}

// forgetDue drops ids whose window has ended, of whatever queues, at most so many.
func (s *state) forgetDue(limit int) {
	for limit > 0 && len(s.windows) > 0 && s.windows[0].window.until <= s.now {
		limit -= s.forgetOld(s.windows[0], limit)
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
	saved uint64 // the newest checkpoint that has it as it was, or need not have it
}

type originPlace struct{ offset, part uint64 }

// About what a source takes beside its name, and each of its places.
const (
	originBytes = 200
	placeBytes  = 32
)

func lessPlace(a, b originPlace) bool {
	return a.offset < b.offset || a.offset == b.offset && a.part < b.part
}

func newOriginState(saved uint64) *originState {
	return &originState{saved: saved, taken: btree.NewBTreeGOptions(lessPlace, btree.Options{NoLocks: true})}
}

// forgetTaken is how many places below the mark are forgotten with each that is taken: more than one, so that what a
// mark leaves behind that has moved far is gone in time.
const forgetTaken = 8

// raise moves the mark, which never falls, and forgets some of what lies below it, which nobody asks about any more.
func (st *originState) raise(mark uint64) {
	st.mark = max(st.mark, mark)
	for range forgetTaken {
		p, ok := st.taken.Min()
		if !ok || p.offset >= st.mark {
			break
		}
		st.taken.Delete(p)
	}
}

// above calls each for the places that are not below the mark, in their order.
func (st *originState) above(each func(p originPlace)) {
	st.taken.Ascend(originPlace{offset: st.mark}, func(p originPlace) bool {
		each(p)
		return true
	})
}

// tookFrom remembers that the message made from that place is in the queue. It counts as ids do.
func (s *state) tookFrom(q *queueState, o *message.Origin) {
	st, known := q.origins.Get(o.Source)
	switch number := q.all.saves.newest(); {
	case !known:
		st = newOriginState(number)
		q.origins.Set(o.Source, st)
		s.rememberBytes(q, originBytes+int64(len(o.Source)))
	case st.saved != number: // a checkpoint has this one
		st = &originState{mark: st.mark, taken: st.taken.Copy(), saved: number}
		q.origins.Set(o.Source, st)
	}
	before := st.taken.Len()
	st.taken.Set(originPlace{o.Offset, o.Part})
	st.raise(o.Mark)
	s.rememberBytes(q, placeBytes*int64(st.taken.Len()-before))
}

// tookBefore tells whether the message made from that place was taken already.
func (q *queueState) tookBefore(o *message.Origin) bool {
	st, known := q.origins.Get(o.Source)
	return known && (o.Offset < st.mark || has(st.taken, originPlace{o.Offset, o.Part}))
}

func has(t *btree.BTreeG[originPlace], p originPlace) bool {
	_, ok := t.Get(p)
	return ok
}
