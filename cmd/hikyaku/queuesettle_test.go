package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// wants runs a command that has to end well and print exactly this.
func (s *served) wants(t *testing.T, stdin, printed string, args ...string) {
	t.Helper()
	if r := s.do(t, stdin, args...); r.code != exitOK || r.stdout != printed {
		t.Errorf("%v: %+v\nit should print %q", args, r, printed)
	}
}

// endsWith runs a command that has to end with this code and say this.
func (s *served) endsWith(t *testing.T, stdin string, code int, says string, args ...string) {
	t.Helper()
	if r := s.do(t, stdin, args...); r.code != code || !strings.Contains(r.stderr, says) {
		t.Errorf("%v: %+v\nit should end with %d and say %q", args, r, code, says)
	}
}

// hold claims messages and returns their tokens.
func (s *served) hold(t *testing.T, queue string, most int) (tokens []string) {
	t.Helper()
	r := s.do(t, "", "claim", queue, "--hold", "--max", fmt.Sprint(most))
	if r.code != exitOK {
		t.Fatalf("claim: %+v", r)
	}
	for d := json.NewDecoder(strings.NewReader(r.stdout)); d.More(); {
		var c httpdoor.Claimed
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, c.Token)
	}
	if len(tokens) != most {
		t.Fatalf("%d tokens, not %d: %s", len(tokens), most, r.stdout)
	}
	return tokens
}

func TestHeldClaimsAreSettledAndExtendedByTheirTokens(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	s.wants(t, "1\n2\n3\n4\n5\n6\n", "", "publish", "jobs")
	tokens := s.hold(t, "jobs", 6)
	s.wants(t, "", "extended 2 messages\n", append(append([]string{"queue", "extend"}, tokens[:2]...), "1h")...)
	s.wants(t, "", "settled 2 messages as done\n", "queue", "settle", tokens[0], tokens[1])
	s.wants(t, tokens[2]+"\n\n"+tokens[3]+"\n", "settled 2 messages as back\n", "queue", "settle", "--back")
	s.wants(t, "", "settled 1 message as dead\n", "queue", "settle", "--dead", "no such customer", tokens[4])
	if r := s.do(t, "", "queue", "peek", "jobs_dead"); !strings.Contains(r.stdout, `"reason":"no such customer"`) {
		t.Errorf("peek: %+v", r)
	}
	s.endsWith(t, "", exitFailed, "not settled: 1 of 2 messages", "queue", "settle", tokens[0], tokens[5])
	s.endsWith(t, "", exitFailed, tokens[5]+": ", "queue", "settle", tokens[5])
	r := s.do(t, "", "queue", "extend", "--json", tokens[0], "10m")
	var one httpdoor.TokenResult
	if err := json.Unmarshal([]byte(r.stdout), &one); err != nil || r.code != exitFailed || one.Problem == nil ||
		one.Problem.Type != "urn:hikyaku:stale" {
		t.Errorf("--json: %+v %v", r, err)
	}
	if got := s.drain(t, "jobs"); got != "3 4" {
		t.Errorf("what went back is %q", got)
	}
}

func TestMistakesWithTokensSayWhatToDo(t *testing.T) {
	s := &served{url: "http://127.0.0.1:1"}
	for _, c := range [][]string{
		{"was given no token", "settle"}, {"gives no reason", "settle", "x", "--dead", ""},
		{"is for messages that go back", "settle", "x", "--delay", "1s"},
		{"none of the others can be", "settle", "x", "--back", "--dead", "why"},
		{"needs a LEASE", "extend"}, {"is no duration", "extend", "x", "soon"},
		{"needs the queue TO", "move", "a"}, {"is both the queue", "move", "a", "default/a"},
	} {
		s.endsWith(t, "", exitUsage, c[0], slices.Insert(c[1:], 0, "queue")...)
	}
	s.endsWith(t, "", exitUsage, "none of the others can be", "claim", "a", "--hold", "--body")
}

func TestMessagesMoveToAnotherQueue(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet+"queues: { small: { max_messages: 1 } }\n")
	s.wants(t, "1\n2\n", "", "publish", "orders", "--attr", "region=eu")
	s.wants(t, "3\n4\n", "", "publish", "orders", "--attr", "region=jp")
	s.wants(t, "", "moved 1 message from orders to eu\n", "queue", "move", "orders", "eu", "--where", "region = 'eu'",
		"--max", "1")
	s.wants(t, "", "{\"moved\":1,\"homeless\":0}\n", "queue", "move", "orders", "eu", "--json", "--where",
		"region = 'eu'")
	s.endsWith(t, "", exitFailed, "queue full", "queue", "move", "orders", "small")
	s.wants(t, "", "moved 2 messages from orders to shop/all\n", "queue", "move", "orders", "shop/all")
	for name, want := range map[string]string{"eu": "1 2", "shop/all": "3 4", "orders": "", "small": ""} {
		if got := s.drain(t, name); got != want {
			t.Errorf("%s has %q, not %q", name, got, want)
		}
	}
}

func TestAMessageIsPutWithAnyBodyAndAllThatItCanHave(t *testing.T) {
	dir := t.TempDir()
	s := serveHere(t, dir, quiet)
	body := []byte("one\ntwo\n\x00\xff")
	path := filepath.Join(dir, "body")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	id := "01a2004c-3a2f-7351-a8cb-d5f8cea18fac"
	s.wants(t, "", "put message "+id+" into scans\n", "queue", "put", "scans", "--file", path, "--id", id, "--key", "k",
		"--dedup", "d", "--delay", "1h", "--expires-in", "2d", "--attr", "page=1")
	s.wants(t, "again", "put nothing into scans: it had message "+id+" with that deduplication id\n", "queue", "put",
		"scans", "--dedup", "d")
	r := s.do(t, "", "queue", "peek", "scans")
	var m httpdoor.Peeked
	if err := json.Unmarshal([]byte(r.stdout), &m); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	if got, err := m.Bytes(); err != nil || !bytes.Equal(got, body) || m.Key != "k" || m.State != "delayed" ||
		m.Expires == nil || len(m.Attributes) != 1 || m.Attributes[0].Value.Text() != "1" {
		t.Errorf("it is %s", r.stdout)
	}
	r = s.do(t, "lines\nof it\n", "queue", "put", "notes", "--json")
	var did httpdoor.PutResult
	if err := json.Unmarshal([]byte(r.stdout), &did); err != nil || did.Sequence != 1 {
		t.Errorf("%v: %+v", err, r)
	}
	if r := s.do(t, "", "claim", "notes", "--body"); r.stdout != "lines\nof it\n\n" {
		t.Errorf("claim: %+v", r)
	}
}
