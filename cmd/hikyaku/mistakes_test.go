package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestAWrongCommandLineEndsWithStatus2AndSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"srve"}, "did you mean hikyaku serve?"},
		{[]string{"help", "srve"}, "did you mean hikyaku serve?"},
		{[]string{"queue", "purg", "news"}, "did you mean hikyaku queue purge?"},
		{[]string{"queue", "nonsense"}, `has no command "nonsense"`},
		{[]string{"bench", "nonsense"}, `has no command "nonsense"`},
		{[]string{"journal", "nonsense"}, `has no command "nonsense"`},
		{[]string{"validate", "a.yaml"}, `takes no argument "a.yaml"`},
		{[]string{"topic", "ls", "a/b"}, "no namespace"},
		{[]string{"topic", "show"}, "needs the NAME of a topic"},
		{[]string{"serve", "--listen", "nowhere"}, `--listen: "nowhere" is not host:port`},
		{[]string{"serve", "--listen", "127.0.0.1:99999"}, "has no port"},
		{[]string{"serve", "--listen", "0.0.0.0:0"}, "without users"},
		{[]string{"queue", "seek", "--ago", "1h"}, "needs the NAME of a queue"},
		{[]string{"queue", "seek", "news"}, "takes one of --time, --ago and --snapshot, and 0 are given"},
		{[]string{"queue", "seek", "news", "--ago", "1h", "--snapshot", "s"}, "and 2 are given"},
		{[]string{"queue", "seek", "news", "--ago", "-1h"}, "not negative"},
		{[]string{"queue", "seek", "news", "--ago", "yesterday"}, "write it as 90s, 1h30m or 7d"},
		{[]string{"queue", "seek", "news", "--time", "yesterday"}, `"yesterday" is no time`},
		{[]string{"queue", "seek", "news", "--snapshot", ""}, "names no snapshot"},
		{[]string{"snapshot", "create", "monday"}, "name it with --queue QUEUE"},
		{[]string{"snapshot", "create", "--queue", "news"}, "needs the NAME of the new snapshot"},
		{[]string{"snapshot", "create", "monday", "--queue", "news", "--life", "0"}, "write --life 7d"},
		{[]string{"snapshot", "create", "monday", "--queue", "news", "--life", "999999999d"},
			"write it as 90s, 1h30m or 7d"},
		{[]string{"snapshot", "create", "monday", "--queue", "news", "--label", "x"}, "NAME=VALUE"},
		{[]string{"snapshot", "ls", "a/b"}, "no namespace"},
		{[]string{"snapshot", "nonsense"}, `has no command "nonsense"`},
		{[]string{"publish"}, "needs the NAME of a topic or queue"},
		{[]string{"claim", "a", "b"}, `"b" is one too many`},
		{[]string{"queue", "ls", "a/b"}, "no namespace"},
		{[]string{"function", "deploy"}, "needs the NAME of a function"},
		{[]string{"function", "deploy", "f"}, "there is nothing to deploy"},
		{[]string{"function", "deploy", "f", "--env", "x"}, "NAME=VALUE"},
		{[]string{"function", "invoke", "f", "{}"}, `"{}" is one too many`},
		{[]string{"publish", "news", "--delay", "-5s"}, "--delay -5s"},
		{[]string{"publish", "news", "--max-line-bytes", "0"}, "--max-line-bytes"},
		{[]string{"publish", "news", "--attr", "x"}, "NAME=VALUE"},
		{[]string{"claim", "news", "--wait", "-1s"}, "--wait -1s"},
		{[]string{"claim", "news", "--lease", "-1s"}, "--lease -1s"},
	} {
		r := hikyaku(t, "", nil, c.args...)
		if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%v: status %d, want %q in %q (%q)", c.args, r.code, c.says, r.stderr, r.stdout)
		}
	}
}

