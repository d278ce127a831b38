//go:build linux

package crash

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// ledger has what clients of a queue were promised, and complains when that is not kept. It knows messages by their
// bodies, each of which is put as one message. Its times are on the safe side: a lease that it takes to be alive is.
type ledger struct {
	t *testing.T

	mu      sync.Mutex
	entries map[string]*record
	claims  int
	kept    int // tokens that settled after a kill, thanks to their lease
	stale   int
}

// record is what is known of one message.
type record struct {
	acknowledged bool      // its put was answered
	sequence     uint64    // 0: never seen
	attempts     []int     // that were handed out
	until        time.Time // nobody else may hold it before; zero: unknown
	tried        bool      // somebody has asked to settle it as done
	settled      time.Time // when that was answered
}

// held is a claim that a worker has.
type held struct {
	body, token string
	attempt     int
	until       time.Time // its lease does not end before
	long        bool      // it was extended beyond any kill
	over        bool      // somebody else has it, or had it
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t: t, entries: map[string]*record{}}
}

func (l *ledger) of(body string) *record {
	r := l.entries[body]
	if r == nil {
		r = &record{}
		l.entries[body] = r
	}
	return r
}

func (l *ledger) acknowledged(bodies []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range bodies {
		l.of(b).acknowledged = true
	}
}

// claimed enters what a claim that was sent at asked has brought.
func (l *ledger) claimed(claims []httpdoor.Claimed, asked time.Time) []*held {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	hs := make([]*held, len(claims))
	for i := range claims {
		c := &claims[i]
		b, err := c.Bytes()
		if err != nil {
			l.t.Error(err)
		}
		r := l.of(string(b))
		if !r.settled.IsZero() && r.settled.Before(asked) {
			l.t.Errorf("message %s came back: settled %v before it was claimed again, attempt %d", b,
				asked.Sub(r.settled), c.Attempt)
		}
		if r.sequence != 0 && r.sequence != c.Sequence {
			l.t.Errorf("message %s is in the queue twice: %d and %d", b, r.sequence, c.Sequence)
		}
		for _, a := range r.attempts {
			if a == c.Attempt {
				l.t.Errorf("message %s was handed out twice as attempt %d", b, a)
			}
		}
		if now.Before(r.until) {
			l.t.Errorf("message %s was handed out, attempt %d, although a lease of it has %v to go", b, c.Attempt,
				r.until.Sub(now))
		}
		r.sequence, r.attempts, r.until = c.Sequence, append(r.attempts, c.Attempt), asked.Add(lease)
		hs[i] = &held{body: string(b), token: c.Token, attempt: c.Attempt, until: r.until}
		l.claims++
	}
	return hs
}

// extended enters the answers to an extension that was sent at asked, and returns the claims that are still held.
func (l *ledger) extended(hs []*held, results []httpdoor.TokenResult, asked time.Time) []*held {
	l.mu.Lock()
	defer l.mu.Unlock()
	var alive []*held
	for i, h := range hs {
		switch {
		case results[i].OK:
			h.until, h.long = asked.Add(longLease), true
			l.of(h.body).until = h.until
			alive = append(alive, h)
		case time.Now().Before(h.until):
			l.t.Errorf("claim of %s could not be extended with %v to go: %v", h.body, time.Until(h.until),
				results[i].Problem)
		}
	}
	return alive
}

// trying says that somebody is about to settle claims.
func (l *ledger) trying(hs []*held, as string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range hs {
		r := l.of(h.body)
		r.tried = r.tried || as == httpdoor.Done
		h.over = slices.Max(r.attempts) > h.attempt
		if as == httpdoor.Back {
			r.until = time.Time{}
		}
	}
}

// settledAs enters the answers to settlements. again: they were sent before, and nobody knows what became of them then.
func (l *ledger) settledAs(as string, hs []*held, results []httpdoor.TokenResult, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for i, h := range hs {
		r := l.of(h.body)
		switch {
		case results[i].OK && h.over:
			l.t.Errorf("attempt %d of %s was settled with a token that was over: attempts %v", h.attempt, h.body,
				r.attempts)
		case results[i].OK && as == httpdoor.Done:
			r.settled = now
			if h.long {
				l.kept++
			}
		case results[i].OK, again:
		case now.Before(h.until):
			l.t.Errorf("claim of %s could not be settled with %v to go: %v", h.body, h.until.Sub(now),
				results[i].Problem)
		default:
			l.stale++
		}
	}
}

// close compares the ledger with the totals of the queue, which is empty.
func (l *ledger) close(totals httpdoor.Totals) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var seen, settled uint64
	for b, r := range l.entries {
		if r.acknowledged && !r.tried {
			l.t.Errorf("message %s was acknowledged, and is gone although nobody settled it (handed out as %v)", b,
				r.attempts)
		}
		if r.sequence != 0 {
			seen++
		}
		if !r.settled.IsZero() {
			settled++
		}
	}
	if totals.Put != seen || totals.Done != seen || settled > seen {
		l.t.Errorf("put %d, done %d; %d messages were handed out, %d settled", totals.Put, totals.Done, seen, settled)
	}
	if l.kept == 0 || l.stale == 0 {
		l.t.Errorf("the kills have tried nothing: %d claims held over one, %d leases ended", l.kept, l.stale)
	}
}

func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	acknowledged := 0
	for _, r := range l.entries {
		if r.acknowledged {
			acknowledged++
		}
	}
	return fmt.Sprintf("%d messages, %d acknowledged, %d claims, %d settled after a kill, %d stale", len(l.entries),
		acknowledged, l.claims, l.kept, l.stale)
}
