//go:build linux

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/sandbox/webhook"
)

const (
	relayKills = 12
	wideQueue  = "wide"
	slimQueue  = "slim"
	keyedQueue = "keyed"
)

// relay is from files to queues, and from the queues to a file and a webhook. The files of wide keep a wanted name when
// they are renamed; those of slim do not.
func relay(dir, url string) string {
	return preamble(filepath.Join(dir, "data")) + `
sources:
  wide: { type: file, include: ['DIR/wide/app.log*'], poll_interval: 20ms, rotate_wait: 200ms, decoding: { codec: json, attributes: [wanted] } }
  slim: { type: file, include: ['DIR/slim/app.log'], poll_interval: 20ms, rotate_wait: 200ms, decoding: { codec: json, attributes: [wanted] } }
  waiting:
    type: queue
    lease: 2s
    from: [{ queue: keyed }, { queue: wide, where: "wanted = true" }, { queue: slim, where: "wanted = true" }]
sinks:
  keep_wide: { type: queue, inputs: [wide], queue: wide }
  keep_slim: { type: queue, inputs: [slim], queue: slim }
  archive:   { type: file, inputs: [waiting], path: 'DIR/out.ndjson' }
  hook:
    type: webhook
    inputs: [waiting]
    url: ` + url + `
    request: { retry_attempts: unlimited, retry_initial_backoff_secs: 0.01, retry_max_duration_secs: 0.1 }
`
}

// line is what the test writes, and finds in the archive.
type line struct {
	From   string `json:"from"`
	N      int    `json:"n"`
	Wanted bool   `json:"wanted"`
	Pad    string `json:"pad,omitempty"`
}

// TestNothingIsLostOrDoubledBetweenFilesQueuesAndSinks kills the relay at random moments while its files grow and
// rotate, and while it is dead.
func TestNothingIsLostOrDoubledBetweenFilesQueuesAndSinks(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	dir := t.TempDir()
	hook, err := webhook.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hook.Close()
	config := strings.ReplaceAll(relay(dir, hook.URL()), "DIR", dir)
	wide, slim := newLogger(t, random, dir, wideQueue), newLogger(t, random, dir, slimQueue)
	d := &door{opened: make(chan struct{})}
	keying, stopKeying := context.WithCancel(t.Context())
	defer stopKeying()
	var keyed int
	var putting sync.WaitGroup
	putting.Go(func() { keyed = putKeyed(keying, d) })
	rotated := func() bool {
		return wide.renamed > 0 && slim.renamed > 0 && wide.truncated > 0 && slim.truncated > 0
	}
	for round := 0; round < relayKills**times || !rotated() && round < 4*relayKills; round++ {
		if round%8 == 3 {
			if err := hook.Script(webhook.Behaviour{Do: webhook.Reset}, webhook.Behaviour{Do: webhook.Forget},
				webhook.Behaviour{Do: webhook.Status, Code: 500}); err != nil {
				t.Fatal(err)
			}
		}
		s := serve(t, config)
		d.open(s.client)
		for range 1 + random.IntN(8) {
			if s.running() {
				wide.step(s)
			}
			if s.running() {
				slim.step(s)
			}
			<-time.After(between(random, 0, 25*time.Millisecond))
		}
		s.kill()
		wide.step(nil)
		slim.step(nil)
	}
	wide.finishLine()
	slim.finishLine()
	s := serve(t, config)
	d.open(s.client)
	stopKeying() // what is under way may need this door to be acknowledged
	putting.Wait()
	total := wide.wanted + slim.wanted + keyed
	var stats [3]httpdoor.Stats
	until(t, func() string {
		return fmt.Sprintf("all is delivered: wrote %d and %d, wanted %d; %d at the webhook; queues %+v", wide.lines,
			slim.lines, total, hook.Counts().Messages, stats)
	}, func() bool {
		for i, name := range []string{wideQueue, slimQueue, keyedQueue} {
			stats[i] = s.stats(t, name)
		}
		return int(stats[0].Totals.Put) >= wide.lines && int(stats[1].Totals.Put) >= slim.lines &&
			int(stats[0].Totals.Done) >= wide.wanted && int(stats[1].Totals.Done) >= slim.wanted &&
			int(stats[2].Totals.Done) >= keyed
	})
	for i, want := range []struct{ put, done int }{{wide.lines, wide.wanted}, {slim.lines, slim.wanted},
		{keyed, keyed}} {
		st := stats[i]
		if int(st.Totals.Put) != want.put || int(st.Totals.Done) != want.done ||
			int(st.Messages) != want.put-want.done || st.Totals.Dead != 0 {
			t.Errorf("queue %s: %+v; want put %d, done %d, and the others left", st.Name, st, want.put, want.done)
		}
	}
	s.stop(t)
	if c := hook.Counts(); c.Messages != total {
		t.Errorf("%d different messages came to the webhook, want %d", c.Messages, total)
	}
	checkArchive(t, filepath.Join(dir, "out.ndjson"), map[string]int{wideQueue: wide.lines, slimQueue: slim.lines,
		keyedQueue: keyed}, total)
	checkJournal(t, filepath.Join(dir, "data"))
	t.Logf("%d and %d lines, %d keyed messages; renamed %d and %d, truncated %d and %d times; %+v", wide.lines,
		slim.lines, keyed,
		wide.renamed, slim.renamed, wide.truncated, slim.truncated, hook.Counts())
	if !rotated() {
		t.Error("the files were not rotated in every way")
	}
}

// putKeyed puts messages of three keys one after the other until ctx ends, each again until it is acknowledged, and
// returns how many.
func putKeyed(ctx context.Context, d *door) int {
	c := d.after(ctx, nil)
	for n := 0; ; n++ {
		text, err := json.Marshal(line{From: keyedQueue, N: n, Wanted: true})
		if err != nil {
			return n
		}
		m := httpdoor.NewMessage(text)
		m.Key, m.Dedup = fmt.Sprintf("key-%d", n%3), fmt.Sprint(n)
		m.Attributes.Set("n", message.Int(int64(n)))
		for {
			if c == nil {
				return n // nobody knows whether it was put, so it is not begun after ctx ended
			}
			if _, err := c.Put(context.WithoutCancel(ctx), queueName(keyedQueue), m); err == nil {
				break
			}
			c = d.after(context.WithoutCancel(ctx), c)
		}
		if ctx.Err() != nil {
			return n + 1
		}
	}
}

// checkArchive demands every wanted line in a file, and those of one key in their order where they stand first.
func checkArchive(t *testing.T, path string, counts map[string]int, total int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	last := map[int]int{0: -1, 1: -1, 2: -1}
	for row := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(row), &l); err != nil || !l.Wanted || l.N >= counts[l.From] {
			t.Fatalf("the archive has %q (%v)", row, err)
		}
		id := fmt.Sprintf("%s %d", l.From, l.N)
		if seen[id] {
			continue
		}
		seen[id] = true
		if l.From == keyedQueue {
			if l.N != last[l.N%3]+3 && l.N >= 3 {
				t.Errorf("key %d: %d came first after %d", l.N%3, l.N, last[l.N%3])
			}
			last[l.N%3] = l.N
		}
	}
	if len(seen) != total {
		t.Errorf("%d of %d wanted lines are in the archive", len(seen), total)
	}
}
