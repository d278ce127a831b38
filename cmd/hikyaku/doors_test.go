package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

// stubborn is a door that closes when its time is over, or with another error.
type stubborn struct{ err error }

func (s stubborn) Start(context.Context) (net.Addr, error) { return nil, nil }

func (s stubborn) Close(ctx context.Context) error {
	if s.err != nil {
		return s.err
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestAStopThatCutsRequestsSaysSoAndDoesNotFail(t *testing.T) {
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := (doors{{stubborn{}, "sqs"}, {stubborn{}, "http"}}).close(ctx, log); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if text := said.String(); strings.Count(text, "have been cut") != 2 || !strings.Contains(text, "door=sqs") ||
		!strings.Contains(text, "door=http") {
		t.Errorf("it said\n%s", text)
	}
	broken := errors.New("broken")
	if err := (doors{{stubborn{broken}, "sqs"}, {stubborn{}, "http"}}).close(ctx, log); !errors.Is(err, broken) ||
		errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a door that breaks ends it with %v", err)
	}
}
