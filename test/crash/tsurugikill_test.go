//go:build linux

package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

const (
	tsurugiKills = 4
	tsurugiLines = 12_000
)

// TestEveryEventIsInTheTableOnceWhateverIsKilled lets lines go by a queue into a table of TsurugiDB that has a column
// for the message's id. The program is killed at moments that the database chooses: when it has begun a transaction,
// has written rows, is about to commit, or has committed and not answered. The database loses sessions, answers and
// conflicts besides.
func TestEveryEventIsInTheTableOnceWhateverIsKilled(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	dir := t.TempDir()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	tsurugiDo(t, server, "CREATE TABLE events (id VARCHAR(64) PRIMARY KEY, n BIGINT NOT NULL)")
	var b strings.Builder
	for n := range tsurugiLines {
		fmt.Fprintf(&b, "{\"n\":%d}\n", n)
	}
	events, config := filepath.Join(dir, "events.ndjson"), filepath.Join(dir, "config.yaml")
	write(t, events, b.String())
	write(t, config, "data_dir: "+filepath.Join(dir, "data")+`
sources:
  lines: { type: stdin }
  waiting: { type: queue, queue: events, lease: 1s }
sinks:
  keep: { type: queue, inputs: [lines], queue: events }
  table:
    type: tsurugidb
    inputs: [waiting]
    endpoint: `+server.Endpoint()+`
    table: events
    id_column: id
    batch: { max_events: 100 }
    request: { retry_attempts: unlimited, retry_initial_backoff_secs: 0.01, retry_max_duration_secs: 0.05 }
`)
	kinds := []tsurugitest.Kind{tsurugitest.Begin, tsurugitest.Execute, tsurugitest.Commit}
	// A session that hangs is one until the program is killed: that is for the last moment.
	troubles := []tsurugitest.Action{tsurugitest.Drop, tsurugitest.DoAndDrop, tsurugitest.Conflict()}
	lasts := append([]tsurugitest.Action{{}, tsurugitest.Hang}, troubles...)
	for round := range tsurugiKills * *times {
		kind, every, last := kinds[random.IntN(len(kinds))], int64(2+random.IntN(8)), int64(1+random.IntN(40))
		trouble, end := troubles[random.IntN(len(troubles))], lasts[random.IntN(len(lasts))]
		moment := make(chan struct{})
		var seen atomic.Int64
		server.On(func(r tsurugitest.Request) tsurugitest.Action {
			if r.Kind != kind {
				return tsurugitest.Action{}
			}
			switch n := seen.Add(1); {
			case n == last:
				close(moment)
				return end
			case n < last && n%every == 0:
				return trouble
			}
			return tsurugitest.Action{}
		})
		cmd, ended := tsurugiRun(t, config, events)
		select {
		case <-moment:
			_ = cmd.Process.Kill() // it may have ended just now
			<-ended
		case <-ended: // everything was written already
			t.Logf("round %d: the program had ended with %v", round, cmd.ProcessState)
		}
	}
	server.On(nil)
	cmd, ended := tsurugiRun(t, config, events)
	<-ended
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("status %d", code)
	}
	seen := make(map[string]int)
	for _, n := range tsurugiDo(t, server, "SELECT n FROM events") {
		seen[n]++
	}
	for n := range tsurugiLines {
		if times := seen[fmt.Sprint(n)]; times != 1 {
			t.Fatalf("event %d is in the table %d times", n, times)
		}
	}
	if n := server.Count("events"); n != tsurugiLines {
		t.Errorf("%d rows", n)
	}
	checkJournal(t, filepath.Join(dir, "data"))
}

// tsurugiRun starts the program with a file as its standard input; ended is closed when it has ended.
func tsurugiRun(t *testing.T, config, events string) (cmd *exec.Cmd, ended chan struct{}) {
	t.Helper()
	in, err := os.Open(events)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd = exec.CommandContext(t.Context(), binary, "-c", config)
	cmd.Stdin = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its status says it
	}()
	return cmd, ended
}

// tsurugiDo runs a statement, or a query, whose first column it returns as text.
func tsurugiDo(t *testing.T, server *tsurugitest.Server, sql string) (found []string) {
	t.Helper()
	s, err := tsurugi.Connect(t.Context(), server.Endpoint(), tsurugi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.Background()) }()
	err = s.Do(t.Context(), tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		if !strings.HasPrefix(sql, "SELECT") {
			_, err := tx.Exec(ctx, sql)
			return err
		}
		r, err := tx.Query(ctx, sql)
		if err != nil {
			return err
		}
		for r.Next(ctx) {
			found = append(found, r.Values()[0].String())
		}
		return r.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
