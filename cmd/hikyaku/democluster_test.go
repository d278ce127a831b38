package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// demoLedgerLine is how the demo of a cluster ends.
var demoLedgerLine = regexp.MustCompile(
	`(?m)^([1-9]\d*) takeovers: acknowledged ([1-9][\d,]*), taken ([\d,]+), 0 lost$`)

func TestTheDemoOfAClusterLosesNothing(t *testing.T) {
	dir := t.TempDir()
	r := hikyaku(t, "", []string{"TMPDIR=" + dir, "TMP=" + dir}, "demo", "cluster", "--for", "10s",
		"--kill-every", "3s")
	line := demoLedgerLine.FindStringSubmatch(r.stdout)
	if r.code != exitOK || line == nil || line[2] != line[3] {
		t.Fatalf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, door := range demoDoors() {
		if !regexp.MustCompile(`(?m)^` + door.name + ` +[1-9][\d,]* +[1-9][\d,]* +[1-9]`).MatchString(r.stdout) {
			t.Errorf("nothing came through the door %s:\n%s", door.name, r.stdout)
		}
	}
	if strings.Count(r.stdout, " took over in term ") == 0 || strings.Contains(r.stdout, "\x1b") {
		t.Errorf("no plain line for a takeover:\n%q", r.stdout)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestTheDemoOfAClusterFailsForALostMessage(t *testing.T) {
	b := newDemoBook()
	b.begin(time.Now())
	for _, door := range demoDoors() {
		body := b.fresh(door.name)
		b.acknowledged(door.name, body, time.Now())
		b.took(door.name, body)
	}
	b.took("http", b.fresh("http")) // it was not acknowledged: it makes good for no other
	var out strings.Builder
	if err := b.account(&out); err != nil || !strings.Contains(out.String(), ", 0 lost\n") {
		t.Errorf("without a loss: %q, %v", out.String(), err)
	}
	b.acknowledged("http", b.fresh("http"), time.Now())
	out.Reset()
	if err := b.account(&out); err == nil || !strings.Contains(out.String(), ", 1 lost\n") {
		t.Errorf("with a loss: %q, %v", out.String(), err)
	}
}

func TestTheDemoOfAClusterSaysWhatItsFlagsTake(t *testing.T) {
	for want, args := range map[string][]string{
		"--kill-every 1ms is not between 1s and 1h0m0s": {"--kill-every", "1ms"},
		"--for 2s is shorter than --kill-every 5s":      {"--for", "2s"},
	} {
		r := hikyaku(t, "", nil, append([]string{"demo", "cluster"}, args...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: exit status %d, %q, want %q", args, r.code, r.stderr, want)
		}
	}
}

// Other accounts of the machine reach the nodes of a demo.
func TestNobodyKnowsTheSecretOfADemoBeforeItRuns(t *testing.T) {
	secret := func() string {
		d := clusterDemo{dir: t.TempDir(), doors: demoDoors()}
		if err := d.configure(); err != nil {
			t.Fatal(err)
		}
		return d.members.file.Cluster.Secret.Reveal()
	}
	if one, other := secret(), secret(); one == other {
		t.Errorf("two demos have the secret %q", one)
	}
}
