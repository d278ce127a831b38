package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// defining makes definitions, each in the shard where it has to be.
type defining struct {
	router *Router
	by     func(shard int) queue.Definer
}

func (r *Router) plainly() defining {
	return defining{r, func(shard int) queue.Definer { return r.stores[shard] }}
}

// Configured implements queue.Service.
func (r *Router) Configured() queue.Definer {
	return defining{r, func(shard int) queue.Definer { return r.stores[shard].Configured() }}
}

// CreateQueue implements queue.Service. A subscription is made where its topic is, any other queue where its name says.
func (r *Router) CreateQueue(ctx context.Context, n queue.Name, d queue.Definition) (created bool, err error) {
	return r.plainly().CreateQueue(ctx, n, d)
}

// AlterQueue implements queue.Service.
func (r *Router) AlterQueue(ctx context.Context, n queue.Name, d queue.Definition) error {
	return r.plainly().AlterQueue(ctx, n, d)
}

// CreateTopic implements queue.Service.
func (r *Router) CreateTopic(ctx context.Context, n queue.Name, labels map[string]string) (created bool, err error) {
	return r.plainly().CreateTopic(ctx, n, labels)
}

// CreateQueue makes a queue.
func (d defining) CreateQueue(ctx context.Context, n queue.Name, def queue.Definition) (created bool, err error) {
	r := d.router
	if err := r.checkDead(&def); err != nil {
		return false, err
	}
	n = r.Resolve(n)
	unlock, err := lock(ctx, r.naming, n)
	if err != nil {
		return false, err
	}
	defer unlock()
	for {
		shard, s, err := r.of(n)
		if err != nil {
			return false, err
		}
		topic, err := queue.ParseName(def.Topic)
		if def.Topic == "" || err != nil { // what is wrong with it the store says
			created, err := d.by(shard).CreateQueue(ctx, n, def)
			if errors.Is(err, queue.ErrElsewhere) && pauseMoved(ctx) {
				continue
			}
			return created, err
		}
		if !strings.Contains(def.Topic, "/") {
			topic.Namespace = n.Namespace
		}
		there, err := s.Has(ctx, n)
		if err != nil {
			return false, err
		}
		if home := r.places.topic(r.Resolve(topic)); !there && home != shard {
			created, err = d.subscribe(ctx, n, def, home)
		} else {
			created, err = d.by(shard).CreateQueue(ctx, n, def)
		}
		if errors.Is(err, queue.ErrElsewhere) && pauseMoved(ctx) {
			continue
		}
		return created, err
	}
}

// subscribe makes a queue in the shard of its topic, which is not that where the queue would be by its name.
func (d defining) subscribe(ctx context.Context, n queue.Name, def queue.Definition, home int) (created bool,
	err error) {
	r := d.router
	back, err := r.move(ctx, n, home)
	if err != nil {
		return false, err
	}
	created, err = d.by(home).CreateQueue(ctx, n, def)
	if err != nil && !created && !errors.Is(err, queue.ErrUnavailable) { // else nobody knows whether it is there
		back()
	}
	return created, err
}

// move lets everybody look for a queue, which is not there yet, in a shard; back takes that back, if it is not there
// then. An error says that it was there after all: who put a message made it.
func (r *Router) move(ctx context.Context, n queue.Name, home int) (back func(), err error) {
	err = r.decide(ctx, n, func(there bool) error {
		if there {
			return takenError("queue", n)
		}
		r.places.set(n, home)
		return nil
	})
	return func() { r.leave(ctx, n) }, err
}

// leave lets a queue that is no more be looked for where its name says. Where somebody has made another one meanwhile
// that one stays.
func (r *Router) leave(ctx context.Context, n queue.Name) {
	_ = r.decide(context.WithoutCancel(ctx), n, func(there bool) error { // else it is looked for where it was
		if !there {
			r.places.forget(n)
		}
		return nil
	})
}

