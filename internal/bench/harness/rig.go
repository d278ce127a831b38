package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Measured is the queue that the benches use.
var Measured = queue.Name{Namespace: queue.DefaultNamespace, Name: "measured"}

// Stuck is a queue that nobody reads.
var Stuck = queue.Name{Namespace: queue.DefaultNamespace, Name: "stuck"}

// Rig is a store over a journal of its own in files, as a server has it, with every default but what its setting says.
type Rig struct {
	Dir     string
	Journal *file.Journal
	Store   *queue.Store
}

// mostWaiting is how many may wait in a store: twice what any experiment lets wait.
const mostWaiting = 20_000_000

// Setting is what an experiment wants otherwise than a server has it.
type Setting struct {
	SegmentBytes    int64
	CheckpointBytes uint64
	Bytes           int64                                 // what all messages may have together; 0: the default
	Looked          func(time.Duration)                   // told how long each claim looked in memory
	Wrap            func(journal.Journal) journal.Journal // nil: the store has the journal itself
}

// OpenRig opens the store in dir, which is made when it is missing.
func OpenRig(ctx context.Context, dir string, with Setting) (*Rig, error) {
	j, err := file.Open(ctx, file.Options{Dir: dir, SegmentBytes: with.SegmentBytes})
	if err != nil {
		return nil, err
	}
	var under journal.Journal = j
	if with.Wrap != nil {
		under = with.Wrap(j)
	}
	limits := queue.Limits{Messages: mostWaiting, Bytes: with.Bytes}
	s, err := queue.Open(ctx, queue.Options{Journal: under, Limits: limits, Looked: with.Looked,
		CheckpointBytes: with.CheckpointBytes, Trace: journey.New(journey.Options{})}) // as serve has it
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return &Rig{dir, j, s}, nil
}

// NewRig opens an empty store in a folder of its own below dir, with the measured queue in it.
func NewRig(ctx context.Context, dir string, d queue.Definition, with Setting) (*Rig, error) {
	sub, err := os.MkdirTemp(dir, "store-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for a store: %w", err)
	}
	r, err := OpenRig(ctx, filepath.Join(sub, "journal"), with)
	if err != nil {
		return nil, JoinCleanup(err, os.RemoveAll(sub))
	}
	if _, err := r.Store.CreateQueue(ctx, Measured, d); err != nil {
		return nil, JoinCleanup(err, r.Remove())
	}
	return r, nil
}

// Close ends the store in the way of a clean stop.
func (r *Rig) Close() error { return errors.Join(r.Store.Close(), r.Journal.Close()) }

// Remove closes the store and takes its files away.
func (r *Rig) Remove() error { return errors.Join(r.Close(), os.RemoveAll(filepath.Dir(r.Dir))) }

// FillGroup is how many messages are put at once where a queue is only to be filled.
const FillGroup = 1000

// Fill puts n messages that next makes into a queue.
func (r *Rig) Fill(ctx context.Context, to queue.Name, n int, next func() message.Message) error {
	group := make([]message.Message, 0, FillGroup)
	for n > 0 {
		group = group[:0]
		for range min(n, FillGroup) {
			group = append(group, next())
		}
		if _, err := r.Store.Put(ctx, to, group); err != nil {
			return fmt.Errorf("fill the queue: %w", err)
		}
		n -= len(group)
	}
	return nil
}

// Drain claims and settles at most so many messages of a queue, for the first of which it waits, and tells how many
// there were.
func Drain(ctx context.Context, r *Rig, from queue.Name, most int, wait time.Duration) (n int, err error) {
	claims, err := r.Store.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: from}}, Max: most, Wait: wait})
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
	results, err := r.Store.Settle(ctx, ends)
	if err := errors.Join(append(results, err)...); err != nil {
		return 0, fmt.Errorf("settle: %w", err)
	}
	return len(claims), nil
}

// StuckEach is of how many messages one goes to the queue that nobody reads: a twentieth.
const StuckEach = 20

// Readers keep up with the writers.
const (
	TrafficReaders = 2
	TrafficGroup   = 100
)
