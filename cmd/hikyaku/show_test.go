package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestAQueueIsShownWithWhatItsConditionsCost(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	if r := s.do(t, "one\ntwo\n", "publish", "news", "--attr", "言語=日本語"); r.code != 0 {
		t.Fatalf("publish: %+v", r)
	}
	for _, where := range []string{"`言語` = '日本語'", "`言語` = '日本語' and length(key) is null"} {
		if r := s.do(t, "", "claim", "news", "--where", where); r.code != 0 || r.stdout == "" {
			t.Fatalf("claim: %+v", r)
		}
	}
	r := s.do(t, "", "queue", "show", "news", "--table")
	for _, line := range []string{`queue +news *`, `messages +0 \(0 ready, 0 delayed, 0 claimed, 0 waiting\), 0 B *`,
		`done +2 *`,
		`kept +for +looked at +entries +memory +examined +claims +used`,
		`condition  .*length\(key\) is null +all +0 +0 B +1 +1 +.* ago`, `index +言語 = +all +0 +0 B +2 +2 +.* ago`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(r.stdout) {
			t.Errorf("no line %q in\n%s%s", line, r.stdout, r.stderr)
		}
	}
	if r := s.do(t, "", "queue", "show", "news"); !strings.HasPrefix(r.stdout, `{"name":"default/news"`) ||
		!strings.Contains(r.stdout, `"kind":"index"`) {
		t.Errorf("into a pipe: %+v", r)
	}
	if r := s.do(t, "", "queue", "show", "news", "--json", "--table"); r.code != exitUsage && r.code != exitFailed {
		t.Errorf("%+v", r)
	}
}

func TestTheTablesOfAQueueStayReadable(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	used := now.Add(-90 * time.Second)
	s := httpdoor.Stats{
		Definition: httpdoor.Definition{Columns: []string{"id int not null", "title text"}, MaxAttempts: 5,
			Unordered: true, MaxBytes: 1 << 30, Lease: httpdoor.Duration(time.Minute)},
		Messages: 1234, Ready: 1230, Claimed: 4, Bytes: 5000, Oldest: &used, Examined: 99,
		Views: []httpdoor.View{
			{Kind: "index", Text: "lang =, priority <>", Complete: true, Entries: 1000, Bytes: 27_000, Examined: 1000,
				Claims: 12, Used: &used},
			{Kind: "condition", Text: "title like '%" + strings.Repeat("飛脚", 40) + "%'", Upto: 5000},
		},
	}
	var b bytes.Buffer
	if err := showQueue(&b, queue.Name{Namespace: "default", Name: "news"}, &s, now); err != nil {
		t.Fatal(err)
	}
	const want = `queue           news
--------------  -------------------------------------------------------------
column 1        id int not null
column 2        title text
max attempts    5
lease           1m0s
ordering        none
max bytes       1.00 GiB
messages        1,234 (1,230 ready, 0 delayed, 4 claimed, 0 waiting), 4.88 KiB
oldest          1m30s
`
	if !strings.HasPrefix(b.String(), strings.Split(want, "\n")[0]) {
		t.Errorf("%s", b.String())
	}
	for _, line := range append(strings.Split(want, "\n")[2:9], "waiting claims  0", "examined        99") {
		if !strings.Contains(b.String(), "\n"+line) {
			t.Errorf("no line %q in\n%s", line, b.String())
		}
	}
	for _, part := range []string{"up to 5,000", "never", "1m30s ago", "飛脚飛脚…", "26.4 KiB"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("no %q in\n%s", part, b.String())
		}
	}
}
