package queue

// beginPiece gives serving as many steps as the longest question needs that is asked at once.
func (s *state) beginPiece() { s.patient, s.steps = true, 2*s.share }

// endPiece serves what came of it.
func (s *state) endPiece() {
	s.known, s.patient = nil, false
	s.serve()
}

// asideLook is how many of the messages that were set aside are looked at under one hold of the lock.
const asideLook = 4 * askPiece

// setAside keeps messages until their bodies were read, or those of older ones.
func (s *state) setAside(q *queueState, es []entry) {
	if len(es) == 0 {
		return
	}
	set := s.unserved[q]
	if set == nil {
		set = new(sequences)
		s.unserved[q] = set
	}
	for _, e := range es {
		if e.there() {
			set.Add(e.seq())
		}
	}
	s.dropAside(q, nil)
}

// asideFrom tells from where to where the messages of a queue lie that are set aside.
func (s *state) asideFrom(q *queueState) (least, last uint64, some bool) {
	if set := s.unserved[q]; set != nil {
		least, some = set.Min()
		set.Descend(^uint64(0), func(seq uint64) bool {
			last = seq
			return false
		})
	}
	return least, last, some
}

// dropAside forgets some of the messages of a queue that were set aside.
func (s *state) dropAside(q *queueState, seqs []uint64) {
	set := s.unserved[q]
	for _, seq := range seqs {
		set.Delete(seq)
	}
	if set.Len() == 0 {
		delete(s.unserved, q)
	}
}

// asideUnread are the first of the messages that were set aside, as many as are read at once. It forgets those that
// nobody can be handed any more.
func (s *state) asideUnread() (xs []*looked) {
	room, seen := room{}, 0
	for q, set := range s.unserved {
		var gone []uint64
		full := false
		set.Ascend(0, func(seq uint64) bool {
			if full = full || seen == asideLook; full {
				return false
			}
			seen++
			if e, there := q.all.Get(seq); there && e.claim() == nil {
				x := q.look(e)
				xs, full = append(xs, &x), room.full(x.size) || q.waiting.far.is(e)
			} else {
				gone = append(gone, seq)
			}
			return true
		})
		if s.dropAside(q, gone); s.unserved[q] == nil {
			s.handPart(q, ^uint64(0))
		}
		if full {
			return xs
		}
	}
	return xs
}

// serveRead serves messages that were set aside and whose bodies were read, unless older ones have come meanwhile: they
// are to be read first. It tells whether others are left to be read now. Who wants several is offered as many as are
// read at once.
func (s *state) serveRead(xs []*looked) (more bool) {
	s.beginPiece()
	s.known = make(map[entry]*looked, len(xs))
	for _, x := range xs {
		s.known[x.entry] = x
	}
	fresh := map[*queueState][]entry{}
	later := false
	for _, x := range xs {
		q := x.queue
		if fresh[q] != nil || s.unserved[q] == nil {
			continue
		}
		if q.waiting.recalled { // the end of that tells of them
			later = true
			continue
		}
		if es := s.takeRead(q); len(es) > 0 {
			fresh[q] = es
		}
	}
	some := len(fresh) > 0
	for q, es := range fresh {
		if !q.waiting.apart() {
			delete(fresh, q)
			s.servePlain(q, es)
		}
	}
	if len(fresh) > 0 {
		for q := range fresh {
			s.handPart(q, ^uint64(0)) // somebody with several wishes has come meanwhile
		}
		s.serveChoosy(fresh)
	}
	s.endPiece()
	return len(s.offerings) > 0 || len(s.unserved) > 0 && (!later || some)
}

// takeRead takes the first messages of a queue that were set aside, as far as their bodies are known.
func (s *state) takeRead(q *queueState) (es []entry) {
	var taken []uint64
	s.unserved[q].Ascend(0, func(seq uint64) bool {
		e, there := q.all.Get(seq)
		if free := there && e.claim() == nil; free && s.known[e] == nil || len(taken) == asideLook {
			return false
		} else if free {
			es = append(es, e)
		}
		taken = append(taken, seq)
		return true
	})
	s.dropAside(q, taken)
	return es
}