// decide lets to say where a queue is. Meanwhile nobody makes it, nor queues of its dead letters, which are looked for
// beside it: those that are there stay where they are.
func (r *Router) decide(ctx context.Context, n queue.Name, to func(there bool) error) error {
	names := []queue.Name{n}
	for dead := n; ; names = append(names, dead) {
		if dead.Name += queue.DeadEnding; dead.Check() != nil {
			break
		}
	}
	defer r.places.hold(names)()
	for _, dead := range names[1:] {
		shard := r.places.queue(dead)
		there, err := r.stores[shard].Has(ctx, dead)
		if err != nil {
			return err
		}
		if there {
			r.places.set(dead, shard)
		}
	}
	there, err := r.stores[r.places.queue(n)].Has(ctx, n)
	if err != nil {
		return err
	}
	return to(there)
}

// AlterQueue alters a queue.
func (d defining) AlterQueue(ctx context.Context, n queue.Name, def queue.Definition) error {
	shard, _, err := d.router.of(n)
	if err = cmp.Or(err, d.router.checkDead(&def)); err != nil {
		return err
	}
	return d.by(shard).AlterQueue(ctx, n, def)
}

// CreateTopic makes a topic.
func (d defining) CreateTopic(ctx context.Context, n queue.Name, labels map[string]string) (created bool, err error) {
	r := d.router
	n = r.Resolve(n)
	if reserved(n) {
		return false, errReserved(n)
	}
	return through(ctx, r.naming, []queue.Name{n}, func(ctx context.Context) (bool, error) {
		created, err := d.by(r.places.topic(n)).CreateTopic(ctx, n, labels)
		return created, errors.Join(err, r.lookForTopic(ctx, n))
	})
}

// lookForTopic sees whether there is a topic: after an error there may be one all the same.
func (r *Router) lookForTopic(ctx context.Context, n queue.Name) error {
	there, err := r.topicOf(n).HasTopic(ctx, n)
	if err == nil {
		r.places.setTopic(n, there)
	}
	return err
}

// AlterColumns implements queue.Service.
func (r *Router) AlterColumns(ctx context.Context, n queue.Name, d queue.Definition, from []int, version uint64) error {
	_, s, err := r.of(n)
	if err = cmp.Or(err, r.checkDead(&d)); err != nil {
		return err
	}
	return s.AlterColumns(ctx, n, d, from, version)
}

// DeleteQueue implements queue.Service.
func (r *Router) DeleteQueue(ctx context.Context, n queue.Name) error {
	n = r.Resolve(n)
	if _, _, err := r.of(n); err != nil {
		return err
	}
	release, err := r.still(ctx, n)
	if err != nil {
		return err
	}
	defer release()
	unlock, err := lock(ctx, r.naming, n)
	if err != nil {
		return err
	}
	defer unlock()
	_, s, err := r.of(n)
	if err != nil {
		return err
	}
	if err := s.DeleteQueue(ctx, n); err != nil {
		return err
	}
	r.leave(ctx, n)
	return nil
}

// DeleteTopic implements queue.Service.
func (r *Router) DeleteTopic(ctx context.Context, n queue.Name) error {
	n = r.Resolve(n)
	release, err := r.still(ctx, n)
	if err != nil {
		return err
	}
	defer release()
	_, err = through(ctx, r.naming, []queue.Name{n}, func(ctx context.Context) (struct{}, error) {
		err := r.topicOf(n).DeleteTopic(ctx, n)
		return struct{}{}, errors.Join(err, r.lookForTopic(ctx, n))
	})
	return err
}

// TakeSnapshot implements queue.Service. The snapshot is in the shard of its queue.
func (r *Router) TakeSnapshot(ctx context.Context, name, of queue.Name, o queue.SnapshotOptions) (sn queue.Snapshot,
	err error) {
	shard, s, err := r.of(of)
	if err != nil {
		return sn, err
	}
	return through(ctx, r.snapshots, []queue.Name{r.Resolve(name)}, func(ctx context.Context) (queue.Snapshot, error) {
		other, err := r.snapshotAt(ctx, name)
		if err != nil {
			return sn, err
		}
		if other >= 0 && other != shard {
			if there, err := s.Has(ctx, of); err != nil || there {
				return sn, cmp.Or(err, fmt.Errorf("%w: %s", queue.ErrSnapshot, name.Short()))
			}
		}
		return s.TakeSnapshot(ctx, name, of, o)
	})
}

