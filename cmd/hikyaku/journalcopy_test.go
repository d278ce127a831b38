//go:build !no_cluster

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// nodeConfig is the configuration of a node with an empty folder.
func nodeConfig(t *testing.T) (path string, f *config.File) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "a.yaml")
	text := fmt.Sprintf("data_dir: %s\ncluster: { node: a, peers: { a: \"127.0.0.1:1\", b: \"127.0.0.1:2\", c: "+
		"\"127.0.0.1:3\" }, secret: %s }\n", filepath.ToSlash(filepath.Join(dir, "data")), strings.Repeat("secret", 6))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := loadConfig(path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return path, f
}

// logHas sees that a node's log has what filledFolder put into a journal.
func logHas(t *testing.T, f *config.File, queues, messages int) {
	t.Helper()
	err := withLog(t.Context(), f, clusterDir(f.DataDir), "", func(j journal.Journal, _ func(done, total int64)) error {
		s, err := queue.Open(t.Context(), queue.Options{Journal: j})
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }() // withLog closes the journal again
		for q := range queues {
			ps, err := s.Peek(t.Context(), queueNamed(fmt.Sprint("q", q, "x")), queue.PeekRequest{Max: messages + 1})
			if err != nil || len(ps) != messages {
				return fmt.Errorf("queue %d has %d messages of %d, %w", q, len(ps), messages, err)
			}
			for i := range ps {
				if want := fmt.Sprint("message ", i, " of queue ", q); string(ps[i].Message.Body) != want {
					return fmt.Errorf("there is %q for %q", ps[i].Message.Body, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFolderIsCopiedIntoACluster(t *testing.T) {
	data := filledFolder(t, 5, 300)
	_, f := nodeConfig(t)
	var out bytes.Buffer
	if err := copyIntoCluster(t.Context(), data, f, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "1,500") || !strings.Contains(out.String(), "Node a has the log") {
		t.Errorf("it says %s", out.String())
	}
	logHas(t, f, 5, 300)
	hasAll(t, data, "1", 5, 300)
	if err := copyIntoCluster(t.Context(), data, f, io.Discard); err == nil ||
		!strings.Contains(explain(err), "is there already") {
		t.Errorf("a node that has a log is given another: %v", err)
	}
	_, other := nodeConfig(t)
	if err := copyIntoCluster(t.Context(), t.TempDir(), other, io.Discard); err == nil {
		t.Error("a folder without a journal is copied")
	}
	if err := changeShards(t.Context(), data, 2, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := copyIntoCluster(t.Context(), data, other, io.Discard); err == nil ||
		!strings.Contains(explain(err), "journal join") {
		t.Errorf("two shards become a cluster's log: %v", err)
	}
}

// TestACopyThatIsKilledIsDoneWhenItIsGivenAgain kills the program at later and later moments.
func TestACopyThatIsKilledIsDoneWhenItIsGivenAgain(t *testing.T) {
	data := filledFolder(t, 6, 2000)
	path, f := nodeConfig(t)
	killed := 0
	for delay := time.Millisecond; ; delay += delay / 2 {
		var out bytes.Buffer
		cmd := command(context.Background(), nil, "journal", "copy", data, "--into", path)
		cmd.Stderr = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, out.String())
			}
		case <-time.After(delay):
			_ = cmd.Process.Kill()
			<-ended
			killed++
		}
		if exists(clusterDir(f.DataDir)) {
			logHas(t, f, 6, 2000) // whole, whenever it is there
			if killed == 0 {
				t.Error("it was never killed")
			}
			return
		}
		hasAll(t, data, "1", 6, 2000)
	}
}
