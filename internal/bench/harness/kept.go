package harness

import (
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// Kept counts the syncs that a server makes while a side works. Whoever says that what a side did is durable has them
// counted: a server that keeps nothing, or does not wait for the disk, is fast. A nil Kept is for a server whose syncs
// nobody can count; it counts none and fails never.
type Kept struct {
	count func() (uint64, error) // of all syncs so far
	syncs uint64

	mu    sync.Mutex // guards what follows
	last  time.Time  // when the last call of apart was answered; zero: nothing is counted now
	apart int64      // calls of which no two overlap
}

// Keeping counts the syncs of a server; of nil: none.
func Keeping(server *Child) *Kept {
	if server == nil {
		return nil
	}
	return KeptBy(func() (uint64, error) {
		s, err := server.Say(SayStats)
		return s.Journal.Syncs, err
	})
}

// KeptBy counts the syncs that count tells, which are all so far.
func KeptBy(count func() (uint64, error)) *Kept { return &Kept{count: count} }

// During counts while something is done. What is timed is timed within.
func (k *Kept) During(do func() error) error {
	if k == nil {
		return do()
	}
	before, err := k.count()
	if err != nil {
		return err
	}
	k.mark(time.Now())
	err = do()
	k.mark(time.Time{})
	if err != nil {
		return err
	}
	after, err := k.count()
	k.syncs += after - before
	return err
}

func (k *Kept) mark(last time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = last
}

// Answered notes that a call was answered, now, which was begun then and waits for a sync. Calls that overlap may share
// one, however many they are; a call that began when another had been answered waits for one of its own. As calls come
// in the order of their answers, no choice among them has more that do not overlap than the one that is counted here.
func (k *Kept) Answered(began time.Time) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.last.IsZero() && began.After(k.last) {
		k.apart++
		k.last = time.Now()
	}
}

// CheckApart fails when there were fewer syncs than answered calls of which no two overlap, or no such call at all. It
// is for those who cannot say how many calls there are at once.
func (k *Kept) CheckApart(name string) error {
	if k == nil {
		return nil
	}
	if k.apart > 0 && int64(k.syncs) >= k.apart {
		return nil
	}
	return fmt.Errorf("the row of %s says that what it did is durable; of its calls %d did not overlap and so share "+
		"no sync, and the server made %d", name, k.apart, k.syncs)
}

// Check is CheckSyncs of what was counted.
func (k *Kept) Check(name string, calls int64, clients int) error {
	if k == nil {
		return nil
	}
	return CheckSyncs(name, calls, clients, k.syncs)
}

// CheckSyncs fails when there were fewer syncs than the calls of a case need, which so many clients make: each call
// waits for a sync, which it shares with one call of each other client at the most.
func CheckSyncs(name string, calls int64, clients int, syncs uint64) error {
	least := (calls + int64(clients) - 1) / int64(clients)
	if int64(syncs) >= least {
		return nil
	}
	return fmt.Errorf("the row of %s says that what %d calls of %d clients did is durable, and the server made "+
		"%d syncs: %d are the least", name, calls, clients, syncs, least)
}

// Tell sets the syncs in a row.
func (k *Kept) Tell(r *measure.Row) {
	if k != nil {
		r.Set("syncs", int64(k.syncs))
	}
}
