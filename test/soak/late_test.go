package soak

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// TestWhatHasExpiredAndIsOutOfAttemptsIsFoundAsEither lets a message expire whose bound of attempts was lowered while
// it waited, on a disk that fails at that moment, and ends the process or the power. The store is right to have written
// down that it has expired, and, if it has not, to make a dead letter of it at the next start. The model has to see
// both happen, and to mind when the message is gone without either.
func TestWhatHasExpiredAndIsOutOfAttemptsIsFoundAsEither(t *testing.T) {
	oneProcessor(t)
	expired, dead := 0, 0
	for _, kind := range []string{"write", "sync"} {
		for _, power := range []bool{false, true} {
			for seed := range uint64(20) {
				res := act(t, seed, 60, nil, func(w *world) {
					expireOnFailingDisk(w, kind, int(seed%4), power)
					q := w.m.queue(name("a"))
					expired, dead = expired+int(q.expired), dead+int(q.dead)
					q.expired = 0
					if seen, err := w.look(false); err != nil || q.dead == 0 && w.compare(w.m, seen) == nil {
						w.wrong("that nothing has expired is believed: %v", err)
					}
				})
				if res.err != nil {
					t.Errorf("%s fails, power %t: %v", kind, power, res.err)
				}
			}
		}
	}
	if expired == 0 || dead == 0 {
		t.Errorf("%d have expired, %d are dead letters: the test looks at one of the two only", expired, dead)
	}
}

func expireOnFailingDisk(w *world, kind string, skip int, power bool) {
	ctx := context.Background()
	w.m.now = w.clock().UnixMicro()
	w.limits = bounds{1000, 1_000_000}
	if err := w.open(); err != nil {
		w.wrong("it does not begin: %v", err)
	}
	a := name("a")
	w.do(true, func() error { w.m.create(a, queue.Definition{}, 0); return nil }, func() error {
		_, err := w.s.CreateQueue(ctx, a, queue.Definition{})
		return err
	})
	d := w.draft()
	d.body = fmt.Sprintf(`{"n":%d,"s":"%s","text":""}`, d.n, d.s)
	d.key, d.dedup, d.source, d.offset, d.wake, d.expire = "", "", "", 0, 0, w.m.now+10_000_000
	dv := delivery{to: a, drafts: []draft{d}}
	w.do(true, func() error { return w.m.deliver([]delivery{dv}, true, w.limits, w.choices) }, func() error {
		_, err := w.s.Put(ctx, a, dv.messages())
		return err
	})
	w.settleDown()
	w.claimant++
	w.ask(want{from: []wish{{a, 0}}, max: 1, claimant: w.claimant}, nil)
	token, _ := w.token()
	w.change(nil, []end{{token: token, kind: queue.Back}}, nil)
	once := queue.Definition{MaxAttempts: 1}
	w.do(true, func() error { return w.m.redefine(w.m.queue(a), once) },
		func() error { return w.s.AlterQueue(ctx, a, once) })
	w.settleDown()

	w.injured = true
	w.disk.Fault(func(op faultfs.Op) error {
		if op.Kind == kind {
			skip--
		}
		if op.Kind != kind || skip != -1 {
			return nil
		}
		return errors.Join(errBroken, syscall.EIO)
	})
	time.Sleep(11 * time.Second)
	synctest.Wait()
	w.settleDown()
	w.crash(power)
	w.settleDown()
}
