package soak

import (
	"context"
	"errors"
	"slices"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// crash ends the process, with the power or without, starts again until a start succeeds, and finds out in which of the
// possible states the store is.
func (w *world) crash(power bool) {
	w.disk.Cut()
	w.shut() //nolint:errcheck // the power is off
	states := append(w.past, w.m)
	from := w.sure
	if w.hampered() {
		older := expiries(states[:from])
		states, from = append(older, expiries(states[from:])...), len(older)
	}
	if w.moved || w.hampered() {
		// Something that time made due may not have been written down: it has to be due again.
		w.offset += max(0, time.UnixMicro(w.m.now).Sub(w.clock()))
	}
	for {
		if power {
			w.count.Cuts++
			w.disk = w.disk.AfterPowerCut(w.random)
			from = 0
		} else {
			w.count.Kills++
			w.disk = w.disk.AfterKill()
		}
		w.injured = false
		if w.full && w.random.IntN(2) == 0 {
			w.makeRoom()
		}
		if w.random.IntN(4) == 0 {
			w.disk.CutAfter(1 + w.random.IntN(40))
		}
		if w.restart(states[from:], "crash") {
			w.disk.CutAfter(0)
			return
		}
		w.count.Again++
		power = w.random.IntN(2) == 0
		w.say("  … cut again while starting (power: %t)", power)
		w.disk.Cut()
		w.shut() //nolint:errcheck // the power is off
	}
}

// expiries adds to states those in which what has expired has been written down, up to some time, and nobody was told
// because the disk failed. That makes a difference to what is out of attempts as well, since its bound was lowered
// while it waited: of what is not written down a start makes dead letters.
func expiries(states []*reference) (all []*reference) {
	for _, r := range states {
		all = append(all, r)
		var times []int64
		for _, q := range r.queues {
			for _, m := range q.messages {
				if m.doomed == late && q.spent(m) {
					times = append(times, m.expire)
				}
			}
		}
		slices.Sort(times)
		for _, t := range slices.Compact(times) {
			c := r.clone()
			for _, q := range c.queues {
				for _, m := range slices.Clone(q.messages) {
					if m.doomed == late && m.expire <= t {
						q.remove(m)
						q.expired++
					}
				}
			}
			all = append(all, c)
		}
	}
	return all
}

// stop ends the store as a program does that is asked to, and starts it again. Between the two the disk may lose the
// newest checkpoint or have bits flipped.
func (w *world) stop(between func()) {
	w.count.Stops++
	if err := w.shut(); err != nil && !w.full {
		w.wrong("it does not stop: %v", err)
	}
	between()
	states := append(w.past, w.m)
	if w.hampered() {
		w.offset += max(0, time.UnixMicro(w.m.now).Sub(w.clock()))
	}
	if !w.restart(states[w.sure:], "stop") {
		w.wrong("after a stop the power is off, though nobody cut it")
	}
}

// restart opens the store and chooses, among states, the one that it is in. It tells false when the power fails
// meanwhile.
func (w *world) restart(states []*reference, after string) bool {
	for {
		err := w.open()
		if w.isCut() {
			return false
		}
		if err == nil {
			break
		}
		if !w.full || !errors.Is(err, queue.ErrNoRoom) {
			w.wrong("it does not start after a %s: %v", after, err)
		}
		w.say("  … no room for a start")
		w.makeRoom()
	}
	synctest.Wait()
	now, ok := w.findTime(states)
	if !ok {
		return false
	}
	if _, err := w.s.Stats(context.Background(), probe); err != nil && !errors.Is(err, queue.ErrNotFound) &&
		!w.isCut() {
		w.wrong("the store does not show what it has: %v", err)
	}
	synctest.Wait()
	s, err := w.look(true)
	synctest.Wait()
	if w.isCut() {
		return false
	}
	if err != nil {
		w.wrong("the store does not show what it has: %v", err)
	}
	var first error
	for i := len(states) - 1; i >= 0; i-- {
		if states[i].said > now {
			continue // time would have run backwards
		}
		c := states[i].clone()
		c.restart(now, w.hampered())
		err := w.compare(c, s)
		if err == nil {
			w.m, w.past, w.sure, w.moved = c, nil, 0, false
			w.say("  … after the %s it is in state %d of %d", after, i+1, len(states))
			return true
		}
		if first == nil {
			first = err
		}
	}
	w.wrong("after a %s it is in none of the %d states that are possible; compared with the newest: %v", after,
		len(states), first)
	return false
}

// findTime finds out what time the store thinks it is: not earlier than what it had acknowledged, whatever the clock
// says.
func (w *world) findTime(states []*reference) (now int64, ok bool) {
	now = w.clock().UnixMicro()
	oldest, newest := states[0].said, states[len(states)-1].now
	if now >= newest && len(w.probes()) == 0 {
		return now, true
	}
	ctx := context.Background()
	if w.full {
		w.makeRoom()
	}
	if _, err := w.s.CreateQueue(ctx, probe, queue.Definition{}); err != nil {
		return w.unlessCut(err)
	}
	if _, err := w.s.Put(ctx, probe,
		[]message.Message{{Body: []byte("what time is it"), Death: &message.Death{}}}); err != nil {
		return w.unlessCut(err)
	}
	ps := w.probes()
	if len(ps) == 0 {
		return w.unlessCut(errors.New("the probe is not there"))
	}
	found := ps[len(ps)-1].Message.Time.UnixMicro()
	if _, err := w.s.Purge(ctx, probe); err != nil {
		return w.unlessCut(err)
	}
	if found < now || found < oldest || found > max(now, newest) {
		w.wrong("the store takes the time to be %v; the clock says %v, and it had been between %v and %v",
			timeOf(found), timeOf(now), timeOf(oldest), timeOf(newest))
	}
	return found, true
}

func (w *world) probes() []queue.Peeked {
	ps, err := w.s.Peek(context.Background(), probe, queue.PeekRequest{})
	if err != nil {
		return nil
	}
	return ps
}

func (w *world) unlessCut(err error) (int64, bool) {
	if !w.isCut() {
		w.wrong("probing: %v", err)
	}
	return 0, false
}
