package soak

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// snapshotNames are all there are, so that they are taken again.
var snapshotNames = []string{"kept1", "kept2", "kept3"}

func (w *world) anySnapshotName() queue.Name {
	return name(snapshotNames[w.random.IntN(len(snapshotNames))])
}

// target draws where a seek goes: to the beginning, the end, a message or just behind it, some time ago, a snapshot,
// seldom nowhere.
func (w *world) target(q *refQueue) (to target) {
	r := w.random
	ms := append(append([]*refMessage(nil), q.messages...), q.past...)
	switch k := r.IntN(20); {
	case k < 3:
		to.time = 1
	case k < 5:
		to.time = w.m.now + 1
	case k < 9 && len(ms) > 0:
		to.time = ms[r.IntN(len(ms))].at + int64(r.IntN(2))
	case k < 11:
		to.time = w.m.now - int64(r.IntN(30_000_000))
	case k < 19:
		to.snapshot = w.anySnapshotName()
		for _, sn := range w.m.snapshots { // rather one of this queue
			if sn.of == q.name && r.IntN(2) == 0 {
				to.snapshot = sn.name
			}
		}
	case r.IntN(2) == 0:
		to = target{w.m.now, w.anySnapshotName()}
	}
	if to.time == 0 && w.m.isAcross(q, to.snapshot) {
		to = target{time: w.m.now}
	}
	return to
}

// withPast is a queue that has something to go back to, if there is one.
func (w *world) withPast() *refQueue {
	q := w.anyQueue()
	for range 4 {
		if len(w.m.kept(q)) > 0 {
			break
		}
		q = w.anyQueue()
	}
	return q
}

func (w *world) seek() {
	n := w.withPast().name
	to := w.target(w.m.queue(n))
	w.say("seek %s to %s, snapshot %q", n.Short(), timeOf(to.time).Format("04:05.000000"), to.snapshot.Name)
	var want queue.Sought
	w.do(true, func() (err error) {
		want.Back, want.Settled, err = w.m.seekTo(w.m.queue(n), to)
		return err
	}, func() error {
		got, err := w.s.Seek(context.Background(), n, queue.SeekTo{Time: timeOf(to.time), Snapshot: to.snapshot})
		if err == nil {
			w.say("  … %+v", got)
			w.count.Seeks++
			w.count.Back += got.Back
			if got != want {
				w.wrong("the seek says that it did %+v, the reference %+v", got, want)
			}
		}
		return err
	})
}

func (w *world) takeSnapshot() { w.takeSnapshotOf(w.anyQueue().name) }

func (w *world) takeSnapshotOf(of queue.Name) {
	n := w.anySnapshotName()
	var life time.Duration
	if w.random.IntN(2) == 0 {
		life = time.Duration(1+w.random.IntN(30)) * time.Second
	}
	label := fmt.Sprint(w.drafts)
	w.say("snapshot %s of %s, for %v", n.Name, of.Short(), life)
	var want *refSnapshot
	w.do(true, func() (err error) {
		want, err = w.m.takeSnapshot(n, w.m.queue(of), life, label)
		return err
	}, func() error {
		got, err := w.s.TakeSnapshot(context.Background(), n, of,
			queue.SnapshotOptions{Life: life, Labels: map[string]string{"drafts": label}})
		if err == nil && want != nil && !want.is(&got) {
			w.wrong("it took the snapshot %+v, the reference %+v", got, *want)
		}
		return err
	})
}

func (w *world) deleteSnapshot() {
	n := w.anySnapshotName()
	w.say("delete snapshot %s", n.Name)
	w.do(true, func() error {
		if !w.m.forgetSnapshot(n) {
			return queue.ErrNotFound
		}
		w.m.wrote()
		return nil
	}, func() error { return w.s.DeleteSnapshot(context.Background(), n) })
}

// is compares a snapshot with what the store shows of it.
func (sn *refSnapshot) is(x *queue.Snapshot) bool {
	return x.Name == sn.name && x.Queue == sn.of && x.Time.Equal(timeOf(sn.at)) && x.Expires.Equal(timeOf(sn.expire)) &&
		maps.Equal(x.Labels, map[string]string{"drafts": sn.label})
}

// comparePast compares what a queue keeps for a seek, as far as it can be seen before there is one.
func comparePast(r *reference, q *refQueue, st *queue.Stats) error {
	kept := r.kept(q)
	bytes, from := int64(0), int64(0)
	for i, m := range kept {
		bytes += m.size
		if i == 0 {
			from = m.at
		}
	}
	if st.Past != int64(len(kept)) || st.PastBytes != bytes || !st.PastFrom.Equal(timeOf(from)) {
		return fmt.Errorf("queue %s keeps %d settled messages of %d bytes since %v, the reference %d of %d bytes "+
			"since %v",
			q.name.Short(), st.Past, st.PastBytes, st.PastFrom, len(kept), bytes, timeOf(from))
	}
	return nil
}

// compareSnapshots compares which snapshots there are. Those whose life has ended the store deletes by itself: the
// reference follows.
func (w *world) compareSnapshots(r *reference, seen []queue.Snapshot) error {
	there := map[queue.Name]*queue.Snapshot{}
	for i := range seen {
		there[seen[i].Name] = &seen[i]
	}
	for _, n := range r.over() {
		switch {
		case there[n] == nil:
			r.forgetSnapshot(n)
		case !w.hampered() && w.clock().Sub(there[n].Expires) >= w.jumped:
			return fmt.Errorf("the snapshot %s is still there: its life ended at %v", n.Name, there[n].Expires)
		}
	}
	for _, sn := range r.snapshots {
		x := there[sn.name]
		if x == nil {
			return fmt.Errorf("the snapshot %s of %s is gone", sn.name.Name, sn.of.Short())
		}
		if !sn.is(x) {
			return fmt.Errorf("there is the snapshot %+v, the reference has %+v", *x, *sn)
		}
		delete(there, sn.name)
	}
	for _, x := range there {
		return fmt.Errorf("there is a snapshot %+v, the reference has none of that name", *x)
	}
	return nil
}
