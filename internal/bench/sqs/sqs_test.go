package sqs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/sqs"
)

func sqsSubject() benchtest.Subject {
	return benchtest.Subject{Name: "sqs", Run: sqs.Run, With: harness.Options{SQS: benchtest.Self()}}
}

// TestSQSReportsEveryWork runs the quick form once, without a peer, and looks at everything it writes but the speeds.
func TestSQSReportsEveryWork(t *testing.T) {
	report := sqsSubject().Reports(t, "rates", "fifo", "backlog", "hand-off")
	var got []string
	for i, r := range report.Rows {
		figures := []string{"n", "p50_ms", "p99_ms", "max_ms", "bytes", "per_s"}
		if r.Get("work") == "hand-off" {
			figures = []string{"n", "p50_ms", "p99_ms", "max_ms", "bytes", "waiters", "put_p50_ms", "put_p99_ms"}
		}
		for _, name := range figures {
			benchtest.CheckPositive(t, i, r, name)
		}
		benchtest.CheckUnjudged(t, i, r)
		got = append(got, fmt.Sprint(r.Get("case"), " ", r.Get("work"), " ", r.Get("queue"), " ",
			benchtest.Or(r, "clients"), " ",
			benchtest.Or(r, "groups"), " ", benchtest.Or(r, "backlog"), " ", benchtest.Or(r, "stuck")))
	}
	var want []string
	pair := func(name, suffix, about string) {
		want = append(want, name+" send"+suffix+" "+about, name+" receive"+suffix+" "+about)
	}
	for _, suffix := range []string{"", "-10"} {
		pair("hikyaku", suffix, "standard 1  0 ")
		pair("hikyaku", suffix, "standard 2  0 ")
	}
	for _, groups := range []string{"2", "10"} {
		pair("hikyaku", "", "FIFO 2 "+groups+" 0 ")
		pair("hikyaku", "-10", "FIFO 2 "+groups+" 0 ")
	}
	for _, queue := range []string{"standard 2 ", "FIFO 2 4"} {
		pair("hikyaku", "", queue+" 100 ")
		pair("hikyaku", "-10", queue+" 100 ")
	}
	for _, suffix := range []string{"", "-10"} {
		pair("hikyaku", suffix, "FIFO 2 4 100 yes")
		pair("hikyaku", suffix, "FIFO 2 4 0 ")
	}
	want = append(want, "hikyaku hand-off standard    ")
	for _, clients := range []string{"1", "2"} {
		pair("sdk", "", "standard "+clients+"  0 ")
		pair("sdk", "-10", "standard "+clients+"  0 ")
	}
	benchtest.CheckRows(t, got, want)
	if len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "fdatasync") {
		t.Errorf("the notes do not tell what makes the server durable: %q", report.Notes)
	}
}

// TestSQSComparesWithAPeer lets another of our own servers be the peer.
func TestSQSComparesWithAPeer(t *testing.T) {
	s := sqsSubject()
	s.With.ElasticMQ = "http://" + startPeer(t)
	s.WritesTables(t, []string{"receive-10", "stuck", "hand-off"},
		[]string{"elasticmq", "to ElasticMQ >= 4", "to empty >= 0.8", "beyond p50 ms <= 0.25, beyond p99 ms <= 2",
			"receive-10", "Note: elasticmq: "}, "sdk")
}

func TestSQSEndsWithItsContextAndCleansUp(t *testing.T) {
	sqsSubject().EndsWithItsContext(t, false)
}

func TestSQSSaysWhyItCannotBegin(t *testing.T) {
	sqsSubject().SaysWhyItCannotBegin(t, map[string]benchtest.Obstacle{
		"no command": {Put: func(o *harness.Options) { o.SQS = nil }, Says: "no command"},
		"a command that ends": {Put: func(o *harness.Options) { o.SQS = append(benchtest.Self(), "--nonsense") },
			Says: "nonsense"},
		"no ElasticMQ there": {Put: func(o *harness.Options) { o.ElasticMQ = "http://127.0.0.1:1" },
			Says: "elasticmq at 127.0.0.1:1: connect"},
	})
}

// startPeer runs a server of ours, in this process, until the test ends.
func startPeer(t *testing.T) (host string) {
	t.Helper()
	dir := t.TempDir()
	in, tell := io.Pipe()
	hear, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := sqs.Serve(t.Context(), []string{"--dir", dir}, in, out)
		ended <- errors.Join(err, out.Close())
	}()
	t.Cleanup(func() {
		if err := errors.Join(tell.Close(), <-ended); err != nil {
			t.Error(err)
		}
	})
	var said struct{ Addr string }
	if err := json.NewDecoder(hear).Decode(&said); err != nil {
		t.Fatal(err)
	}
	return said.Addr
}
