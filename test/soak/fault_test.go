package soak

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// trial is a fault that lasts for some steps.
type trial struct {
	steps int
	power bool   // what goes when the disk is cut meanwhile
	over  func() // ends it
}

// trouble draws a fault.
func (w *world) trouble() {
	r := w.random
	power := r.IntN(2) == 0
	switch r.IntN(10) {
	case 0:
		w.say("crash (power: %t)", power)
		w.crash(power)
	case 1, 2, 3, 4:
		in := 1 + r.IntN(60)
		w.say("a cut is ordered after %d changes of the disk (power: %t)", in, power)
		w.disk.CutAfter(in)
		w.trial = &trial{1 + r.IntN(15), power, func() {
			w.disk.CutAfter(0)
			w.trial = nil
			w.say("crash (power: %t)", power)
			w.crash(power)
		}}
	case 5, 6:
		w.say("stop")
		w.stop(func() {
			if r.IntN(2) == 0 {
				w.loseCheckpoint()
			}
			if r.IntN(2) == 0 {
				w.flip()
			}
		})
	case 7, 8:
		w.hurt()
		w.trial = &trial{1 + r.IntN(6), power, func() {
			w.say("the disk is well again")
			w.disk.Fault(nil)
			w.recovered(func() { w.injured = false })
		}}
	case 9:
		w.crowd()
		w.trial = &trial{1 + r.IntN(20), power, func() {
			if r.IntN(3) == 0 {
				w.trial = nil
				w.say("crash (power: %t)", power)
				w.crash(power)
				return
			}
			w.relieve()
		}}
	}
}

// relieve makes room on the disk.
func (w *world) relieve() {
	w.say("there is room again")
	w.disk.Limit(0)
	w.recovered(w.makeRoom)
}

// recovered ends a trial: what the store could not do meanwhile it does soon.
func (w *world) recovered(end func()) {
	w.trial = nil
	time.Sleep(2500 * time.Millisecond)
	synctest.Wait()
	w.settleDown()
	if w.isCut() || w.down {
		return
	}
	w.flush() // it may have failed without having said so to anybody
	if w.isCut() || w.down {
		return
	}
	end()
	time.Sleep(2500 * time.Millisecond)
	synctest.Wait()
	w.settleDown()
}

// aftermath looks after each step whether a fault has struck or is over.
func (w *world) aftermath() {
	t := w.trial
	if t == nil && w.full && w.random.IntN(6) == 0 {
		w.relieve() // it was started on a full disk
	}
	if t == nil {
		if w.isCut() || w.down {
			w.wrong("the store is gone, though nobody touched its disk")
		}
		return
	}
	if !w.isCut() && !w.down {
		if t.steps--; t.steps <= 0 {
			t.over()
			if w.trial == nil && w.down {
				w.refuses()
				w.crash(t.power)
			}
		}
		return
	}
	if !w.isCut() {
		w.refuses()
	}
	w.trial = nil
	w.say("crash (power: %t)", t.power)
	w.crash(t.power)
}

// crowd leaves little room on the disk.
func (w *world) crowd() {
	used := int64(0)
	for _, n := range w.disk.Names() {
		used += int64(len(w.disk.Bytes(n)))
	}
	more := int64(w.random.IntN(20 << 10))
	w.say("the disk has room for %d bytes", more)
	w.disk.Limit(used + more)
	w.full = true
	w.count.Full++
}

// makeRoom ends what crowd began. What the store could not do for want of room it does soon after.
func (w *world) makeRoom() {
	w.disk.Limit(0)
	w.full = false
}

// hurt makes a few of the coming writes or syncs fail.
func (w *world) hurt() {
	kind := []string{"sync", "sync", "write", "syncdir", "rename", "create"}[w.random.IntN(6)]
	in, times := w.random.IntN(4), 1+w.random.IntN(2)
	w.injured = true
	w.count.Syncs++
	w.say("fault: %s fails after %d, %d times", kind, in, times)
	w.disk.Fault(func(op faultfs.Op) error {
		if op.Kind != kind || times == 0 {
			return nil
		}
		if in > 0 {
			in--
			return nil
		}
		times--
		return errors.Join(errBroken, syscall.EIO)
	})
}

