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
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/shard"
)

func queueNamed(name string) queue.Name {
	return queue.Name{Namespace: queue.DefaultNamespace, Name: name}
}

// filledFolder is a data_dir of one shard with so many queues of so many messages.
func filledFolder(t *testing.T, queues, messages int) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	s, err := sharded(t, data, "1")
	if err != nil {
		t.Fatal(err)
	}
	for q := range queues {
		msgs := make([]message.Message, messages)
		for i := range msgs {
			msgs[i].Body = fmt.Append(nil, "message ", i, " of queue ", q)
		}
		if _, err := s.store.Put(t.Context(), queueNamed(fmt.Sprint("q", q, "x")), msgs); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return data
}

// hasAll sees that a data_dir opens with so many shards and has what filledFolder put there.
func hasAll(t *testing.T, data, shards string, queues, messages int) {
	t.Helper()
	s, err := sharded(t, data, shards)
	if err != nil {
		t.Fatalf("%s does not open with %s shards: %v", data, shards, err)
	}
	storeHas(t, s.store, queues, messages)
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

// storeHas sees that a store has what filledFolder put into one.
func storeHas(t *testing.T, s queue.Service, queues, messages int) {
	t.Helper()
	for q := range queues {
		ps, err := s.Peek(t.Context(), queueNamed(fmt.Sprint("q", q, "x")), queue.PeekRequest{Max: messages + 1})
		if err != nil || len(ps) != messages {
			t.Fatalf("queue %d has %d messages of %d, %v", q, len(ps), messages, err)
		}
		for i := range ps {
			if want := fmt.Sprint("message ", i, " of queue ", q); string(ps[i].Message.Body) != want {
				t.Fatalf("there is %q for %q", ps[i].Message.Body, want)
			}
		}
	}
}

// killUntilDone gives a command again and again, and kills the program at later and later moments. look is called when
// it has ended, and says whether what the command does is done.
func killUntilDone(t *testing.T, look func() (done bool), args ...string) {
	t.Helper()
	killed := 0
	for delay := time.Millisecond; ; delay += delay / 3 {
		var out bytes.Buffer
		cmd := command(context.Background(), nil, args...)
		cmd.Stderr = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		switch ended := kill.Stop(); {
		case ended && err != nil:
			t.Fatalf("%v: %s", err, out.String())
		case !ended && err != nil:
			killed++
		}
		switch done := look(); {
		case done && killed == 0:
			t.Error("it was never killed")
			return
		case done:
			return
		case err == nil:
			t.Fatal("it has ended, and nothing is done")
		}
	}
}

func TestAFolderIsSplitIntoShardsAndJoinedAgain(t *testing.T) {
	data := filledFolder(t, 20, 300)
	var out bytes.Buffer
	for _, shards := range []int{1, 4, 4, 1, 2, 1} {
		out.Reset()
		if err := changeShards(t.Context(), data, shards, &out); err != nil {
			t.Fatal(err)
		}
		hasAll(t, data, fmt.Sprint(shards), 20, 300)
		if _, err := sharded(t, data, fmt.Sprint(shards+1)); err == nil {
			t.Error("it opens with another number of shards")
		}
	}
	if text := out.String(); !strings.Contains(text, "messages") || !strings.Contains(text, "6,000") ||
		!strings.Contains(text, "set shards: 1") {
		t.Errorf("it says %s", text)
	}
	if err := changeShards(t.Context(), data, 2, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := changeShards(t.Context(), data, 3, io.Discard); err == nil || !strings.Contains(explain(err), "join") {
		t.Errorf("two shards become three: %v", err)
	}
	if err := changeShards(t.Context(), t.TempDir(), 3, io.Discard); err == nil {
		t.Error("a folder without a journal is split")
	}
}

func TestAFolderInUseIsNotSplit(t *testing.T) {
	data := filledFolder(t, 2, 10)
	s, err := sharded(t, data, "1")
	if err != nil {
		t.Fatal(err)
	}
	others := filepath.Join(data, resharding, reshardNew) // of whoever has the locks
	if err := os.MkdirAll(others, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := changeShards(t.Context(), data, 2, io.Discard); err == nil || !strings.Contains(explain(err), "in use") {
		t.Errorf("it answers %v", err)
	}
	if !exists(others) {
		t.Error("what another one writes was removed")
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if err := changeShards(t.Context(), data, 1, io.Discard); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(data, resharding)) {
		t.Error("something is left")
	}
	hasAll(t, data, "1", 2, 10)
}

func TestAnExchangeOfJournalsThatWasEndedGoesOn(t *testing.T) {
	for _, c := range []struct{ from, to int }{{1, 3}, {3, 1}} {
		for k := range c.from + c.to + 1 {
			data := filledFolder(t, 6, 20)
			if c.from > 1 {
				if err := changeShards(t.Context(), data, c.from, io.Discard); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := writeShards(t.Context(), data, c.to, io.Discard); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(data, resharding, reshardOld), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, r := range renames(data, c.from, c.to)[:k] { // and then the process was killed
				if err := os.Rename(r[0], r[1]); err != nil {
					t.Fatal(err)
				}
			}
			for _, shards := range []int{c.from, c.to} {
				_, err := sharded(t, data, fmt.Sprint(shards))
				if err == nil || !strings.Contains(explain(err), changeCommand(data, c.to)) {
					t.Errorf("after %d renames it opens with %d shards: %v", k, shards, err)
				}
			}
			if err := changeShards(t.Context(), data, 7, io.Discard); err == nil {
				t.Error("another change begins")
			}
			if err := changeShards(t.Context(), data, c.to, io.Discard); err != nil {
				t.Fatal(err)
			}
			hasAll(t, data, fmt.Sprint(c.to), 6, 20)
		}
	}
}

func TestASplitThatIsKilledIsDoneWhenItIsGivenAgain(t *testing.T) {
	data := filledFolder(t, 12, 2000)
	killUntilDone(t, func() bool {
		_, to, err := unfinishedChange(data)
		if err != nil {
			t.Fatal(err)
		}
		if to != 0 {
			return false
		}
		shards := len(shardDirs(data))
		hasAll(t, data, fmt.Sprint(shards), 12, 2000) // nothing has changed, or all of it
		return shards == 3
	}, "journal", "split", data, "--shards", "3")
}

func TestASplitOfADamagedJournalChangesNothing(t *testing.T) {
	data := filledFolder(t, 2, 1000)
	files, err := filepath.Glob(filepath.Join(journalDir(data), "*.log"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(content, []byte("message 500 of queue 0"))
	if at < 0 {
		t.Fatal("the message is not there")
	}
	content[at] ^= 1
	if err := os.WriteFile(files[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := changeShards(t.Context(), data, 2, io.Discard); err == nil ||
		!strings.Contains(explain(err), "journal check") {
		t.Errorf("it answers %v", err)
	}
	if exists(filepath.Join(data, resharding)) || len(shardDirs(data)) != 1 {
		t.Error("something has changed")
	}
	var other *shard.CountError
	if s, err := sharded(t, data, "1"); err != nil || errors.As(err, &other) {
		t.Errorf("it opens no more: %v", err)
	} else if err := s.close(); err != nil {
		t.Fatal(err)
	}
}