func TestAGroupAloneShowsItsHelp(t *testing.T) {
	for _, args := range [][]string{{"queue"}, {"help", "queue"}, {"help"}, {}} {
		if r := hikyaku(t, "", nil, args...); r.code != 0 || !strings.Contains(r.stdout, "Available Commands") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestNoSecretIsShown(t *testing.T) {
	env := []string{"HIKYAKU_URL=http://ops:topsecret@127.0.0.1:1"}
	for _, args := range [][]string{{"queue", "ls"}, {"queue", "ls", "--help"}, {"publish", "news"},
		{"claim", "--help"}} {
		if r := hikyaku(t, "", env, args...); strings.Contains(r.stdout+r.stderr, "topsecret") {
			t.Errorf("%v shows the secret: %+v", args, r)
		}
	}
}

func TestASecretFileIsCheckedBeforeItIsSent(t *testing.T) {
	for text, says := range map[string]string{"": "is empty", "\n": "is empty", "one\ntwo\n": "more than one line"} {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"queue", "function"} {
			if r := hikyaku(t, "", nil, command, "ls", "--secret-file", path); r.code != exitFailed ||
				!strings.Contains(r.stderr, says) {
				t.Errorf("%s, %q: %+v", command, text, r)
			}
		}
	}
}

func TestErrorsOfTheDoorAreToldInTheCommandsWords(t *testing.T) {
	const users = quiet + "users: { ops: { secret: a-long-secret, grants: [{ can: [put, take, admin], on: [\"*\"] }] " +
		"} }\n"
	s := serveHere(t, t.TempDir(), users)
	if r := s.do(t, "", "queue", "ls"); r.code != exitFailed ||
		!strings.Contains(r.stderr, "hikyaku: Who are you?\n") || !strings.Contains(r.stderr, "HIKYAKU_SECRET") {
		t.Errorf("without a secret: %+v", r)
	}
	ops := func(args ...string) result {
		return hikyaku(t, "", []string{"HIKYAKU_URL=" + s.url, "HIKYAKU_SECRET=a-long-secret"}, args...)
	}
	if r := ops("queue", "show", "nothing"); !strings.Contains(r.stderr, "hikyaku queue ls") ||
		strings.Contains(r.stderr, "PUT") {
		t.Errorf("a queue that is not there: %+v", r)
	}
	if r := ops("claim", "news", "--where", "lang = 'ja' an x"); strings.Count(r.stderr, "unexpected an") != 1 ||
		!strings.Contains(r.stderr, "^") {
		t.Errorf("a mistake in a condition: %+v", r)
	}
}

func TestAClaimOfNothingSaysSo(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	if r := s.do(t, "", "claim", "news"); r.code != 0 || r.stdout != "" || r.stderr != "nothing to claim in news\n" {
		t.Errorf("%+v", r)
	}
}

func TestWhatACommandCouldNotPrintGoesBack(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	s := serveHere(t, t.TempDir(), quiet)
	if r := s.do(t, strings.Repeat("a line\n", 250), "publish", "news"); r.code != 0 {
		t.Fatal(r)
	}
	cmd := command(context.Background(), []string{"HIKYAKU_URL=" + s.url}, "claim", "news", "--max", "250")
	cmd.Stdout = full
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("nothing could be printed, and the status is %d", cmd.ProcessState.ExitCode())
	}
	if r := s.do(t, "", "queue", "ls"); !regexp.MustCompile(`(?m)^news +250 +0 +0 +0 `).MatchString(r.stdout) {
		t.Errorf("not everything went back:\n%s", r.stdout)
	}
	if r := s.do(t, "", "claim", "news", "--max", "250", "--body"); r.code != 0 ||
		strings.Count(r.stdout, "\n") != 250 {
		t.Errorf("status %d, %d lines: %s", r.code, strings.Count(r.stdout, "\n"), r.stderr)
	}
}

func TestALineThatIsTooLongIsNamed(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	r := s.do(t, "one\n"+strings.Repeat("x", 100)+"\n", "publish", "news", "--max-line-bytes", "50")
	if r.code != exitFailed || !strings.Contains(r.stderr, "line 2 of stdin is longer than 50 bytes") {
		t.Errorf("%+v", r)
	}
}

func TestDeadLettersOfARunAreToldByStepWithTheReason(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "json.yaml")
	config := "data_dir: " + filepath.Join(dir, "data") + "\nsources: { in: { type: stdin, decoding: { codec: json } " +
		"} }\nsinks: { out: { type: stdout, inputs: [in] } }\n"
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	r := hikyaku(t, "not json\n{}\n", nil, "run", "-c", path)
	if r.code != exitDead ||
		!regexp.MustCompile(`in\.decoding gave up 1, now in the queue in_dead: \S+`).MatchString(r.stderr) ||
		!strings.Contains(r.stderr, "--to") {
		t.Errorf("%+v", r)
	}
}

func TestADemoDoesNotMixWithAnEarlierOne(t *testing.T) {
	dir := t.TempDir()
	if r := hikyaku(t, "", nil, "demo", "--dir", dir, "--users", "100"); r.code != 0 {
		t.Fatal(r)
	}
	if r := hikyaku(t, "", nil, "demo", "--dir", dir); r.code != exitUsage ||
		!strings.Contains(r.stderr, "earlier demo") {
		t.Errorf("%+v", r)
	}
	if r := hikyaku(t, "", nil, "demo", "--users", "0"); r.code != exitUsage ||
		!strings.Contains(r.stderr, "--users 0") {
		t.Errorf("%+v", r)
	}
}
