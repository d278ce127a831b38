package queue

// removed takes single messages out of a queue: whole runs of sequences that were there, and that nobody held.
type removed struct {
	queue uint32
	runs  []run
	count int // not kept: how many there were, once it is applied
}

// run is n sequences, from first on.
type run struct{ first, n uint64 }

func (*removed) kind() eventKind { return kindRemoved }

func (e *removed) append(b []byte) []byte {
	b = putUint(b, uint64(e.queue))
	b = putUint(b, uint64(len(e.runs)))
	behind := uint64(0)
	for _, r := range e.runs {
		b = putUint(putUint(b, r.first-behind), r.n)
		behind = r.first + r.n
	}
	return b
}

func (e *removed) read(r *reader) {
	e.queue = r.uint32()
	n := r.count(2)
	e.runs = make([]run, 0, n)
	behind := uint64(0)
	for range n {
		x := run{behind + r.uint(), r.uint()}
		behind = x.first + x.n
		e.runs = append(e.runs, x)
	}
}

// add adds a sequence that is greater than those so far.
func (e *removed) add(seq uint64) {
	if n := len(e.runs); n > 0 && e.runs[n-1].first+e.runs[n-1].n == seq {
		e.runs[n-1].n++
		return
	}
	e.runs = append(e.runs, run{seq, 1})
}

// applyRemoved removes what is still there. As with a purge only a snapshot keeps it.
func (s *state) applyRemoved(e *removed) {
	q := s.queues[e.queue]
	if q == nil {
		return
	}
	for _, r := range e.runs {
		q.all.Ascend(r.first, func(x entry) bool {
			if x.seq()-r.first >= r.n {
				return false
			}
			if q.def.History == 0 {
				s.settlePast(q, x, s.now)
			} else {
				s.remove(q, x, q.held(x.seq()))
			}
			e.count++
			return true
		})
	}
	q.purged += uint64(e.count)
}

// toRemove takes messages out of sight that nobody holds, until it is known whether they are removed: the event, those
// messages, and how many sequences it looked at, since many snapshots may have to be asked.
func (s *state) toRemove(q *queueState, sequences []uint64) (e *removed, es []entry, looked int) {
	e = &removed{queue: q.id}
	var nobody []doomed
	asked, last := 0, ^uint64(0)
	for _, seq := range sequences {
		if number := pageOf(seq); number != last {
			if asked, last = asked+len(q.snapshots), number; asked > askedAtOnce && len(es) > 0 {
				break
			}
		}
		looked++
		if x, there := q.all.Get(seq); there && x.claim() == nil {
			s.doom(q, x, &nobody) // what the journal is told must not be claimed before it answers
			es = append(es, x)
			e.add(seq)
		}
	}
	return e, es, looked
}
