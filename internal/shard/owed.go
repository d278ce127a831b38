package shard

import (
	"context"
	"sync"
)

// owed is what has to be done in other shards for what was done in one, and could not be. The one that it was done in
// has noted it: a start does it, too. Until it is done nobody changes a note and no queue is renamed: it would be done
// in place of what came later.
type owed struct {
	paying stripes // one: who does it
	mu     sync.Mutex
	jobs   []func() error
}

func newOwed() owed { return owed{paying: newStripes(1)} }

// do does a job, now or before what comes next.
func (o *owed) do(job func() error) error {
	err := job()
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.jobs = append(o.jobs, job)
	}
	return err
}

// pay does what is owed. When ctx ends it returns, and what it does goes on.
func (o *owed) pay(ctx context.Context) error {
	if o.first() == nil {
		return nil
	}
	_, err := through(ctx, o.paying, []int{0}, func(context.Context) (struct{}, error) {
		for job := o.first(); job != nil; job = o.first() {
			if err := job(); err != nil {
				return struct{}{}, err
			}
			o.mu.Lock()
			o.jobs = o.jobs[1:]
			o.mu.Unlock()
		}
		return struct{}{}, nil
	})
	return err
}

// first is what is to be done next; nil: nothing is owed.
func (o *owed) first() func() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.jobs) == 0 {
		o.jobs = nil
		return nil
	}
	return o.jobs[0]
}
