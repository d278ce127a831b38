package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// A log shipper's job: `hikyaku -c FILE` with CSV lines on its standard input, what to write where in the environment,
// and a table of TsurugiDB behind it.

// shipped is a server that asks for credentials and has the tables of 1 and 10 values.
func shipped(t *testing.T) *tsurugitest.Server {
	t.Helper()
	server := tsurugitest.Start(t, tsurugitest.Config{Users: map[string]string{"tsurugi": "password"}})
	for _, columns := range []int{1, 10} {
		var b strings.Builder
		fmt.Fprintf(&b, "CREATE TABLE log_events_%d (event_timestamp TIMESTAMP NOT NULL", columns)
		for c := range columns {
			fmt.Fprintf(&b, ", value%d DOUBLE PRECISION", c+1)
		}
		ask(t, server, b.String()+")")
	}
	return server
}

// ask runs a statement, or a query, whose rows it returns as text.
func ask(t *testing.T, server *tsurugitest.Server, sql string) (found []string) {
	t.Helper()
	s, err := tsurugi.Connect(t.Context(), server.Endpoint(),
		tsurugi.Config{Credential: tsurugi.UserPassword("tsurugi", "password")})
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
			var row []string
			for _, v := range r.Values() {
				row = append(row, v.String())
			}
			found = append(found, strings.Join(row, " "))
		}
		return r.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// event is the n-th line: a time and so many numbers.
func event(n, columns int) string {
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 100 * time.Microsecond)
	var b strings.Builder
	b.WriteString(at.Format("2006-01-02T15:04:05.000000Z"))
	for c := range columns {
		fmt.Fprintf(&b, ",%d.%06d", n, c)
	}
	return b.String() + "\n"
}

// ship starts the program as a measurement does, writes lines to it at a rate, closes its input and waits for its end.
// The rate is of lines in a millisecond; 0: as they are taken.
func ship(t *testing.T, server *tsurugitest.Server, file string, columns, rate int, lines []string,
	env ...string) result {
	t.Helper()
	cmd := command(t.Context(), append([]string{
		"TSURUGI_ENDPOINT=" + server.Endpoint(), fmt.Sprintf("TSURUGI_TABLE=log_events_%d", columns),
		"VECTOR_IN_FLIGHT_LIMIT=4", "HIKYAKU_DATA=" + t.TempDir(),
	}, env...), "-c", file)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(in)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i, line := range lines {
		if rate > 0 && i%rate == 0 {
			_ = w.Flush() // a program that has ended is found out by its status
			<-tick.C
		}
		_, _ = w.WriteString(line)
	}
	_ = w.Flush()
	_ = in.Close()
	_ = cmd.Wait() // the status says it
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

func TestALogShippersWorkflowEndsWithEveryLineInTheTable(t *testing.T) {
	t.Parallel()
	const n = 3_000
	for _, c := range []struct {
		file    string
		columns int
		rate    int
	}{{"stdin_tsurugi.yaml", 10, 10}, {"stdin_tsurugi.toml", 10, 0}, {"stdin_tsurugi.yaml", 1, 0}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			server := shipped(t)
			lines := make([]string, n)
			for i := range lines {
				lines[i] = event(i, c.columns)
			}
			r := ship(t, server, "../../examples/"+c.file, c.columns, c.rate, lines)
			if r.code != 0 {
				t.Fatalf("status %d\n%s", r.code, r.stderr)
			}
			if found := server.Count(fmt.Sprintf("log_events_%d", c.columns)); found != n {
				t.Errorf("%d rows", found)
			}
			names, want := "event_timestamp, value1", "2025-01-01 00:00:00.2999 2999"
			if c.columns == 10 {
				names, want = names+", value10", want+" 2999.000009"
			}
			found := ask(t, server, fmt.Sprintf("SELECT %s FROM log_events_%d WHERE value1 = 2999", names, c.columns))
			if len(found) != 1 || found[0] != want {
				t.Errorf("the last line is %q, not %q", found, want)
			}
		})
	}
}

func TestALineThatTheTableRefusesIsADeadLetterWithTheReason(t *testing.T) {
	t.Parallel()
	server := shipped(t)
	lines := []string{event(0, 10), "2025-01-01T00:00:00Z,none\n", event(2, 10), ",1\n",
		strings.TrimSuffix(event(4, 10), "\n") + ",11\n", event(5, 10)}
	data := t.TempDir()
	r := ship(t, server, "../../examples/stdin_tsurugi.yaml", 10, 0, lines, "HIKYAKU_DATA="+data)
	if r.code != exitDead || server.Count("log_events_10") != 3 {
		t.Fatalf("status %d, %d rows\n%s", r.code, server.Count("log_events_10"), r.stderr)
	}
	if !strings.Contains(r.stderr, "tsurugi_dead") {
		t.Errorf("it says\n%s", r.stderr)
	}
}

func TestAWrongPasswordAndAMissingTableAreSaidAtOnce(t *testing.T) {
	t.Parallel()
	server := shipped(t)
	for env, says := range map[string]string{"TSURUGI_PASSWORD=wrong": "AUTHENTICATION_ERROR",
		"TSURUGI_TABLE=nowhere": "there is no such table"} {
		r := ship(t, server, "../../examples/stdin_tsurugi.yaml", 1, 0, []string{event(0, 1)}, env)
		if r.code != 1 || !strings.Contains(r.stderr, says) || strings.Contains(r.stderr, "wrong") {
			t.Errorf("%s: status %d\n%s", env, r.code, r.stderr)
		}
	}
}
