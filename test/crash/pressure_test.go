//go:build linux

package crash

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sandbox/webhook"
)

// inFlight is how many messages a pipeline has on their way at most.
const inFlight = 10_000

func TestAHangingWebhookHoldsUpTheFileBesideItOnlyAtTheBoundOfMessagesInFlight(t *testing.T) {
	t.Parallel()
	const jobs = inFlight + 2000
	dir, hook := t.TempDir(), listen(t)
	always(t, hook, webhook.Behaviour{Do: webhook.Hang})
	out := filepath.Join(dir, "out.txt")
	s := serve(t, strings.Replace(delivering(dir, hook.URL(), "3"), "sinks: {",
		"sinks: { archive: { type: file, inputs: [waiting], path: '"+out+"' },", 1))
	for i := 0; i < jobs; i += 2000 {
		s.put(t, "jobs", names(2000)...)
	}
	until(t, func() string { return fmt.Sprintf("the archive has %d messages; it has %d", inFlight, linesOf(t, out)) },
		func() bool { return linesOf(t, out) >= inFlight })
	if c := hook.Counts(); c.Delivered != 0 {
		t.Errorf("the webhook does not hang: %+v", c)
	}
	always(t, hook, webhook.Behaviour{Do: webhook.Accept})
	until(t, func() string { return fmt.Sprintf("both have all: %d, %+v", linesOf(t, out), hook.Counts()) },
		func() bool { return s.stats(t, "jobs").Messages == 0 })
	if got := linesOf(t, out); got != jobs || hook.Counts().Messages != jobs {
		t.Errorf("the archive has %d, the webhook %+v", got, hook.Counts())
	}
	s.stop(t)
	checkJournal(t, filepath.Join(dir, "data"))
}

func linesOf(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

const (
	bigLine  = 40_000
	bigLines = 5_000 // 200 MB
	// twice the bytes that may be in flight in both pipelines, for the garbage collector, and the program itself
	memoryMax = 450 << 20
)

// TestAFarEndThatIsDownCostsNoMemory sends 200 MB two ways to a webhook that is down: straight from the file, which
// must not be read on, and through a queue, which must not keep the bodies in memory.
func TestAFarEndThatIsDownCostsNoMemory(t *testing.T) {
	t.Parallel()
	dir, hook := t.TempDir(), listen(t)
	always(t, hook, webhook.Behaviour{Do: webhook.Status, Code: 503})
	in := filepath.Join(dir, "in.log")
	writeBig(t, in)
	sink := `, url: ` + hook.URL() +
		`, request: { retry_attempts: unlimited, retry_initial_backoff_secs: 0.05, retry_max_duration_secs: 0.2, concurrency: 8 } }`
	s := serve(t, preamble(filepath.Join(dir, "data"))+`
sources:
  direct:  { type: file, include: ['`+in+`'] }
  stored:  { type: file, include: ['`+in+`'] }
  waiting: { type: queue, queue: big }
sinks:
  keep: { type: queue, inputs: [stored], queue: big }
  hook: { type: webhook, inputs: [direct, waiting]`+sink+"\n")
	until(t, func() string { return fmt.Sprintf("all lines are in the queue: %+v", s.stats(t, "big")) },
		func() bool { return s.stats(t, "big").Totals.Put == bigLines && hook.Counts().Requests > 500 })
	if c := hook.Counts(); c.Delivered != 0 {
		t.Errorf("the webhook is not down: %+v", c)
	}
	down := s.peakMemory(t)
	always(t, hook, webhook.Behaviour{Do: webhook.Accept})
	until(t, func() string { return fmt.Sprintf("everything is delivered: %+v", hook.Counts()) },
		func() bool { return hook.Counts().Messages == 2*bigLines && s.stats(t, "big").Messages == 0 })
	peak := s.peakMemory(t)
	t.Logf("peak of memory: %d MiB while it was down, %d MiB in all", down>>20, peak>>20)
	if peak > memoryMax {
		t.Errorf("it has used %d MiB, more than %d", peak>>20, memoryMax>>20)
	}
	s.stop(t)
	checkJournal(t, filepath.Join(dir, "data"))
}

func writeBig(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	pad := strings.Repeat("x", bigLine)
	for i := range bigLines {
		fmt.Fprintf(w, "%07d %s\n", i, pad)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
