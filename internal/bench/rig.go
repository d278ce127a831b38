package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// measured is the queue that the benches use.
var measured = queue.Name{Namespace: queue.DefaultNamespace, Name: "measured"}

// stuck is a queue that nobody reads.
var stuck = queue.Name{Namespace: queue.DefaultNamespace, Name: "stuck"}

// rig is a store over a journal of its own in files, as a server has it, with every default but what its setting says.
type rig struct {
	dir     string
	journal *file.Journal
	store   *queue.Store
}

// mostWaiting is how many may wait in a store: twice what any experiment lets wait.
const mostWaiting = 20_000_000

// setting is what an experiment wants otherwise than a server has it.
type setting struct {
	segmentBytes    int64
	checkpointBytes uint64
	looked          func(time.Duration)                   // told how long each claim looked in memory
	wrap            func(journal.Journal) journal.Journal // nil: the store has the journal itself
}

// openRig opens the store in dir, which is made when it is missing.
func openRig(ctx context.Context, dir string, with setting) (*rig, error) {
	j, err := file.Open(ctx, file.Options{Dir: dir, SegmentBytes: with.segmentBytes})
	if err != nil {
		return nil, err
	}
	var under journal.Journal = j
	if with.wrap != nil {
		under = with.wrap(j)
	}
	limits := queue.Limits{Messages: mostWaiting}
	s, err := queue.Open(ctx, queue.Options{Journal: under, Limits: limits, Looked: with.looked,
		CheckpointBytes: with.checkpointBytes})
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return &rig{dir, j, s}, nil
}

// newRig opens an empty store in a folder of its own below dir, with the measured queue in it.
func newRig(ctx context.Context, dir string, d queue.Definition, with setting) (*rig, error) {
	sub, err := os.MkdirTemp(dir, "store-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for a store: %w", err)
	}
	r, err := openRig(ctx, filepath.Join(sub, "journal"), with)
	if err != nil {
		return nil, joinCleanup(err, os.RemoveAll(sub))
	}
	if _, err := r.store.CreateQueue(ctx, measured, d); err != nil {
		return nil, joinCleanup(err, r.remove())
	}
	return r, nil
}

// close ends the store in the way of a clean stop.
func (r *rig) close() error { return errors.Join(r.store.Close(), r.journal.Close()) }

// remove closes the store and takes its files away.
func (r *rig) remove() error { return errors.Join(r.close(), os.RemoveAll(filepath.Dir(r.dir))) }

// fillGroup is how many messages are put at once where a queue is only to be filled.
const fillGroup = 1000

// fill puts n messages that next makes into a queue.
func (r *rig) fill(ctx context.Context, to queue.Name, n int, next func() message.Message) error {
	group := make([]message.Message, 0, fillGroup)
	for n > 0 {
		group = group[:0]
		for range min(n, fillGroup) {
			group = append(group, next())
		}
		if _, err := r.store.Put(ctx, to, group); err != nil {
			return fmt.Errorf("fill the queue: %w", err)
		}
		n -= len(group)
	}
	return nil
}

// drain claims and settles at most so many messages of a queue, for the first of which it waits, and tells how many
// there were.
func drain(ctx context.Context, r *rig, from queue.Name, most int, wait time.Duration) (n int, err error) {
	claims, err := r.store.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: from}}, Max: most, Wait: wait})
	if err != nil {
		return 0, fmt.Errorf("claim: %w", err)
	}
	if len(claims) == 0 {
		return 0, nil
	}
	ends := make([]queue.Settlement, len(claims))
	for i, c := range claims {
		ends[i] = queue.Settlement{Token: c.Token, Kind: queue.Done}
	}
	results, err := r.store.Settle(ctx, ends)
	if err := errors.Join(append(results, err)...); err != nil {
		return 0, fmt.Errorf("settle: %w", err)
	}
	return len(claims), nil
}

// stuckEach is of how many messages one goes to the queue that nobody reads: a twentieth.
const stuckEach = 20

// Readers keep up with the writers.
const (
	trafficReaders = 2
	trafficGroup   = 100
)
