package queue

// wantedBodies are the ready messages of which a view has to know the body, which it may not read: whoever needs the
// view reads some without the lock, and the view learns of it.
type wantedBodies struct {
	seqs    sequences
	bytes   int64
	reading chan struct{} // closed when those are read that somebody reads now; nil: nobody does
}

func (u *wantedBodies) some() bool { return u.seqs.Len() > 0 }

// full tells that enough wait to be read at once.
func (u *wantedBodies) full() bool { return u.seqs.Len() >= askPiece || u.bytes >= askBytes }

func (u *wantedBodies) add(e entry) {
	if u.seqs.Add(e.seq()) {
		u.bytes += e.size()
	}
}

// drop forgets a message that is not ready any more, and tells whether it was one of them.
func (u *wantedBodies) drop(e entry) bool {
	if !u.seqs.Delete(e.seq()) {
		return false
	}
	u.bytes -= e.size()
	return true
}

// answered forgets a message whose body was read, and tells whether the answer is still true of it: it may have been
// claimed and put back meanwhile.
func (u *wantedBodies) answered(x *looked) bool {
	e := x.entry
	return e.there() && e.attempts() == x.attempts && u.drop(e)
}

// before tells whether one of them is older than all of a set.
func (u *wantedBodies) before(set *sequences) bool {
	oldest, some := u.seqs.Min()
	least, other := set.Min()
	return some && (!other || oldest < least)
}

// questions are messages whose bodies a view has to know.
type questions struct {
	view    view
	xs      []*looked
	of      *wantedBodies
	reading chan struct{} // somebody else reads: wait for him
}

// ask takes the next of them along; nil: there are none. The lock is held.
func (u *wantedBodies) ask(q *queueState, v view) *questions {
	if !u.some() {
		return nil
	}
	if u.reading != nil {
		return &questions{reading: u.reading}
	}
	qs := &questions{view: v, of: u}
	room := room{}
	u.seqs.Ascend(0, func(seq uint64) bool {
		e, _ := q.all.Get(seq)
		x := q.look(e)
		qs.xs = append(qs.xs, &x)
		return !room.full(x.size)
	})
	return qs
}

// room is what may still be read at once.
type room struct{ messages, bytes int64 }

// full counts a message of a size and tells whether there is no room for another one.
func (r *room) full(size int64) bool {
	r.messages++
	r.bytes += size
	return r.messages >= askPiece || r.bytes >= askBytes
}

// begin is called before they are read, unless somebody else does by now: reading is not nil then. The lock is held.
func (qs *questions) begin() {
	if qs.reading = qs.of.reading; qs.reading == nil {
		qs.of.reading = make(chan struct{})
	}
}

// end lets the view know what was read, if it was, and those who wait for it go on. The lock is held.
func (qs *questions) end(s *state, read bool) {
	if read {
		qs.view.learn(s, qs.xs)
	}
	close(qs.of.reading)
	qs.of.reading = nil
}
