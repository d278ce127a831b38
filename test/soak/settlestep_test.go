package soak

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// token is one that is held, or, seldom, any that ever was.
func (w *world) token() (queue.Token, bool) {
	if len(w.tokens) > 0 && w.random.IntN(12) == 0 {
		return w.tokens[w.random.IntN(len(w.tokens))], true
	}
	var held []queue.Token
	for _, q := range w.m.queues {
		for _, m := range q.messages {
			if m.claimed && m.token != (queue.Token{}) {
				held = append(held, m.token)
			}
		}
	}
	if len(held) == 0 {
		return queue.Token{}, false
	}
	return held[w.random.IntN(len(held))], true
}

func (w *world) ends() (es []end) {
	for range 1 + w.random.IntN(3) {
		t, ok := w.token()
		if !ok {
			return es
		}
		e := end{token: t, kind: []queue.SettleKind{queue.Done, queue.Done, queue.Done, queue.Back, queue.Back,
			queue.Dead}[w.random.IntN(6)]}
		if e.kind == queue.Back {
			e.delay = time.Duration(w.random.IntN(4)) * time.Second
			e.uncounted = w.random.IntN(3) == 0
		}
		es = append(es, e)
	}
	return es
}

func (w *world) settle() {
	if es := w.ends(); len(es) > 0 {
		w.change(nil, es, nil)
	} else {
		w.claim()
	}
}

func (w *world) commit() {
	var ds []delivery
	for range w.random.IntN(3) {
		ds = append(ds, w.delivery())
	}
	var es []end
	if w.random.IntN(2) == 0 {
		es = w.ends()
	}
	notes := map[string]string{}
	if w.random.IntN(2) == 0 {
		notes[fmt.Sprint("key", w.random.IntN(3))] = []string{"", "x", fmt.Sprint(w.drafts)}[w.random.IntN(3)]
	}
	w.change(ds, es, notes)
}

func (w *world) setNotes() {
	w.change(nil, nil, map[string]string{fmt.Sprint("key", w.random.IntN(3)): fmt.Sprint(w.drafts)})
}

// change makes one atomic group.
func (w *world) change(ds []delivery, es []end, notes map[string]string) {
	c := queue.Change{}
	w.say("commit")
	for i := range ds {
		w.say("  put %s", &ds[i])
		c.Puts = append(c.Puts, queue.QueuePut{To: ds[i].to, Messages: ds[i].messages()})
	}
	for _, e := range es {
		w.say("  settle %s: %v, delay %v, uncounted %t", w.whose(e.token), e.kind, e.delay, e.uncounted)
		c.Settles = append(c.Settles, queue.Settlement{Token: e.token, Kind: e.kind, Delay: e.delay,
			Uncounted: e.uncounted, Reason: "no good"})
	}
	for k, v := range notes {
		w.say("  note %s = %q", k, v)
		n := queue.Note{Room: "soak", Key: k}
		if v != "" {
			n.Value = []byte(v)
		}
		c.Notes = append(c.Notes, n)
	}
	var held []bool
	w.do(true, func() error {
		before := w.m.clone()
		for i := range es { // the queues of dead letters are made first
			if q, _ := w.m.held(es[i].token); q != nil && es[i].kind == queue.Dead {
				w.m.grave(q)
			}
		}
		if len(w.m.queues) > len(before.queues) {
			w.mark()
		}
		if err := w.m.deliver(ds, false, w.limits, w.choices); err != nil {
			return err
		}
		for i := range es {
			held = append(held, w.m.settle(&es[i]))
		}
		for k, v := range notes {
			w.m.wrote()
			delete(w.m.notes, k)
			if v != "" {
				w.m.notes[k] = v
			}
		}
		return nil
	}, func() error {
		_, errs, err := w.s.Commit(context.Background(), c)
		if err != nil {
			return err
		}
		for i := range es {
			if stale := errors.Is(errs[i], queue.ErrStale); stale == held[i] || errs[i] != nil && !stale {
				w.wrong("settling %s answers %v; the reference says that it was held: %t", w.whose(es[i].token),
					errs[i], held[i])
			}
		}
		return nil
	})
}

func (w *world) whose(t queue.Token) string {
	if q, m := w.m.held(t); m != nil {
		return fmt.Sprintf("%s/%d", q.name.Short(), m.seq)
	}
	return fmt.Sprintf("stale %d/%d/%d/%d", t.Queue, t.Sequence, t.Serial, t.Epoch)
}

func (w *world) extend() {
	t, ok := w.token()
	if !ok {
		return
	}
	lease := time.Duration(w.random.IntN(25)) * time.Second
	w.say("extend %s by %v", w.whose(t), lease)
	held, exactly := false, false
	done := w.do(false, func() error {
		if q, m := w.m.held(t); m != nil {
			held, exactly = true, q.def.ExactlyOnce
			m.deadline = w.m.now + lease.Microseconds()
		}
		return nil
	}, func() error {
		errs, err := w.s.Extend(context.Background(), []queue.Token{t}, lease)
		if err == nil && errors.Is(errs[0], queue.ErrStale) == held {
			w.wrong("extending answers %v; the reference says that it was held: %t", errs[0], held)
		}
		return err
	})
	if done && exactly { // and with it everything before
		w.past, w.sure = nil, 0
	}
}
