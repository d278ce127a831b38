package pushtest

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Store opens a store in a folder of the test, which makes queues on demand. The test's end closes it.
func Store(t testing.TB) *queue.Store {
	t.Helper()
	j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: t.TempDir(), Durability: journal.OS})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(errors.Join(err, j.Close()))
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Sink is a sink that has to be started.
type Sink interface {
	component.AsyncSink
	component.Starter
}

// StoreOf is the store behind what a sink has of it.
func StoreOf(t testing.TB, has dead.Store) *queue.Store {
	t.Helper()
	s, ok := has.(*queue.Store)
	if !ok {
		t.Fatalf("the sink has a %T for a store", has)
	}
	return s
}

// Start makes a sink with a kind's New and starts it. The test's end closes it.
func Start[S Sink, C any](t testing.TB, made func(C, component.Env) (component.Sink, error), c C, env component.Env) S {
	t.Helper()
	sink, err := made(c, env)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := sink.(S)
	if !ok {
		t.Fatalf("made a %T", sink)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	CloseAfter(t, s)
	return s
}

// CloseAfter closes something at the test's end, which must not fail.
func CloseAfter(t testing.TB, c io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Write writes a file that nobody else may read, such as a key.
func Write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
