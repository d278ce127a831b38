package pubsub

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// lookEvery is how often the door looks for what is over: subscriptions that nobody uses, snapshots that were to end
// sooner, and notes of what other doors have deleted.
const lookEvery = time.Minute

// usage remembers when subscriptions were used last, since the start of the process: a restart lengthens their lives
// and never shortens them.
type usage struct {
	mu   sync.Mutex
	last map[queue.Name]lastUse
}

type lastUse struct {
	at     time.Time
	claims uint64 // of the queue then, by whatever door
}

// used notes that somebody works with a subscription.
func (d *Server) used(n queue.Name) {
	d.usage.mu.Lock()
	defer d.usage.mu.Unlock()
	u := d.usage.last[n]
	u.at = d.now()
	if d.usage.last == nil {
		d.usage.last = map[queue.Name]lastUse{}
	}
	d.usage.last[n] = u
}

// notedNames lists what there are notes of.
func (d *Server) notedNames(ctx context.Context, kind string) (names []queue.Name, err error) {
	keys, err := d.store.NoteKeys(ctx, room, kind+"/")
	for _, key := range keys {
		if n, err := queue.ParseName(key[len(kind)+1:]); err == nil {
			names = append(names, n)
		}
	}
	return names, err
}

// detachedNames lists the subscriptions that are detached.
func (d *Server) detachedNames(ctx context.Context) (names []queue.Name, err error) {
	all, err := d.notedNames(ctx, kindSubscription)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		if _, _, err := d.store.Definition(ctx, n); err == nil {
			continue
		} else if !errors.Is(err, queue.ErrNotFound) {
			return nil, err
		}
		note := new(pubsubpb.Subscription)
		if _, err := d.recall(ctx, noteKey(kindSubscription, n), note); err != nil {
			return nil, err
		} else if note.Detached {
			names = append(names, n)
		}
	}
	return names, nil
}

// keepHouse looks for what is over until the door closes.
func (d *Server) keepHouse() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if err := d.tidy(d.stopping); err != nil && d.stopping.Err() == nil {
			d.report(err)
		}
		select {
		case <-ticker.C:
		case <-d.stopping.Done():
			return
		}
	}
}

// tidy deletes the subscriptions that were not used for as long as their policies say, and snapshots that have ended,
// and forgets notes of what is not there any more. What an update of a topic had not come to, it does.
func (d *Server) tidy(ctx context.Context) error {
	d.admin.Lock()
	defer d.admin.Unlock()
	return cmp.Or(d.expire(ctx), d.endSnapshots(ctx), d.forgetGone(ctx), d.keepAllHistories(ctx))
}

// keepAllHistories is keepHistories for all topics.
func (d *Server) keepAllHistories(ctx context.Context) error {
	all, err := d.store.Topics(ctx)
	for _, n := range all {
		if err := d.keepHistories(ctx, resource{n.Namespace, kindTopic, n.Name}); err != nil && !isNotFound(err) {
			return err
		}
	}
	return err
}

func (d *Server) expire(ctx context.Context) error {
	all, err := d.store.Queues(ctx)
	if err != nil {
		return err
	}
	for _, n := range all {
		sub, err := d.subscription(ctx, resource{n.Namespace, kindSubscription, n.Name})
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		ttl := sub.note.GetExpirationPolicy().GetTtl().AsDuration()
		if sub.note == nil || ttl <= 0 {
			continue
		}
		if idle, err := d.idle(ctx, n, ttl); err != nil {
			return err
		} else if !idle {
			continue
		}
		if err := d.remove(ctx, sub); err != nil {
			return err
		}
	}
	return nil
}

// idle tells whether nobody has used a subscription for so long. Taking messages from it counts, by whatever door, as
// does waiting for some.
func (d *Server) idle(ctx context.Context, n queue.Name, ttl time.Duration) (bool, error) {
	st, err := d.store.Stats(ctx, n)
	if errors.Is(err, queue.ErrNotFound) {
		return false, nil // deleted meanwhile
	}
	if err != nil {
		return false, err
	}
	d.usage.mu.Lock()
	defer d.usage.mu.Unlock()
	u, ok := d.usage.last[n]
	if !ok || st.TotalClaims != u.claims || st.Waiters > 0 {
		u = lastUse{at: d.now(), claims: st.TotalClaims}
	}
	if d.usage.last == nil {
		d.usage.last = map[queue.Name]lastUse{}
	}
	d.usage.last[n] = u
	return d.now().Sub(u.at) >= ttl, nil
}

// forgetGone forgets what is known of things that other doors, or time, have deleted.
func (d *Server) forgetGone(ctx context.Context) error {
	// The notes are read first: what is made after that has none among them.
	noted := map[string]string{} // keys of notes, and those of what they are of
	for _, kind := range []string{kindTopic, kindSubscription, kindSnapshot} {
		for _, of := range []string{"", policies} {
			names, err := d.notedNames(ctx, of+kind)
			if err != nil {
				return err
			}
			for _, n := range names {
				noted[of+noteKey(kind, n)] = noteKey(kind, n)
			}
		}
	}
	there, err := d.noteworthy(ctx)
	if err != nil {
		return err
	}
	var gone []string
	for key, of := range noted {
		if !there[key] && !there[of] {
			gone = append(gone, key)
		}
	}
	d.usage.mu.Lock()
	for n := range d.usage.last {
		if !there[noteKey(kindSubscription, n)] {
			delete(d.usage.last, n)
		}
	}
	d.usage.mu.Unlock()
	if len(gone) == 0 {
		return nil
	}
	slices.Sort(gone)
	kept, err := d.kept(ctx, gone...)
	if err != nil {
		return err
	}
	if there, err = d.noteworthy(ctx); err != nil { // what was made anew has its note
		return err
	}
	kept = slices.DeleteFunc(kept, func(is queue.NoteIs) bool { return there[is.Key] || there[noted[is.Key]] })
	if err = d.forget(ctx, kept); errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// noteworthy are the keys of notes of what there is.
func (d *Server) noteworthy(ctx context.Context) (map[string]bool, error) {
	there := map[string]bool{}
	queues, err := d.store.Queues(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range queues {
		there[noteKey(kindSubscription, n)] = true
		there[policyKey(resource{kind: kindTopic}, n)] = true // it may be its own topic
	}
	topics, err := d.store.Topics(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range topics {
		there[noteKey(kindTopic, n)] = true
	}
	snapshots, err := d.store.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range snapshots {
		there[noteKey(kindSnapshot, s.Name)] = true
	}
	detached, err := d.detachedNames(ctx)
	for _, n := range detached {
		there[noteKey(kindSubscription, n)] = true
	}
	return there, err
}
