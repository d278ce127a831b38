package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestAWatchedCampaignIsALineForEachChangeInAFile(t *testing.T) {
	var b bytes.Buffer
	l := &liveLines{w: &b}
	for _, text := range []string{"running  made 1", "running  made 1", "done  made 2"} {
		if err := l.show(text); err != nil {
			t.Fatal(err)
		}
	}
	l.end()
	if b.String() != "running  made 1\ndone  made 2\n" {
		t.Errorf("%q", &b)
	}
}

func TestAWatchedCampaignIsOneLineOnATerminal(t *testing.T) {
	var b bytes.Buffer
	l := &liveLines{w: &b, terminal: true}
	l.end() // nothing was shown
	for _, text := range []string{"running  made 1", "running  made 2  problem: " + strings.Repeat("no\r\n", 100)} {
		if err := l.show(text); err != nil {
			t.Fatal(err)
		}
	}
	l.end()
	lines := strings.Split(b.String(), "\r")
	if len(lines) != 3 || lines[1] != "running  made 1\x1b[K" || strings.Count(b.String(), "\n") != 1 ||
		len([]rune(lines[2])) > usualWidth-1+len("\x1b[K\n") || !strings.HasSuffix(lines[2], "…\x1b[K\n") {
		t.Errorf("%q", &b)
	}
}
