//go:build linux

package crash

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// doors are those of which promises have messages.
var doors = []string{"http", "sqs", "mysql", "pubsub", "lambda"}

// promises is what clients of all doors were told. Messages are known by their bodies, which say through which door
// they came.
type promises struct {
	mu    sync.Mutex
	t     *testing.T
	made  map[string]int       // by door
	acked map[string]bool      // its put was answered
	hands map[string]int       // how often somebody was given it
	over  map[string]time.Time // its settlement was answered
	again int                  // messages that came after that
	last  time.Time            // when a put was last answered
	pause time.Duration        // the longest in which none was
}

func newPromises(t *testing.T) *promises {
	return &promises{t: t, made: map[string]int{}, acked: map[string]bool{}, hands: map[string]int{},
		over: map[string]time.Time{}, last: time.Now()}
}

// fresh is a body that no message had.
func (p *promises) fresh(door string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made[door]++
	return fmt.Sprintf("%s-%d", door, p.made[door])
}

// acknowledged notes that the put of a message was answered.
func (p *promises) acknowledged(body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acked[body] = true
	now := time.Now()
	p.pause, p.last = max(p.pause, now.Sub(p.last)), now
}

// calm begins to look for the longest pause between two answers, and returns the longest so far.
func (p *promises) calm() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	longest := max(p.pause, time.Since(p.last))
	p.pause, p.last = 0, time.Now()
	return longest
}

// given notes that somebody was given messages that he asked for at a time: an answer may have been long on its way.
func (p *promises) given(asked time.Time, bodies ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range bodies {
		p.hands[b]++
		if over, is := p.over[b]; is && over.Before(asked) {
			p.again++
			p.t.Errorf("%s was settled, which was answered, and is there again %v later", b, asked.Sub(over))
		}
	}
}

// handed notes how often a message was given to somebody so far.
func (p *promises) handed(body string, often int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hands[body] = often
}

// settled notes that the settlement of a message was answered.
func (p *promises) settled(body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over[body] = time.Now()
}

// missing are the messages that were acknowledged and that nobody was given.
func (p *promises) missing() (bodies []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for b := range p.acked {
		if p.hands[b] == 0 {
			bodies = append(bodies, b)
		}
	}
	return bodies
}

// doorCounts are those of the messages of one door.
type doorCounts struct{ put, acknowledged, settled, missing, doubles int }

// counts are those of the messages of each door, and of all as "all".
func (p *promises) counts() map[string]*doorCounts {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]*doorCounts{"all": {}}
	for _, d := range doors {
		all[d] = &doorCounts{}
	}
	count := func(body string, of func(*doorCounts)) {
		door, _, _ := strings.Cut(body, "-")
		if n := all[door]; n != nil { // what is taken of a table is a row
			of(n)
			of(all["all"])
		}
	}
	for d, made := range p.made {
		count(d, func(n *doorCounts) { n.put += made })
	}
	for b := range p.acked {
		count(b, func(n *doorCounts) {
			n.acknowledged++
			if p.hands[b] == 0 {
				n.missing++
			}
		})
	}
	for b := range p.over {
		count(b, func(n *doorCounts) { n.settled++ })
	}
	for b, often := range p.hands {
		if often > 1 {
			count(b, func(n *doorCounts) { n.doubles++ })
		}
	}
	return all
}

func (p *promises) String() string {
	lost, counts := p.missing(), p.counts()
	var byDoor []string
	for _, d := range doors {
		byDoor = append(byDoor, fmt.Sprintf("%s %d", d, counts[d].acknowledged))
	}
	n := counts["all"]
	return fmt.Sprintf("%d put, %d acknowledged (%s), %d settled; not given to anybody: %d %q", n.put, n.acknowledged,
		strings.Join(byDoor, ", "), n.settled, len(lost), lost[:min(3, len(lost))])
}

// table has what became of the messages of each door.
func (p *promises) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %8s %12s %8s %8s %14s\n", "door", "put", "acknowledged", "settled", "missing",
		"given again")
	counts := p.counts()
	for _, d := range append(slices.Clone(doors), "all") {
		n := counts[d]
		fmt.Fprintf(&b, "%-8s %8d %12d %8d %8d %14d\n", d, n.put, n.acknowledged, n.settled, n.missing, n.doubles)
	}
	fmt.Fprintf(&b, "%d messages came back after their settlement was answered\n", p.again)
	return b.String()
}

// tried tells whether something was acknowledged through a door.
func (p *promises) tried(door string) bool { return p.counts()[door].acknowledged > 0 }
