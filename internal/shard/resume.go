package shard

import (
	"context"
	"errors"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// guard has a shard be opened again when its journal has failed and may be, while the others serve. It returns when the
// Router closes, or when it tells that a shard is lost for good.
func (r *Router) guard(shard int, j journal.Journal) {
	for {
		select {
		case <-r.closing.Done():
			return
		case <-j.Failed():
		}
		why := j.Health()
		l := r.slots[shard]
		if r.reopen == nil || shard == notesShard || !errors.Is(why, journal.ErrReopen) {
			r.lost(shard, why) // what is in memory of notes may not be so any more: all begin anew
			return
		}
		l.leave(why)
		r.told(shard, why)
		_ = l.now.Load().store.Close() // it has said to every caller that its journal has failed
		next, err := r.back(shard, j, why)
		switch {
		case r.closing.Err() != nil:
			return
		case err != nil:
			r.lost(shard, err)
			return
		}
		r.told(shard, nil)
		j = next
	}
}

// back opens a shard's journal again, and its store, and has it serve.
func (r *Router) back(shard int, j journal.Journal, why error) (journal.Journal, error) {
	for {
		next, err := r.reopen(r.closing, shard, j, why)
		if err != nil {
			return nil, err
		}
		if err = r.resume(r.closing, shard, next); err == nil {
			return next, nil
		}
		if !errors.Is(err, journal.ErrReopen) {
			return nil, err
		}
		j, why = next, err
		r.slots[shard].leave(why)
	}
}

// A shard may need another one that is away, too, and waits so long until it looks again, and altogether.
const (
	resumeAgain = 50 * time.Millisecond
	resumeMost  = time.Minute
)

// resume has a shard serve over a journal that was opened again. Before that it does what a start does: nothing that
// has arrived is carried again, and what the shard had to tell others is told. So the relay stands still meanwhile.
func (r *Router) resume(ctx context.Context, shard int, j journal.Journal) error {
	begin := make(chan struct{})
	s, err := r.openStore(ctx, shard, j, begin)
	if err != nil {
		return err
	}
	l := r.slots[shard]
	l.prepare(s)
	// Two that come back need each other's store, so all of them are open by now.
	unlock, err := lock(ctx, r.resuming, 0)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	defer unlock()
	ctx = within(ctx)
	err = r.settleAll(ctx, shard, j)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	l.serve()
	close(begin)
	r.relay.goOn()
	return nil
}

// settleAll does what is to be done before a shard serves again. It tries until that is done, or its journal has
// failed again, or ctx ends.
func (r *Router) settleAll(ctx context.Context, shard int, j journal.Journal) error {
	r.relay.quiet()
	for until := time.Now().Add(resumeMost); ; {
		err := r.settleShard(ctx, shard)
		if err == nil {
			return nil
		}
		select {
		case <-j.Failed():
			err = errors.Join(err, j.Health())
		case <-ctx.Done():
		case <-time.After(resumeAgain):
			if time.Now().Before(until) {
				continue
			}
		}
		r.relay.goOn()
		return err
	}
}

func (r *Router) settleShard(ctx context.Context, shard int) error {
	if err := r.lookAt(ctx, shard); err != nil {
		return err
	}
	if err := r.notePendingOf(ctx, shard); err != nil {
		return err
	}
	if err := r.tellPendingOf(ctx, shard); err != nil {
		return err
	}
	return r.relay.settleLanes(ctx)
}

// lookAt finds what is in a shard by now: of a definition whose group had an unknown fate nobody else knows.
func (r *Router) lookAt(ctx context.Context, shard int) error {
	s := r.stores[shard]
	topics, err := s.Topics(ctx)
	if err != nil {
		return err
	}
	r.places.setTopics(shard, topics)
	names, err := s.Queues(ctx)
	if err != nil {
		return err
	}
	for _, n := range names {
		if !reserved(n) && r.places.queue(n) != shard {
			r.places.set(n, shard)
		}
	}
	return nil
}

// unknown notes that nobody knows whether something was done in a shard that has to be told in others: nothing that
// could come after it is done before the shard is back and has told.
// before is who had the shard when it was asked.
func (r *Router) unknown(shard int, before *tenure, err error) {
	if err == nil || !errors.Is(err, queue.ErrUnavailable) || before.away != nil && errors.Is(err, before.away) {
		return // it was done, or refused, or nobody was asked
	}
	l := r.slots[shard]
	_ = r.owed.do(func() error { return l.serves(before) })
}