// DeleteSnapshot implements queue.Service.
func (r *Router) DeleteSnapshot(ctx context.Context, name queue.Name) error {
	shard, err := r.snapshotAt(ctx, name)
	if err != nil {
		return err
	}
	return r.stores[max(0, shard)].DeleteSnapshot(ctx, name)
}

// snapshotAt is the shard of a snapshot; -1: there is none of that name.
func (r *Router) snapshotAt(ctx context.Context, name queue.Name) (shard int, err error) {
	name = r.Resolve(name)
	for i, s := range r.stores {
		there, err := s.HasSnapshot(ctx, name)
		if err != nil {
			return -1, err
		}
		if there {
			return i, nil
		}
	}
	return -1, nil
}

// Seek implements queue.Service.
func (r *Router) Seek(ctx context.Context, n queue.Name, to queue.SeekTo) (queue.Sought, error) {
	shard, s, err := r.of(n)
	if err != nil {
		return queue.Sought{}, err
	}
	if to.Snapshot != (queue.Name{}) {
		other, err := r.snapshotAt(ctx, to.Snapshot)
		if err != nil {
			return queue.Sought{}, err
		}
		if other >= 0 && other != shard { // subscriptions of one topic are in one shard
			if there, err := s.Has(ctx, n); err != nil || there {
				return queue.Sought{}, cmp.Or(err, fmt.Errorf("%w: snapshot %s is of a queue that has no topic in "+
					"common with %s", queue.ErrDefinition, to.Snapshot.Short(), n.Short()))
			}
		}
	}
	return s.Seek(ctx, n, to)
}

// Purge implements queue.Service.
func (r *Router) Purge(ctx context.Context, n queue.Name) (int, error) {
	_, s, err := r.of(n)
	if err != nil {
		return 0, err
	}
	return s.Purge(ctx, n)
}

// Remove implements queue.Service.
func (r *Router) Remove(ctx context.Context, n queue.Name, sequences []uint64) (removed int, err error) {
	_, s, err := r.of(n)
	if err != nil {
		return 0, err
	}
	return s.Remove(ctx, n, sequences)
}

// Replay implements queue.Service. What goes to another shard goes by the relay.
func (r *Router) Replay(ctx context.Context, n queue.Name, q queue.ReplayRequest) (queue.Replayed, error) {
	shard, s, err := r.of(n)
	if err != nil {
		return queue.Replayed{}, err
	}
	if reserved(r.Resolve(q.To)) {
		return queue.Replayed{}, errReserved(q.To)
	}
	if q.Existing && q.To != (queue.Name{}) {
		if _, _, err := r.Definition(ctx, q.To); err != nil {
			return queue.Replayed{}, err
		}
	}
	q.Home = r.nowCalled
	moved := 0
	for {
		some, err := s.Replay(ctx, n, q)
		moved += some.Moved
		if q.Max > 0 {
			q.Max -= some.Moved
		}
		if !errors.Is(err, queue.ErrElsewhere) || !pauseMoved(ctx) {
			some.Moved = moved
			return some, r.leadNamed(ctx, shard, err)
		}
	}
}

// leadNamed is the error of a shard in which a full lane has the name of where it leads.
func (r *Router) leadNamed(ctx context.Context, shard int, err error) error {
	var full *queue.FullError
	if !errors.As(err, &full) || !reserved(full.Name) {
		return err
	}
	d, _, failed := r.stores[shard].Definition(ctx, full.Name)
	to, _, wrong := leadsTo(&d)
	if failed != nil || wrong != nil {
		return err
	}
	return onTheWay(to, full)
}

// onTheWay says that no more may wait in the lane to a queue.
func onTheWay(to queue.Name, full *queue.FullError) error {
	return &queue.FullError{Name: to, Bound: full.Bound + " on their way to it", Limit: full.Limit}
}
