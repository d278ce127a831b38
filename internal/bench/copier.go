package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// copier writes as much as somebody else does, as cleaning does beside the log: a chunk at a time, synced now and then.
type copier struct {
	log   *rawLog
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

// run writes what the other is ahead, evenly over d, until ctx ends, which is no error.
func (c *copier) run(ctx context.Context, d time.Duration) error {
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
			return c.log.sync()
		case <-pause.C:
		}
		if err := c.log.write(chunk); err != nil {
			return err
		}
		c.wrote += copyChunk
		if unsynced += copyChunk; unsynced >= copySync {
			unsynced = 0
			if err := c.log.sync(); err != nil {
				return err
			}
		}
	}
}

// besideCopier is somebody who writes with a copier at work.
type besideCopier struct {
	writer side
	copier *copier
}

func (b *besideCopier) run(ctx context.Context, d time.Duration) (s sample, err error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	copied := make(chan error, 1)
	go func() { copied <- b.copier.run(inner, d) }()
	s, err = b.writer.run(ctx, d)
	stop()
	if err := errors.Join(err, <-copied); err != nil {
		return sample{}, err
	}
	return s, nil
}

// newCopier returns a copier with a file of its own in a new folder of dir.
func newCopier(ctx context.Context, dir string, model func() int64) (c *copier, remove func() error, err error) {
	sub, err := os.MkdirTemp(dir, "copier-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for a copier: %w", err)
	}
	log, err := newRawLog(ctx, sub)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(sub))
	}
	return &copier{log: log, model: model}, func() error { return errors.Join(log.close(), os.RemoveAll(sub)) }, nil
}
