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

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/link"
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

// Who opens as many connections as a node takes leaves files to its log, whether or not the node owns the shard.
func TestConnectionsLeaveFilesToTheLogOfANode(t *testing.T) {
	for _, files := range []uint64{256, 1024, 4096, 65536, 1 << 20} {
		o := link.Options{Listen: "127.0.0.1:0", Cluster: "test", Node: "a", Secret: strings.Repeat("secret", 6)}
		l, err := link.Listen(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		front := cluster.NewFront(cluster.FrontOptions{Node: "a", Link: l, Most: passedOn(files, 0, 5)})
		names := []string{"http", "mysql", "pubsub", "sqs", "lambda"}
		for _, name := range names {
			if _, err := front.Open(t.Context(), name, "127.0.0.1:0", cluster.Door{}); err != nil {
				t.Fatal(err)
			}
		}
		if seats := seatFiles(files, front); seats+front.Files() > files {
			t.Errorf("of %d files an owner's connections have %d and %d", files, seats, front.Files())
		}
		if passed := 2 * len(names) * passedOn(files, 0, 5); uint64(passed) > files/2 {
			t.Errorf("of %d files what is passed on has %d", files, passed)
		}
		front.Close()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatANodePassesOnFitsItsMemory(t *testing.T) {
	for _, memory := range []int64{256 << 20, 2 << 30, 64 << 30} {
		if all := 5 * int64(passedOn(1<<20, memory, 5)) * cluster.PassageBytes; all > memory/4 {
			t.Errorf("of %d bytes connections that are passed on take %d", memory, all)
		}
	}
}
