package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// copier writes as much as somebody else does, as cleaning does beside the log: a chunk at a time, synced now and then.
type copier struct {
	log   *harness.RawLog
	model func() int64 // bytes that the other has written so far
	wrote int64
}

// What a copier writes at once, and how much between two syncs.
const (
	copyChunk = 64 << 10
	copySync  = 4 << 20
)

// never is when a chunk is due that is not.
const never = 24 * time.Hour

// Run writes what the other is ahead, evenly over d, until ctx ends, which is no error.
func (c *copier) Run(ctx context.Context, d time.Duration) error {
	chunk := make([]byte, copyChunk)
	for i := range chunk {
		chunk[i] = byte(i*5 + 1)
	}
	began, first := time.Now(), c.wrote
	ahead := c.model() - first
	unsynced := 0
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		due := never
		if after := c.wrote - first + copyChunk; after <= ahead {
			due = time.Duration(float64(d) * float64(after) / float64(ahead))
		}
		pause.Reset(due - time.Since(began))
		select {
		case <-ctx.Done():
			return c.log.Sync()
		case <-pause.C:
		}
		if err := c.log.Write(chunk); err != nil {
			return err
		}
		c.wrote += copyChunk
		if unsynced += copyChunk; unsynced >= copySync {
			unsynced = 0
			if err := c.log.Sync(); err != nil {
				return err
			}
		}
	}
}

// besideCopier is somebody who writes with a copier at work.
type besideCopier struct {
	writer harness.Side
	copier *copier
}

func (b *besideCopier) Run(ctx context.Context, d time.Duration) (s harness.Sample, err error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	copied := make(chan error, 1)
	go func() { copied <- b.copier.Run(inner, d) }()
	s, err = b.writer.Run(ctx, d)
	stop()
	if err := errors.Join(err, <-copied); err != nil {
		return harness.Sample{}, err
	}
	return s, nil
}

// newCopier returns a copier with a file of its own in a new folder of dir.
func newCopier(ctx context.Context, dir string, model func() int64) (c *copier, remove func() error, err error) {
	sub, err := os.MkdirTemp(dir, "copier-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for a copier: %w", err)
	}
	log, err := harness.NewRawLog(ctx, sub)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(sub))
	}
	return &copier{log: log, model: model}, func() error { return errors.Join(log.Close(), os.RemoveAll(sub)) }, nil
}
