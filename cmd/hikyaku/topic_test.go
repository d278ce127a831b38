package main

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

func TestTopicsAreListedAndShown(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet+"topics: { ev: { labels: { owner: ops }, subscriptions: { ja: {}, other/en: "+
		"{} } }, lone: {} }\n")
	if r := s.do(t, "one\ntwo\n", "publish", "ev"); r.code != 0 ||
		!strings.Contains(r.stderr, "published 2 messages to ev") {
		t.Fatalf("publish: %+v", r)
	}
	if r := s.do(t, "x\n", "publish", "lone"); r.code != 0 ||
		!strings.Contains(r.stderr, "published 1 message to lone") ||
		!strings.Contains(r.stderr, "warning: 1 message dropped: topic lone has no subscription") ||
		!strings.Contains(r.stderr, "PUT /default/topics/lone/subscriptions/NAME") {
		t.Fatalf("publish: %+v", r)
	}
	r := s.do(t, "", "topic", "ls")
	if r.code != 0 || !regexp.MustCompile(`(?m)^ev +2 +0 +ja other/en *$`).MatchString(r.stdout) ||
		!regexp.MustCompile(`(?m)^lone +0 +1 *$`).MatchString(r.stdout) {
		t.Errorf("ls:\n%s%s", r.stdout, r.stderr)
	}
	if r := s.do(t, "", "topic", "ls", "--json"); !strings.Contains(r.stdout,
		`"subscriptions":["default/ja","other/en"]`) {
		t.Errorf("ls --json: %+v", r)
	}
	if r := s.do(t, "", "topic", "show", "ev"); r.code != 0 || !strings.Contains(r.stdout, `"labels":{"owner":"ops"}`) {
		t.Errorf("show: %+v", r)
	}
	for args, says := range map[string]string{"queue show ev": "ev is a topic, not a queue",
		"topic show ja": "ja is a queue, not a topic"} {
		if r := s.do(t, "", strings.Fields(args)...); r.code != exitFailed || !strings.Contains(r.stderr, says) ||
			!strings.Contains(r.stderr, "hikyaku topic ls") {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

func TestAPublishThatNobodyHearsIsRefusedWhereTheSettingSaysSo(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet+"limits: { require_subscription: true }\ntopics: { lone: {} }\n")
	if r := s.do(t, "x\n", "publish", "lone"); r.code != exitFailed ||
		!strings.Contains(r.stderr, "topic has no subscription: topic lone") {
		t.Errorf("%+v", r)
	}
}

func TestServeListensWhereTheCommandLineSays(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(path, []byte("data_dir: ${HIKYAKU_DATA}\napi: { http: { listen: 127.0.0.1:1 } }\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command(context.Background(), []string{"HIKYAKU_DATA=" + filepath.Join(dir, "data")}, "serve", "-c", path,
		"--listen", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	open := false
	for sc := bufio.NewScanner(stderr); sc.Scan(); {
		if strings.Contains(sc.Text(), "door=http address=127.0.0.1:") &&
			!strings.Contains(sc.Text(), "address=127.0.0.1:1 ") {
			open = true
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	if err := cmd.Wait(); err != nil || !open {
		t.Errorf("open %v, %v", open, err)
	}
}

func TestValidateWarnsOfCertificatesThatAreNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte("api: { http: { tls: { cert: gone.crt, key: gone.key } } }\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	r := hikyaku(t, "", nil, "validate", "-c", path)
	if r.code != 0 || strings.Count(r.stderr, "warning: ") != 2 ||
		!strings.Contains(r.stderr, `api.http.tls.cert: "gone.crt": no such file`) {
		t.Errorf("%+v", r)
	}
}

func TestAFileOfAnotherKindIsNotShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shadow")
	if err := os.WriteFile(path, []byte("root:hunter22\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := hikyaku(t, "", nil, "-c", path); r.code != exitFailed || strings.Contains(r.stderr, "hunter22") ||
		!strings.Contains(r.stderr, "ending") {
		t.Errorf("%+v", r)
	}
}

func TestADeadLetterIsInTheLogAndOneIsNotMany(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	text := "data_dir: ${HIKYAKU_DATA}\nsources: { l: { type: stdin, decoding: { codec: json } } }\nsinks: { o: { " +
		"type: stdout, inputs: l } }\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := hikyaku(t, "no json, but hunter22\n", []string{"HIKYAKU_DATA=" + filepath.Join(dir, "data")}, "-c", path)
	if r.code != exitDead || !strings.Contains(r.stderr, "hikyaku: 1 message became a dead letter\n") ||
		!strings.Contains(r.stderr, "level=WARN") ||
		!strings.Contains(r.stderr, "step=l.decoding count=1 queue=l_dead reason=") ||
		strings.Contains(r.stderr, "hunter22") {
		t.Errorf("%+v", r)
	}
}
