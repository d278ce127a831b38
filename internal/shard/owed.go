package shard

import "sync"

// owed is what has to be done in other shards for what was done in one, and could not be. The one that it was done in
// has noted it: a start does it, too. Until it is done nobody changes a note and no queue is renamed: it would be done
// in place of what came later.
type owed struct {
	mu   sync.Mutex
	jobs []func() error
}

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

// pay does what is owed.
func (o *owed) pay() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.jobs) > 0 {
		if err := o.jobs[0](); err != nil {
			return err
		}
		o.jobs = o.jobs[1:]
	}
	o.jobs = nil
	return nil
}
