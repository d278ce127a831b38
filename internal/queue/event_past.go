package queue

// sought takes a queue to a time or a snapshot: what was settled after it comes back, what was there before it is
// settled.
type sought struct {
	queue    uint32
	to       int64 // the first time of publishing that stays; with no snapshot
	snapshot Name
	from     uint64 // it concerns the messages from this sequence on,
	upto     uint64 // and before this one; 0: all of them

	goes *sequences // with a snapshot of another queue: what is settled of them. All else stays

	back, settled int // not kept: how many messages it concerned, once it is applied
}

func (e *sought) kind() eventKind {
	if e.goes != nil {
		return kindSeekAcross
	}
	return kindSeek
}
func (e *sought) append(b []byte) []byte {
	b = putUint(b, uint64(e.queue))
	b = putInt(b, e.to)
	b = putString(b, e.snapshot.Namespace)
	b = putString(b, e.snapshot.Name)
	if e.upto == 0 {
		return b
	}
	b = putUint(putUint(b, e.from), e.upto)
	if e.goes != nil {
		b = e.goes.append(b)
	}
	return b
}
func (e *sought) read(r *reader) {
	e.queue, e.to = r.uint32(), r.int()
	e.snapshot = Name{r.string(), r.string()}
	if len(r.b) > 0 { // a seek of one step, as they were once, has no range
		if e.from, e.upto = r.uint(), r.uint(); e.from >= e.upto {
			r.fail(errTruncated)
		}
	}
	if e.goes != nil {
		e.goes.read(r)
	}
}

// snapshotTaken remembers which messages of a queue are not settled at this place in the journal.
type snapshotTaken struct {
	queue  uint32
	name   Name
	expire int64
	labels map[string]string
}

func (*snapshotTaken) kind() eventKind { return kindSnapshot }
func (e *snapshotTaken) append(b []byte) []byte {
	b = putUint(b, uint64(e.queue))
	b = putString(b, e.name.Namespace)
	b = putString(b, e.name.Name)
	b = putInt(b, e.expire)
	return appendLabels(b, e.labels)
}
func (e *snapshotTaken) read(r *reader) {
	e.queue = r.uint32()
	e.name = Name{r.string(), r.string()}
	e.expire = r.int()
	e.labels = readLabels(r)
}

type snapshotGone struct{ name Name }

func (*snapshotGone) kind() eventKind { return kindSnapshotGone }
func (e *snapshotGone) append(b []byte) []byte {
	return putString(putString(b, e.name.Namespace), e.name.Name)
}
func (e *snapshotGone) read(r *reader) { e.name = Name{r.string(), r.string()} }
