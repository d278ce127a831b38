//go:build linux

package crash

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// tally counts what a cluster went through.
type tally struct {
	began     time.Time
	faults    map[string]int
	takeovers []time.Duration      // how long nothing was acknowledged around faults that moved the shard
	terms     map[string]time.Time // when a node began to own the shard, by the numbers of terms
}

var newTerm = regexp.MustCompile(`time=(\S+) .*msg="this node owns the shard" term=(\d+)`)

// look reads in the logs of the nodes that live who has owned the shard.
func (ns *nodes) look() {
	ns.t.Helper()
	for _, l := range ns.lives {
		for _, m := range newTerm.FindAllStringSubmatch(l.log(), -1) {
			at, err := time.Parse(time.RFC3339Nano, m[1])
			must(ns.t, err)
			ns.tally.terms[m[2]] = at
		}
	}
}

// takeovers are the times at which a node began to own the shard.
func (ns *nodes) takeovers() []time.Time {
	ns.t.Helper()
	ns.look()
	return slices.Collect(maps.Values(ns.tally.terms))
}

// suffer does one fault, waits until messages are acknowledged again, and says what happened.
func (ns *nodes) suffer(number int, kind faultKind) {
	ns.t.Helper()
	before, began := len(ns.takeovers()), time.Now()
	ns.book.calm()
	more := kind.do(ns, ns.victims())
	ended := time.Now()
	ns.progress()
	again, pause := time.Since(ended), ns.book.calm()
	ns.tally.faults[kind.name]++
	moved := ""
	if after := len(ns.takeovers()); after > before {
		moved = fmt.Sprintf(", owner number %d", after)
		ns.tally.takeovers = append(ns.tally.takeovers, pause)
	}
	if more != "" {
		more = ", " + more
	}
	what := fmt.Sprintf("fault %d: %s%s, for %.1f s%s; acknowledged again after %.1f s, the longest pause %.1f s; %s",
		number, kind.name, more, ended.Sub(began).Seconds(), moved, again.Seconds(), pause.Seconds(), ns.book)
	if ns.t.Failed() {
		ns.t.Fatalf("something was found: %s", what)
	}
	ns.t.Log(what)
	if number%25 == 0 {
		ns.told.h.check()
		ns.t.Log(ns.told.h)
	}
}

// text is the sum of it all.
func (y *tally) text(book *promises, told *history) string {
	var b strings.Builder
	total := 0
	kinds := slices.Sorted(maps.Keys(y.faults))
	for _, k := range kinds {
		total += y.faults[k]
	}
	fmt.Fprintf(&b, "%d faults in %v\n", total, time.Since(y.began).Round(time.Second))
	for _, k := range kinds {
		fmt.Fprintf(&b, "  %6d  %s\n", y.faults[k], k)
	}
	b.WriteString(book.table())
	fmt.Fprintln(&b, told)
	fmt.Fprintf(&b, "how long nothing was acknowledged when the shard moved, %d times\n", len(y.takeovers))
	b.WriteString(histogram(y.takeovers))
	return strings.TrimRight(b.String(), "\n")
}

// histogram draws how often each duration was.
func histogram(ds []time.Duration) string {
	var b strings.Builder
	const widest = 50
	var counts []int
	edges := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second,
		2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 7 * time.Second, 10 * time.Second,
		20 * time.Second, time.Hour}
	for i, e := range edges {
		counts = append(counts, 0)
		for _, d := range ds {
			if d < e && (i == 0 || d >= edges[i-1]) {
				counts[i]++
			}
		}
	}
	most := max(1, slices.Max(counts))
	for i, n := range counts {
		name := "  up to " + fmt.Sprintf("%5v", edges[i])
		if i == len(edges)-1 {
			name = "  more       "
		}
		fmt.Fprintf(&b, "%s  %6d  %s\n", name, n, strings.Repeat("#", (n*widest+most-1)/most))
	}
	return b.String()
}
