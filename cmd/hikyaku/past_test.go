package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

func TestPastAsksForAQueueOrForAllOfThem(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	if r := s.do(t, "one\n", "publish", "news"); r.code != 0 {
		t.Fatalf("publish: %+v", r)
	}
	if r := s.do(t, "", "past", "news"); r.code != 0 || !strings.HasPrefix(r.stdout, "news  until ") ||
		!strings.Contains(r.stdout, "\nready ") {
		t.Errorf("past: %+v", r)
	}
	if r := s.do(t, "", "past"); r.code != 0 || !strings.HasPrefix(r.stdout, "all queues  until ") {
		t.Errorf("past: %+v", r)
	}
	var p httpdoor.Past
	r := s.do(t, "", "past", "news", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &p); err != nil || len(p.Rows) != 1 ||
		len(p.Rows[0].Values["in"]) != 180 {
		t.Errorf("json: %v %+v", err, r)
	}
	if r := s.do(t, "", "past", "none"); r.code != exitFailed || !strings.Contains(r.stderr, "none") {
		t.Errorf("past of no queue: %+v", r)
	}
	for _, bad := range [][]string{{"--what", "weight", "x"}, {"--what", "door"}, {"a", "b"}} {
		r := s.do(t, "", append([]string{"past"}, bad...)...)
		if r.code != exitUsage || strings.Count(r.stderr, "\n") < 2 {
			t.Errorf("past %v: %+v", bad, r)
		}
	}
}

func TestPastShowsNowLeastMostAndAPlotWithItsGaps(t *testing.T) {
	points := func(values ...float32) httpdoor.Points { return values }
	no := float32(math.NaN())
	p := &httpdoor.Past{Time: time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC), Rows: []httpdoor.PastRow{{
		Name: "default/evil\x1b[2J", Values: map[string]httpdoor.Points{"ready": points(0, 1200, no, 600),
			"oldest_seconds": points(0, 1, no, 0.5), "in": points(no, no, no, no), "out": points(1, 2, 3, no)}}}}
	var out bytes.Buffer
	if err := writePast(&out, "queue", p); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"evil [2J until 2026-11-29T01:02:03Z", "now least most -15 min now",
		"ready 600 0 1,200 ▁█ ▅", "oldest 500 ms 0 s 1.00 s ▁█ ▅", "in - - - ", "out - 1.00/s 3.00/s ▃▆█"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