// refuses fails unless a store whose journal has failed refuses whatever would change it.
func (w *world) refuses() {
	ctx := context.Background()
	n := w.m.queues[0].name
	_, put := w.s.Put(ctx, n, []message.Message{{Body: []byte(`{"n":1,"s":"a","text":"too late"}`)}})
	_, claim := w.s.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: n}}})
	_, purge := w.s.Purge(ctx, n)
	for _, err := range []error{put, claim, purge} {
		if !errors.Is(err, queue.ErrUnavailable) {
			w.wrong("after the journal has failed the store answers %v", err)
		}
	}
}

// flip damages the body of a message wherever it is on the disk. It is called while nobody has the journal open.
func (w *world) flip() {
	names := w.disk.Names()
	tables := map[string]bool{} // bodies that rows were made of
	var able []*refMessage
	for _, q := range w.m.queues {
		for _, m := range append(w.m.kept(q), q.messages...) {
			if q.columns() {
				tables[m.body] = true
			}
		}
	}
	for _, q := range w.m.queues {
		for _, m := range append(w.m.kept(q), q.messages...) {
			if !m.unsound && !m.beheaded && !tables[m.body] {
				able = append(able, m)
			}
		}
	}
	if len(able) == 0 {
		return
	}
	body := able[w.random.IntN(len(able))].body
	last := newestSegment(names)
	type place struct {
		file   string
		offset int64
	}
	var places []place
	for _, n := range names {
		b := w.disk.Bytes(n)
		for at := 0; ; {
			i := bytes.Index(b[at:], []byte(body))
			if i < 0 {
				break
			}
			if n == last {
				return // what is damaged there cannot be told from what was torn
			}
			places = append(places, place{n, int64(at + i)})
			at += i + 1
		}
	}
	if len(places) == 0 {
		w.wrong("the body %.40s… is nowhere on the disk", body)
	}
	in := w.random.IntN(len(body))
	for _, p := range places {
		if err := w.disk.Set(p.file, p.offset+int64(in), body[in]^byte(1<<w.random.IntN(8))); err != nil {
			w.wrong("%v", err)
		}
	}
	w.count.Flips++
	w.say("  … a bit of %s…, byte %d, flips in %d places", body[:min(40, len(body))], in, len(places))
	for _, q := range w.m.queues {
		for _, m := range q.messages {
			m.unsound = m.unsound || m.body == body && !m.beheaded
		}
		for i, m := range q.past {
			if m.body == body && !m.beheaded {
				damaged := *m
				damaged.unsound = true
				q.past[i] = &damaged
			}
		}
	}
}

func newestSegment(names []string) (last string) {
	for _, n := range names {
		if strings.HasSuffix(n, ".log") {
			last = max(last, n)
		}
	}
	return last
}

// loseCheckpoint damages or removes the newest checkpoint, if there is another one.
func (w *world) loseCheckpoint() {
	var there []string
	for _, n := range w.disk.Names() {
		if strings.Contains(n, "checkpoint-") && !strings.HasSuffix(n, ".tmp") {
			there = append(there, n)
		}
	}
	slices.Sort(there)
	if len(there) < 2 {
		return
	}
	n := there[len(there)-1]
	w.count.Checkpoints++
	if w.random.IntN(2) == 0 {
		w.say("  … %s is lost", n)
		if err := errors.Join(w.disk.Remove(n), w.disk.SyncDir(dir)); err != nil {
			w.wrong("%v", err)
		}
		return
	}
	size := len(w.disk.Bytes(n))
	at := w.random.IntN(size)
	w.say("  … %s is damaged at %d of %d", n, at, size)
	if err := w.disk.Set(n, int64(at), w.disk.Bytes(n)[at]^0x10); err != nil {
		w.wrong("%v", err)
	}
	w.lost = append(w.lost, n)
}
