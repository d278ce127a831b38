package main

import (
	"encoding/json"
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

func TestTopPrintsTablesAndJSONWhereThereIsNoTerminal(t *testing.T) {
	s := serveHere(t, t.TempDir(), `data_dir: ${HIKYAKU_DATA}
api: { http: { listen: 127.0.0.1:0 }, mysql: { off: true }, pubsub: { off: true }, sqs: { off: true }, lambda: { off: true } }
sources: { jobs: { type: queue, queue: jobs } }
sinks: { away: { type: stdout, inputs: [jobs] } }
`)
	if r := s.do(t, "one\ntwo\n", "publish", "注文の行列"); r.code != 0 {
		t.Fatalf("publish: %+v", r)
	}
	r := s.do(t, "", "top", "--once", "--sort", "ready")
	if r.code != 0 || strings.Contains(r.stdout, "\x1b") {
		t.Fatalf("top: %+v", r)
	}
	lines := strings.Split(r.stdout, "\n")
	if len(lines) < 5 || !strings.Contains(lines[0], "rates over ") || !strings.HasPrefix(lines[2], "queue ") ||
		!strings.HasPrefix(lines[4], "注文の行列 ") {
		t.Errorf("top:\n%s", r.stdout)
	}
	if at, of := widthOf(lines[2]), widthOf(lines[4]); at != of {
		t.Errorf("the heading ends at %d, the row at %d:\n%s", at, of, r.stdout)
	}
	for _, want := range []string{"\ncomponent ", "\njobs ", "\naway ", "\ndoor ", "\nhttp "} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("there is no %q in\n%s", want, r.stdout)
		}
	}
	var top httpdoor.Top
	r = s.do(t, "", "top", "--once", "--json", "--filter", "行列")
	if err := json.Unmarshal([]byte(r.stdout), &top); err != nil || len(top.Queues) != 1 || top.Queues[0].Ready != 2 ||
		top.Over <= 0 || strings.Count(r.stdout, "\n") != 1 {
		t.Errorf("json: %v %+v", err, r)
	}
	for _, bad := range [][]string{{"--interval", "10ms"}, {"--sort", "weight"}, {"-n", "1001"}} {
		r := s.do(t, "", append([]string{"top"}, bad...)...)
		if r.code != exitUsage || strings.Count(r.stderr, "\n") < 2 {
			t.Errorf("top %v: %+v", bad, r)
		}
	}
}

func TestNamesInTopFitAndDoNoHarm(t *testing.T) {
	top := &httpdoor.Top{Over: 2, Queues: []httpdoor.TopQueue{
		{Name: "default/" + strings.Repeat("とても長い名前の行列", 9), Ready: 1234567, Claimed: 20, Oldest: 3, In: 1200,
			Out: 0.5},
		{Name: "default/evil\x1b[2J\x07\u009b31m\n", Ready: 1},
	}}
	for _, width := range []int{40, 80, 200} {
		s := &topScreen{terminal: terminal{width: width}, height: 24, top: *top}
		frame := s.frame()
		for i, line := range strings.Split(strings.TrimPrefix(frame, "\x1b[H"), "\r\n") {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\x1b[J"), "\x1b[K")
			if widthOf(line) > width || strings.ContainsAny(line, "\x1b\x07\u009b\n") {
				t.Errorf("%d columns, line %d: %q", width, i, line)
			}
		}
		if width >= 80 && !strings.Contains(frame, "3.00 s") {
			t.Errorf("%d columns: the last one is not there:\n%s", width, frame)
		}
	}
}

func TestKeysOfTop(t *testing.T) {
	s := &topScreen{terminal: terminal{width: 80}, height: 24}
	press := func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			if s.typed([]byte(k)) {
				t.Fatalf("%q quits", k)
			}
		}
	}
	press("s")
	if got := s.request(); got.Sort != "ready" || got.Max != 24-frameLines {
		t.Errorf("after s: %+v", got)
	}
	press("S", "S")
	if got := s.request().Sort; got != "name" {
		t.Errorf("before the first one is %q", got)
	}
	press("/", "q", "注文x", "\x7f")
	if s.request().Filter != "q注文" || !strings.Contains(s.frame(), "/q注文_") {
		t.Errorf("the filter is %q", s.request().Filter)
	}
	press("\r", "\t")
	if s.editing || s.table != 1 ||
		!strings.Contains(s.frame(), "[components]  doors   by as configured  only with q注文") {
		t.Errorf("after tab: %+v\n%s", s, s.frame())
	}
	press("\x1b[D", "\x1b")
	if s.table != 0 || s.request().Filter != "" {
		t.Errorf("after escape: %+v", s)
	}
	for _, quit := range []string{"q", "\x03"} {
		if !s.typed([]byte(quit)) {
			t.Errorf("%q does not quit", quit)
		}
	}
	press("/")
	if !s.typed([]byte{ctrlC}) {
		t.Error("Ctrl-C does not quit while a filter is typed")
	}
}
