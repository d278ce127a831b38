package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// ServeQ4M opens a store in a folder, with every default, and the MySQL door over it, on a port of loopback that it
// finds. It is for a process of its own, which the q4m bench starts, so that what the server costs and what its clients
// cost are two things, as they are with the peers. It writes served, as a line of JSON, when it listens, and again for
// each line that it reads from in; it ends when in does. args are the flags that the bench gives.
func ServeQ4M(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("serve-q4m", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", "", "folder")
	var with setting
	flags.Int64Var(&with.segmentBytes, "segment-bytes", 0, "size of the journal's segments")
	flags.Uint64Var(&with.checkpointBytes, "checkpoint-bytes", 0, "bytes between checkpoints")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("serve-q4m: %w", err)
	}
	if err := serveQ4M(ctx, *dir, with, in, out); err != nil {
		return fmt.Errorf("serve-q4m: %w", err)
	}
	return nil
}

func serveQ4M(ctx context.Context, dir string, with setting, in io.Reader, out io.Writer) (err error) {
	s, err := openDoorServer(ctx, dir, with, newMySQL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	taking := make(chan struct{})
	err = crowd(ctx, 1+trafficReaders, func(ctx context.Context, i int) error {
		if i > 0 {
			return s.takeAway(ctx, taking)
		}
		defer cancel()
		return s.answer(in, out, s.addr, taking)
	})
	if errors.Is(err, context.Canceled) {
		return nil // the bench is done
	}
	return err
}

// takeAway takes whatever is in the measured table, from when it is told until ctx ends.
func (r *rig) takeAway(ctx context.Context, taking <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return nil
	case <-taking:
	}
	for {
		_, err := drain(ctx, r, queue.Name{Namespace: "test", Name: queueTable}, trafficGroup, time.Second)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
