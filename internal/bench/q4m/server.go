package q4m

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Serve opens a store in a folder, with every default, and the MySQL door over it, on a port of loopback that it
// finds. It is for a process of its own, which the q4m bench starts, so that what the server costs and what its clients
// cost are two things, as they are with the peers. It writes served, as a line of JSON, when it listens, and again for
// each line that it reads from in; it ends when in does. args are the flags that the bench gives.
func Serve(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("serve-q4m", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", "", "folder")
	var with harness.Setting
	flags.Int64Var(&with.SegmentBytes, "segment-bytes", 0, "size of the journal's segments")
	flags.Uint64Var(&with.CheckpointBytes, "checkpoint-bytes", 0, "bytes between checkpoints")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("serve-q4m: %w", err)
	}
	if err := serveQ4M(ctx, *dir, with, in, out); err != nil {
		return fmt.Errorf("serve-q4m: %w", err)
	}
	return nil
}

func serveQ4M(ctx context.Context, dir string, with harness.Setting, in io.Reader, out io.Writer) (err error) {
	s, err := harness.OpenDoorServer(ctx, dir, with, newMySQL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	taking := make(chan struct{})
	err = harness.Crowd(ctx, 1+harness.TrafficReaders, func(ctx context.Context, i int) error {
		if i > 0 {
			return takeAway(ctx, s.Rig, taking)
		}
		defer cancel()
		return s.Answer(ctx, in, out, s.Addr, taking)
	})
	if errors.Is(err, context.Canceled) {
		return nil // the bench is done
	}
	return err
}

// takeAway takes whatever is in the measured table, from when it is told until ctx ends.
func takeAway(ctx context.Context, r *harness.Rig, taking <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return nil
	case <-taking:
	}
	for {
		_, err := harness.Drain(ctx, r, queue.Name{Namespace: "test", Name: queueTable}, harness.TrafficGroup,
			time.Second)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
