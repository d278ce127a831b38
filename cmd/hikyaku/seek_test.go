package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// drain settles everything in a queue and returns the bodies.
func (s *served) drain(t *testing.T, queue string) string {
	t.Helper()
	r := s.do(t, "", "claim", queue, "--max", "100", "--body")
	if r.code != 0 {
		t.Fatalf("claim: %+v", r)
	}
	return strings.Join(strings.Fields(r.stdout), " ")
}

func TestAQueueIsTakenBackInTime(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet+"queues: { news: { history: 7d, exactly_once: true }, plain: {} }\n")
	if r := s.do(t, "one\ntwo\n", "publish", "news"); r.code != 0 {
		t.Fatalf("publish: %+v", r)
	}
	if got := s.drain(t, "news"); got != "one two" {
		t.Fatalf("there were %s", got)
	}
	r := s.do(t, "", "queue", "show", "news", "--table")
	for _, line := range []string{`history +168h0m0s *`, `exactly once +yes *`,
		`past +2 settled messages, \d+ B, from .* ago on *`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(r.stdout) {
			t.Errorf("no line %q in\n%s%s", line, r.stdout, r.stderr)
		}
	}
	if r := s.do(t, "", "queue", "show", "plain", "--table"); strings.Contains(r.stdout, "history") ||
		strings.Contains(r.stdout, "past") {
		t.Errorf("a queue without a history:\n%s", r.stdout)
	}
	if r := s.do(t, "", "queue", "seek", "news", "--ago", "1d"); r.code != 0 ||
		!regexp.MustCompile(`^took news to \S+: 2 messages back, 0 messages settled\n$`).MatchString(r.stdout) {
		t.Errorf("a day back: %+v", r)
	}
	if r := s.do(t, "", "queue", "seek", "news", "--time", "2999-01-01T00:00:00+09:00"); r.code != 0 ||
		r.stdout != "took news to 2999-01-01T00:00:00+09:00: 0 messages back, 2 messages settled\n" {
		t.Errorf("to the future: %+v", r)
	}
	if got := s.drain(t, "news"); got != "" {
		t.Errorf("there are %s", got)
	}
}

func TestASeekThatWouldLoseMessagesForGoodWantsAYes(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	if r := s.do(t, "one\n", "publish", "plain"); r.code != 0 {
		t.Fatalf("publish: %+v", r)
	}
	args := []string{"queue", "seek", "plain", "--time", "2999-01-01T00:00:00Z"}
	if r := s.do(t, "", args...); r.code != exitUsage || !strings.Contains(r.stderr, "keeps no history") ||
		!strings.Contains(r.stderr, "--yes") {
		t.Errorf("without --yes: %+v", r)
	}
	if r := s.do(t, "", append(args, "--yes")...); r.code != 0 || r.stdout != "took plain to 2999-01-01T00:00:00Z: 0 "+
		"messages back, 1 message settled\n" {
		t.Errorf("with --yes: %+v", r)
	}
}

func TestASnapshotIsTakenListedSoughtAndDeleted(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	if r := s.do(t, "one\ntwo\n", "publish", "shop/orders"); r.code != 0 {
		t.Fatalf("publish: %+v", r)
	}
	r := s.do(t, "", "snapshot", "create", "shop/monday", "--queue", "orders", "--life", "2d", "--label", "why=test")
	if r.code != 0 || !regexp.MustCompile(`^took snapshot shop/monday of shop/orders, until \S+\n$`).MatchString(
		r.stdout) {
		t.Fatalf("create: %+v", r)
	}
	if r := s.do(t, "", "snapshot", "create", "shop/monday", "--queue", "orders"); r.code != exitFailed ||
		!strings.Contains(r.stderr, "hikyaku snapshot delete") {
		t.Errorf("a second one of that name: %+v", r)
	}
	if r := s.do(t, "", "snapshot", "ls",
		"shop"); !regexp.MustCompile(`(?m)^shop/monday +shop/orders +\S+Z +.*(2d00h|1d23h) *$`).MatchString(r.stdout) {
		t.Errorf("ls:\n%s%s", r.stdout, r.stderr)
	}
	if r := s.do(t, "", "snapshot", "ls", "shop", "--json"); !strings.Contains(r.stdout, `"labels":{"why":"test"}`) {
		t.Errorf("ls --json: %+v", r)
	}
	if got := s.drain(t, "shop/orders"); got != "one two" {
		t.Fatalf("there were %s", got)
	}
	if r := s.do(t, "", "queue", "seek", "shop/orders", "--snapshot", "monday"); r.code != 0 ||
		r.stdout != "took shop/orders to snapshot monday: 2 messages back, 0 messages settled\n" {
		t.Errorf("seek: %+v", r)
	}
	if r := s.do(t, "", "snapshot", "delete", "shop/monday"); r.code != 0 ||
		r.stdout != "deleted snapshot shop/monday\n" {
		t.Errorf("delete: %+v", r)
	}
	for _, args := range [][]string{{"snapshot", "delete", "shop/monday"},
		{"queue", "seek", "shop/orders", "--snapshot", "monday"}} {
		if r := s.do(t, "", args...); r.code != exitFailed ||
			!strings.Contains(r.stderr, "there is no snapshot shop/monday") ||
			!strings.Contains(r.stderr, "hikyaku snapshot ls") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestTheTableOfSnapshotsStaysReadable(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	over := now.Add(-time.Minute)
	var b bytes.Buffer
	if err := listSnapshots(&b, []httpdoor.Snapshot{
		{Name: "default/monday", Queue: "default/news", Time: now.Add(-90 * time.Second), Expires: &over},
		{Name: "shop/kept", Queue: "default/news", Time: now},
	}, now); err != nil {
		t.Fatal(err)
	}
	const want = `snapshot   queue  taken                   age  ends in
---------  -----  --------------------  -----  -------
monday     news   2026-01-02T03:02:35Z  1m30s      0 s
shop/kept  news   2026-01-02T03:04:05Z    0 s    never
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}

func TestADurationOnTheCommandLineMayBeDays(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute,
		"7d": 7 * 24 * time.Hour, "0d": 0} {
		var l lasting
		if err := l.Set(text); err != nil || time.Duration(l) != want {
			t.Errorf("%s is %v: %v", text, time.Duration(l), err)
		}
	}
	for _, text := range []string{"", "d", "1.5d", "-1d", "-1s", "7", "106752d", "99999999999999999999d", "1d2h"} {
		var l lasting
		if err := l.Set(text); err == nil || l != 0 {
			t.Errorf("%q is %v", text, time.Duration(l))
		}
	}
}
