package sqs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/hikyaku/hikyaku/internal/api/sqs"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Serve opens a store in a folder, with every default, and the SQS door over it, on a port of loopback that it
// finds. It is for a process of its own, which the sqs bench starts. It writes served, as a line of JSON, when it
// listens, and again for each line that it reads from in; it ends when in does. args are the flags that the bench
// gives.
func Serve(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("serve-sqs", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", "", "folder")
	err := flags.Parse(args)
	if err == nil {
		err = serveSQS(ctx, *dir, in, out)
	}
	if err != nil {
		return fmt.Errorf("serve-sqs: %w", err)
	}
	return nil
}

func serveSQS(ctx context.Context, dir string, in io.Reader, out io.Writer) (err error) {
	s, err := harness.OpenDoorServer(ctx, dir, harness.Setting{}, func(s *queue.Store) (harness.Door, error) {
		return sqs.New(sqs.Config{Listen: "127.0.0.1:0"}, sqs.Options{Store: s})
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	return s.Answer(ctx, in, out, s.Addr, nil)
}
