//go:build !no_cluster

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// nodeConfig is the configuration of a node with an empty folder.
func nodeConfig(t *testing.T) (path string, f *config.File) {
	t.Helper()
	dir := t.TempDir()
	return writeConfig(t, filepath.Join(dir, "a.yaml"), fmt.Sprintf("data_dir: %s\ncluster: { node: a, peers: "+
		"{ a: \"127.0.0.1:1\", b: \"127.0.0.1:2\", c: \"127.0.0.1:3\" }, secret: %s }\n",
		filepath.ToSlash(filepath.Join(dir, "data")), strings.Repeat("secret", 6)))
}

// logHas sees that a node's log has what filledFolder put into a journal.
func logHas(t *testing.T, f *config.File, queues, messages int) {
	t.Helper()
	j, err := openAlone(t.Context(), f.Cluster.Node, clusterDir(f.DataDir), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	storeHas(t, s, queues, messages)
	if err := errors.Join(s.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
}

// aloneConfig is the configuration of a server alone with an empty folder.
func aloneConfig(t *testing.T, more string) (path string, f *config.File) {
	t.Helper()
	dir := t.TempDir()
	return writeConfig(t, filepath.Join(dir, "alone.yaml"), "data_dir: "+filepath.ToSlash(filepath.Join(dir, "data"))+
		"\n"+more)
}

func writeConfig(t *testing.T, path, text string) (string, *config.File) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := loadConfig(path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return path, f
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

func TestACopyThatIsKilledIsDoneWhenItIsGivenAgain(t *testing.T) {
	data := filledFolder(t, 6, 2000)
	node, f := nodeConfig(t)
	killUntilDone(t, func() bool {
		hasAll(t, data, "1", 6, 2000)
		if !exists(clusterDir(f.DataDir)) {
			return false
		}
		logHas(t, f, 6, 2000) // whole, whenever it is there
		return true
	}, "journal", "copy", data, "--into", node)
	// And back.
	alone, back := aloneConfig(t, "")
	killUntilDone(t, func() bool {
		if !exists(journalDir(back.DataDir)) {
			return false
		}
		hasAll(t, back.DataDir, "1", 6, 2000)
		logHas(t, f, 6, 2000)
		return true
	}, "journal", "copy", f.DataDir, "--into", alone)
}

func TestOfCopiesIntoOneNodeAtOnceOneIsMade(t *testing.T) {
	const folders = 4
	var data []string
	for i := range folders {
		data = append(data, filledFolder(t, 2, 100*(i+1)))
	}
	for range 3 {
		_, f := nodeConfig(t)
		var copying sync.WaitGroup
		errs := make([]error, folders)
		for i, from := range data {
			copying.Go(func() { errs[i] = copyIntoCluster(t.Context(), from, f, io.Discard) })
		}
		copying.Wait()
		made := 0
		for i, err := range errs {
			switch {
			case err == nil:
				made++
				logHas(t, f, 2, 100*(i+1))
			case !strings.Contains(explain(err), "in use") && !strings.Contains(explain(err), "is there already"):
				t.Errorf("copy %d: %v", i, err)
			}
		}
		if made != 1 {
			t.Errorf("%d copies were made", made)
		}
	}
}

func TestANodeThatWaitsForTheOthersIsNotGivenALog(t *testing.T) {
	data := filledFolder(t, 1, 10)
	path, _ := nodeConfig(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	http := freeAddress(t)
	_, f := writeConfig(t, path, strings.Replace(string(text), "127.0.0.1:1", freeAddress(t), 1)+`api:
  http: { listen: "`+http+`" }
  mysql: { off: true }
  pubsub: { off: true }
  sqs: { off: true }
  lambda: { off: true }
`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, &serveFlags{runFlags: runFlags{config: path}}, f) }()
	waittest.Until(t, "the node lives", func() bool {
		status, _, err := askAt(t, "GET", "http://"+http+"/livez", "", nil)
		return err == nil && status == 200
	})
	if err := copyIntoCluster(t.Context(), data, f, io.Discard); err == nil ||
		!strings.Contains(explain(err), "in use") {
		t.Errorf("a log comes under a node that waits: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := copyIntoCluster(t.Context(), data, f, io.Discard); err != nil {
		t.Fatal(err)
	}
	logHas(t, f, 1, 10)
}
