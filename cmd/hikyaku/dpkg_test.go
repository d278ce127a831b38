package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/webhook"
)

// TestTheDpkgExampleDeliversEveryLineAcrossKills runs the documented command over a package log, kills it at random
// points, again and again, and lets it finish: every line is in the queue once, and every matching one has reached the
// file and the webhook.
func TestTheDpkgExampleDeliversEveryLineAcrossKills(t *testing.T) {
	const kills = 40
	dir := t.TempDir()
	lines := madeUpLog(20_000)
	log := filepath.Join(dir, "dpkg.log")
	if err := os.WriteFile(log, lines, 0o644); err != nil {
		t.Fatal(err)
	}
	receiver, err := webhook.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer receiver.Close()
	out := filepath.Join(dir, "out.ndjson")
	env := []string{"HIKYAKU_DATA=" + filepath.Join(dir, "data"), "DPKG_OUT=" + out, "DPKG_WEBHOOK=" + receiver.URL()}
	example, err := filepath.Abs("../../examples/dpkg.yaml")
	if err != nil {
		t.Fatal(err)
	}

	killed := 0
	for try := 0; ; try++ {
		if try > 10*kills {
			t.Fatalf("it did not finish in %d runs", try)
		}
		in, err := os.Open(log)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cmd := command(ctx, env, "-c", example)
		cmd.Stdin = in
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if killed < kills {
			time.AfterFunc(time.Duration(rand.IntN(150))*time.Millisecond, cancel) // Kill is what the context does
		}
		err = cmd.Wait()
		cancel()
		in.Close()
		if cmd.ProcessState.Success() { // also when the kill came too late, and err is the context's
			break
		}
		if cmd.ProcessState.Exited() { // by itself
			t.Fatalf("run %d: %v\n%s", try, err, &stderr)
		}
		killed++
	}
	t.Logf("killed %d times", killed)

	want := expected(t, lines)
	got := map[string]int{}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		got[canonical(t, line)]++
	}
	for line, n := range want {
		if got[line] < n {
			t.Errorf("the file has %d of %d %s", got[line], n, line)
		}
	}
	for line := range got {
		if want[line] == 0 {
			t.Errorf("the file has a line that nobody made: %s", line)
		}
	}
	total := 0
	for _, n := range want {
		total += n
	}
	if c := receiver.Counts(); c.Messages != total {
		t.Errorf("the webhook got %d messages, want %d", c.Messages, total)
	}
	checkStore(t, filepath.Join(dir, "data"), bytes.Count(lines, []byte("\n")), total)
}

// expected are the deliveries that the log asks for, made without any part of the program.
func expected(t *testing.T, log []byte) map[string]int {
	want := map[string]int{}
	for line := range strings.Lines(string(log)) {
		f := strings.Fields(line)
		if f[2] != "install" && f[2] != "upgrade" {
			continue
		}
		pkg, arch, _ := strings.Cut(f[3], ":")
		var from any = f[4]
		if f[4] == "<none>" {
			from = nil
		}
		b, err := json.Marshal(map[string]any{"at": f[0] + " " + f[1], "action": f[2], "package": pkg, "arch": arch,
			"from": from, "to": f[5]})
		if err != nil {
			t.Fatal(err)
		}
		want[string(b)]++
	}
	return want
}

func canonical(t *testing.T, line string) string {
	var v any
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// checkStore looks into the journal that the runs left.
func checkStore(t *testing.T, data string, lines, matching int) {
	j, err := file.Open(t.Context(), file.Options{Dir: journalDir(data)})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s, err := queue.Open(t.Context(), queue.Options{Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	st, err := s.Stats(t.Context(), queue.Name{Namespace: queue.DefaultNamespace, Name: "dpkg"})
	if err != nil {
		t.Fatal(err)
	}
	if int(st.TotalPut) != lines || int(st.TotalDone) != matching || int(st.Messages()) != lines-matching {
		t.Errorf("%d lines and %d matching, but %d were put, %d are done, %d are left", lines, matching, st.TotalPut,
			st.TotalDone, st.Messages())
	}
}
