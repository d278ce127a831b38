package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

func TestTapShowsWhatGoesInAndOutWithoutTakingIt(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	if r := s.do(t, "zero\n", "publish", "news"); r.code != 0 {
		t.Fatalf("publish: %+v", r)
	}
	cmd := command(t.Context(), []string{"HIKYAKU_URL=" + s.url}, "tap", "news", "--json", "--where", "n > 1",
		"--limit", "3")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"tapping":{"queue":"default/news"}`) {
		t.Fatalf("the first line is %s", lines.Text())
	}
	if r := s.do(t, `{"n":1}`+"\n"+`{"n":2}`+"\n", "publish", "news"); r.code != 0 {
		t.Fatalf("publish: %+v", r)
	}
	if r := s.do(t, "", "claim", "news", "--max", "3", "--body"); r.stdout != "zero\n{\"n\":1}\n{\"n\":2}\n" {
		t.Errorf("claim: %+v", r)
	}
	var hops []string
	for lines.Scan() {
		var l httpdoor.TapLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.Tapped == nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		hops = append(hops, l.Hop)
		if l.Hop != "done" && (l.Content == nil || l.Content.Body == nil || *l.Content.Body != `{"n":2}`) {
			t.Errorf("the message is %s", lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil || strings.Join(hops, " ") != "accepted claimed done" {
		t.Errorf("%v, %v", hops, err)
	}
	if r := s.do(t, "", "tap", "news", "--where", "n >"); r.code == 0 || !strings.Contains(r.stderr, "^") {
		t.Errorf("a condition that is wrong: %+v", r)
	}
	if r := s.do(t, "", "tap", "nothing"); r.code == 0 || !strings.Contains(r.stderr, "no queue, topic or component") {
		t.Errorf("what is not there: %+v", r)
	}
}

func TestTappedMessagesAreShownOnALineThatFits(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		content httpdoor.Content
		size    int
		want    string
	}{
		{httpdoor.Content{Body: text("{ \"a\" : 1,\n \"b\": 2 }"), Key: "k"}, 20, `  key=k {"a":1,"b":2}`},
		{httpdoor.Content{Body: text("two\nlines")}, 9, "  two lines"},
		{httpdoor.Content{BodyBase64: text("AP8QIA==")}, 4, "  4 B: 00ff1020"},
		{httpdoor.Content{Body: text("\x1b[31mred")}, 8, "  8 B: 1b5b33316d726564"},
		{httpdoor.Content{}, 0, "  (no body)"},
		{httpdoor.Content{Body: text(strings.Repeat("長", 50))}, 150, "  " + strings.Repeat("長", 18) + "…"},
	} {
		hop := httpdoor.JourneyHop{Hop: "accepted", By: "evil\x1b[2J"}
		l := httpdoor.TapLine{Tapped: &httpdoor.Tapped{JourneyHop: hop, ID: "01a2", Content: &c.content, Size: c.size}}
		var out bytes.Buffer
		if err := printTapped(&out, &out, terminal{width: 40}, &l); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		if len(lines) != 3 || lines[1] != c.want || strings.Contains(out.String(), "\x1b") || widthOf(lines[0]) > 40 {
			t.Errorf("%q, want %q below", out.String(), c.want)
		}
	}
}
