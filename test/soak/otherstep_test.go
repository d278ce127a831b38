package soak

import (
	"context"
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

func (w *world) passTime() {
	d := time.Duration(100+w.random.IntN(6000)) * time.Millisecond
	w.say("%v pass", d)
	time.Sleep(d)
	synctest.Wait()
}

// stepClock sets the clock forward, by less than what journaled time follows at once; or back, for a step that takes no
// time and names none, and then to where it was. The reference knows one clock: what becomes of time that passes while
// the clock is behind, and of times that are named then, is tested in package queue.
func (w *world) stepClock() {
	w.count.Clocks++
	d := time.Duration(w.random.IntN(12_000)) * time.Millisecond
	if w.random.IntN(2) == 0 {
		w.say("the clock steps by %v", d)
		w.offset += d
		w.jumped += d
		return
	}
	w.say("the clock is set back by %v", d)
	w.count.Behind++
	w.offset -= d
	timeless := []func(*world){(*world).closeOwner, (*world).setNotes, (*world).purge,
		func(w *world) { w.change(nil, w.ends(), nil) }}
	if len(w.tokens) > 0 {
		timeless = append(timeless, (*world).extend)
	}
	timeless[w.random.IntN(len(timeless))](w)
	w.say("the clock is set to where it was")
	w.offset += d
}

// fill puts so many messages into a queue that they take several of the store's pages.
func (w *world) fill() {
	n := name(plain[w.random.IntN(2)])
	d := w.m.queue(n).def
	d.MaxMessages, d.MaxBytes, d.Retention = 0, 0, 0
	w.say("alter %s: %s", n.Short(), describe(d))
	w.do(true, func() error { return w.m.redefine(w.m.queue(n), d) }, func() error {
		return w.s.AlterQueue(context.Background(), n, d)
	})
	for range 3 + w.random.IntN(4) {
		dv := delivery{to: n}
		for range 100 {
			d := w.draft()
			dv.drafts = append(dv.drafts,
				draft{id: d.id, n: d.n, s: d.s, body: fmt.Sprintf(`{"n":%d,"s":"%s","text":"%06d"}`, d.n, d.s,
					w.drafts)})
		}
		w.say("put 100 messages into %s", n.Short())
		w.do(true, func() error { return w.m.deliver([]delivery{dv}, true, w.limits, w.choices) }, func() error {
			_, err := w.s.Put(context.Background(), n, dv.messages())
			return err
		})
		w.settleDown()
	}
	if w.random.IntN(2) == 0 {
		w.takeSnapshotOf(n)
		w.settleDown()
	}
}

func (w *world) purge() {
	q := w.anyQueue()
	w.say("purge %s", q.name.Short())
	n := 0
	w.do(true, func() error { n = w.m.purge(w.m.queue(q.name)); return nil }, func() error {
		got, err := w.s.Purge(context.Background(), q.name)
		if err == nil && got != n {
			w.wrong("it purged %d messages, the reference %d", got, n)
		}
		return err
	})
}

func (w *world) replay() {
	var graves []*refQueue
	for _, q := range w.m.queues {
		if slices.ContainsFunc(q.messages, func(m *refMessage) bool { return m.died != "" }) {
			graves = append(graves, q)
		}
	}
	if len(graves) == 0 {
		return
	}
	q := graves[w.random.IntN(len(graves))]
	where := w.choices[w.random.IntN(len(w.choices))]
	request := queue.ReplayRequest{Where: where.where}
	if w.random.IntN(4) == 0 {
		request.To = w.anyQueue().name
	}
	if w.random.IntN(3) == 0 &&
		!slices.ContainsFunc(q.messages, func(m *refMessage) bool { return m.unsound || m.died == "" }) &&
		request.To != q.name {
		request.Max = 1 + w.random.IntN(3)
	}
	w.say("replay %d of %s where %q to %q", request.Max, q.name.Short(), where.text, request.To.Name)
	var moved, homeless int
	w.do(true, func() (err error) {
		moved, homeless, err = w.m.replay(w.m.queue(q.name), where, request.Max, request.To, w.limits)
		return err
	}, func() error {
		got, err := w.s.Replay(context.Background(), q.name, request)
		if err == nil && (got.Moved != moved || got.Homeless != homeless) {
			w.wrong("it replayed %+v, the reference %d, and %d have no home", got, moved, homeless)
		}
		return err
	})
}
