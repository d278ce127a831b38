package shard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// sourceOf is a lane as an origin.
func sourceOf(lane *queue.Definition) string { return "relay " + lane.Labels[labelID] }

// letGo removes from a lane what has arrived, in whatever queue that is by now. It is done before anybody can delete
// one. Where messages have arrived that the lane has not put yet, its shard is from a copy of before: then the lane
// gets another name as an origin, for its numbers come again for others.
func (y *relay) letGo(ctx context.Context, shard int, lane *queue.Stats) error {
	s, source := y.router.stores[shard], sourceOf(&lane.Definition)
	waiting, err := waitingIn(ctx, s, lane)
	if err != nil {
		return err
	}
	var arrived []uint64
	behind := false
	for _, other := range y.router.stores {
		names, err := other.Queues(ctx)
		if err != nil {
			return err
		}
		for _, q := range names {
			taken, next, err := other.TookFrom(ctx, q, source, waiting)
			if err != nil {
				return err
			}
			arrived, behind = append(arrived, taken...), behind || next > lane.NextSequence
		}
	}
	if _, err := s.Remove(ctx, lane.Name, arrived); err != nil || !behind {
		return err
	}
	d := lane.Definition
	d.Labels = maps.Clone(d.Labels)
	d.Labels[labelID] = message.NewID().String()
	return s.AlterQueue(ctx, lane.Name, d)
}

// waitingIn are the sequences of what waits in a lane.
func waitingIn(ctx context.Context, s store, lane *queue.Stats) (waiting []uint64, err error) {
	if lane.Messages() == 0 {
		return nil, nil
	}
	for after := uint64(0); ; {
		ps, err := s.Peek(ctx, lane.Name, queue.PeekRequest{After: after, Max: 1000, NoBody: true})
		if err != nil {
			return nil, err
		}
		for i := range ps {
			waiting = append(waiting, ps[i].Sequence)
		}
		if len(ps) == 0 || !ps[len(ps)-1].More {
			return waiting, nil
		}
		after = ps[len(ps)-1].Sequence
	}
}

// deliveries are the names where the relay has put something that its lane has not let go of. After an end the queue
// says that it has arrived, so it has to be there.
type deliveries struct {
	mu      sync.Mutex
	under   map[queue.Name]int
	held    map[queue.Name]int // nobody begins
	changed chan struct{}      // closed when somebody has left, or holds no longer
}

func newDeliveries() deliveries {
	return deliveries{under: map[queue.Name]int{}, held: map[queue.Name]int{}, changed: make(chan struct{})}
}

// enter waits until nobody holds a name, and says that something is put there.
func (d *deliveries) enter(ctx context.Context, n queue.Name) error {
	return d.wait(ctx, func() bool {
		if d.held[n] > 0 {
			return false
		}
		d.under[n]++
		return true
	})
}

// forget says so of everything: no carrier is at work, and all lanes have let go of what has arrived.
func (d *deliveries) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.under)
	close(d.changed)
	d.changed = make(chan struct{})
}

// leave says so of what is settled or was not put, once for each enter.
func (d *deliveries) leave(names ...queue.Name) { d.change(d.under, names) }

// hold waits until nothing is under way to some names, and lets nothing begin until release is called.
func (d *deliveries) hold(ctx context.Context, names ...queue.Name) (release func(), err error) {
	d.mu.Lock()
	for _, n := range names {
		d.held[n]++
	}
	d.mu.Unlock()
	release = func() { d.change(d.held, names) }
	err = d.wait(ctx, func() bool {
		for _, n := range names {
			if d.under[n] > 0 {
				return false
			}
		}
		return true
	})
	if err != nil {
		release()
		return nil, fmt.Errorf("what was brought from another shard is not settled there yet: %w", err)
	}
	return release, nil
}

func (d *deliveries) change(counts map[queue.Name]int, names []queue.Name) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range names {
		if counts[n]--; counts[n] == 0 {
			delete(counts, n)
		}
	}
	close(d.changed)
	d.changed = make(chan struct{})
}

// wait waits until ok is true. It is asked with the lock held.
func (d *deliveries) wait(ctx context.Context, ok func() bool) error {
	for {
		d.mu.Lock()
		done, changed := ok(), d.changed
		d.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// still lets the relay put nothing into a queue or topic, and waits until its lanes have let go of what it has put
// there, until release is called. Then it may be deleted.
func (r *Router) still(ctx context.Context, n queue.Name) (release func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.closing, cancel)()
	names := []queue.Name{n}
	d, _, err := r.Definition(ctx, n)
	if topic, wrong := queue.ParseName(d.Topic); err == nil && d.Topic != "" && wrong == nil {
		names = append(names, r.Resolve(topic))
	} else if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return nil, err
	}
	release, err = r.relay.on.hold(ctx, names...)
	if err != nil && r.closing.Err() != nil {
		err = queue.ErrClosed
	}
	return release, err
}
