package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// look runs a cluster on plain folders, without faults, and looks at its syncs or its speed.
func (s *settings) look(server, dir string) error {
	c, err := newCluster(server, filepath.Join(dir, "c"), s.nodes, false, s.syncs)
	if c != nil {
		defer c.end()
	}
	if err != nil {
		return err
	}
	if err := c.create(); err != nil {
		return err
	}
	if s.syncs {
		return c.syncs()
	}
	for _, window := range []int{1, 16, 64} {
		took, seconds := c.appends(window, 10*time.Second)
		if len(took) == 0 {
			return fmt.Errorf("nothing was acknowledged")
		}
		slices.Sort(took)
		fmt.Printf("%d in flight: %.0f appends a second, p50 %s, p99 %s\n", window, float64(len(took))/seconds,
			took[len(took)/2].Round(time.Microsecond), took[len(took)*99/100].Round(time.Microsecond))
	}
	for range 5 {
		gap, err := c.failover()
		if err != nil {
			return err
		}
		fmt.Printf("the leader is killed: %.1f s until the next acknowledgement\n", gap.Seconds())
	}
	return nil
}

// failover kills the stream's leader, tells how long nothing was acknowledged, and starts it again.
func (c *cluster) failover() (time.Duration, error) {
	leader, _, ok := c.settled()
	if !ok {
		return 0, fmt.Errorf("the replicas do not become equal")
	}
	t := &trial{settings: &settings{window: 1}, c: c, led: newLedger(), rnd: rand.New(rand.NewPCG(1, 1))}
	stop := t.write(1)
	defer stop()
	for t.led.count() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	nd := c.named(leader)
	nd.kill()
	time.Sleep(10 * time.Millisecond) // for what it had sent
	began, had := time.Now(), t.led.count()
	for t.led.count() == had && time.Since(began) < patient {
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began), c.start(nd)
}

// appends publishes for a while, and tells how long each acknowledgement took.
func (c *cluster) appends(window int, d time.Duration) (took []time.Duration, seconds float64) {
	var number uint64
	var mu sync.Mutex
	w := &writer{c: c, led: newLedger(), window: window, number: func() uint64 { number++; return number },
		answer: func(t time.Duration) { mu.Lock(); took = append(took, t); mu.Unlock() }}
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	began := time.Now()
	w.write(ctx, rand.New(rand.NewPCG(1, 1)))
	return took, time.Since(began).Seconds()
}

// A synced is a sync of a file by a node.
type synced struct {
	node, file string
	ended      float64 // seconds since 1970
}

var syncLine = regexp.MustCompile(`^(\d+\.\d+) (?:fsync|fdatasync)\(\d+<([^>]*)>\) += 0 <(\d+\.\d+)>`)

// syncs publishes lone records a tenth of a second apart, and counts which nodes had synced which files between a
// record's departure and its acknowledgement.
func (c *cluster) syncs() error {
	const records = 50
	time.Sleep(3 * time.Second) // until the servers have written what they write at the start
	leader, _, ok := c.settled()
	if !ok {
		return fmt.Errorf("the replicas do not become equal")
	}
	type span struct{ from, to float64 }
	var spans []span
	var number uint64
	ctx, stop := context.WithCancel(context.Background())
	w := &writer{c: c, led: newLedger(), window: 1, pause: 0, number: func() uint64 {
		time.Sleep(100 * time.Millisecond)
		number++
		return number
	}}
	w.answer = func(took time.Duration) {
		now := time.Now()
		spans = append(spans, span{float64(now.Add(-took).UnixNano()) / 1e9, float64(now.UnixNano()) / 1e9})
		if len(spans) == records {
			stop()
		}
	}
	w.write(ctx, rand.New(rand.NewPCG(1, 1)))
	time.Sleep(time.Second)
	var all []synced
	for _, nd := range c.nodes {
		files, _ := filepath.Glob(filepath.Join(c.dir, nd.name+".strace.*"))
		for _, name := range files {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			for lines := bufio.NewScanner(f); lines.Scan(); {
				if m := syncLine.FindStringSubmatch(lines.Text()); m != nil {
					at, _ := strconv.ParseFloat(m[1], 64)
					took, _ := strconv.ParseFloat(m[3], 64)
					all = append(all, synced{nd.name, kindOfFile(m[2], nd.dir), at + took})
				}
			}
			f.Close()
		}
	}
	count, atOnce := map[string]int{}, map[int]int{}
	for _, s := range spans {
		seen, logs := map[string]bool{}, 0
		for _, y := range all {
			if key := y.node + " " + y.file; y.ended >= s.from && y.ended <= s.to && !seen[key] {
				seen[key] = true
				count[key]++
				if y.file == "raft log of the stream" {
					logs++
				}
			}
		}
		atOnce[logs]++
	}
	fmt.Printf("%d lone records, leader %s; before the acknowledgement was there:\n", len(spans), leader)
	for n := range len(c.nodes) + 1 {
		fmt.Printf("  %d nodes had synced their raft log for %d of the records\n", n, atOnce[n])
	}
	var keys []string
	for k := range count {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Printf("  %s synced for %d\n", k, count[k])
	}
	later := map[string]int{}
	for _, y := range all {
		if y.ended > spans[0].from {
			later[y.file]++
		}
	}
	fmt.Printf("  syncs of all nodes from the first record to a second after the last: %v\n", later)
	return nil
}

// kindOfFile says what a synced file is.
func kindOfFile(name, dir string) string {
	name = strings.TrimPrefix(name, dir+"/js/jetstream/")
	switch {
	case strings.HasPrefix(name, "$SYS/_js_/S-") && strings.Contains(name, "/msgs/"):
		return "raft log of the stream"
	case strings.HasPrefix(name, "$SYS/_js_/_meta_/"):
		return "raft log of the cluster, " + filepath.Base(name)
	case strings.HasPrefix(name, "A/streams/"):
		return "store of the stream, " + filepath.Base(name)
	}
	return name
}
