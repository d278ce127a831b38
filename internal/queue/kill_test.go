package queue

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
)

// victimDir tells a child of this test binary that it is to be killed, and where its journal is.
const victimDir = "HIKYAKU_VICTIM_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		if err := victim(dir, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func openFile(ctx context.Context, dir string) (*Store, journal.Journal, error) {
	j, err := file.Open(ctx, file.Options{Dir: dir, SegmentBytes: 1 << 20})
	if err != nil {
		return nil, nil, err
	}
	s, err := Open(ctx, Options{Journal: j, OnDemand: true, CheckpointBytes: 64 << 10})
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	return s, j, nil
}

// victim puts, claims and settles from several goroutines until it is killed, and says what it is about to do and what
// was acknowledged:
//
//	put ID          a put of that message was acknowledged
//	claim ID N      it was handed out, for the Nth time
//	try ID          its settlement is about to be asked for
//	done ID, back ID, stale ID    its answer
func victim(dir string, w io.Writer) error {
	ctx := context.Background()
	s, _, err := openFile(ctx, dir)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, format+"\n", args...)
	}
	say("open")
	errs := make(chan error)
	for range 3 {
		go func() {
			for {
				var ms []message.Message
				for range 1 + rand.IntN(3) {
					m := message.Message{ID: message.NewID(), Body: make([]byte, rand.IntN(2000)),
						Key: []string{"", "", "a", "b"}[rand.IntN(4)]}
					m.Attributes.Set("n", message.Int(rand.Int64N(3)))
					ms = append(ms, m)
				}
				if _, err := s.Put(ctx, news, ms); err != nil {
					errs <- err
					return
				}
				for i := range ms {
					say("put %s", ms[i].ID)
				}
			}
		}()
	}
	for range 3 {
		go func() {
			for {
				cs, err := s.Claim(ctx, ClaimRequest{From: from(news), Max: 4, Wait: time.Second, Lease: time.Hour})
				if err != nil {
					errs <- err
					return
				}
				for i := range cs {
					say("claim %s %d", cs[i].Message.ID, cs[i].Attempt)
				}
				for i := range cs {
					kind, word := Done, "done"
					if rand.IntN(5) == 0 {
						kind, word = Back, "back"
					}
					say("try %s", cs[i].Message.ID)
					rs, err := s.Settle(ctx, []Settlement{{Token: cs[i].Token, Kind: kind}})
					if err != nil {
						errs <- err
						return
					}
					if rs[0] != nil {
						word = "stale" // it went back with one before it of its key
					}
					say("%s %s", word, cs[i].Message.ID)
				}
			}
		}()
	}
	return <-errs
}

// fate is what the parent knows of one message.
type fate struct {
	put, done bool
	trying    int // settlements that were asked for and not answered
	attempts  int
}

// TestKillingTheProcessLosesNothingThatWasAcknowledged kills a process hundreds of times while it puts, claims and
// settles, and looks each time at what the journal holds: every acknowledged put that nobody settled is there, nothing
// that was settled is, and attempts are exact.
func TestKillingTheProcessLosesNothingThatWasAcknowledged(t *testing.T) {
	kills := amount(200, 60, 8)
	if testing.Short() {
		kills = 25
	}
	dir := t.TempDir()
	fates := map[string]*fate{}
	for k := range kills {
		listen(t, dir, fates)
		check(t, dir, fates, k)
		if t.Failed() {
			return
		}
	}
	n := 0
	for _, f := range fates {
		if f.done {
			n++
		}
	}
	t.Logf("%d kills, %d messages, %d of them settled", kills, len(fates), n)
}

// listen lets a victim work for a moment, kills it, and takes note of what it said.
func listen(t *testing.T, dir string, fates map[string]*fate) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	of := func(id string) *fate {
		if fates[id] == nil {
			fates[id] = &fate{}
		}
		return fates[id]
	}
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		var word, id string
		var n int
		switch got, _ := fmt.Sscan(sc.Text(), &word, &id, &n); {
		case word == "open":
			time.AfterFunc(time.Duration(rand.IntN(30))*time.Millisecond, func() { cmd.Process.Kill() })
		case got < 2 || len(id) != 36 || word == "claim" && got < 3: // the last line, cut short by the kill
		case word == "put":
			of(id).put = true
		case word == "claim":
			of(id).attempts = max(of(id).attempts, n)
		case word == "try":
			of(id).trying++
		case word == "back", word == "stale":
			of(id).trying--
		case word == "done":
			of(id).done = true
		}
	}
	cmd.Wait()
	if complaint.Len() > 0 {
		t.Fatalf("the victim complains: %s", &complaint)
	}
}

// check looks at what the kill left.
func check(t *testing.T, dir string, fates map[string]*fate, kill int) {
	t.Helper()
	s, j, err := openFile(t.Context(), dir)
	if err != nil {
		t.Fatalf("kill %d: %v", kill, err)
	}
	defer j.Close()
	defer s.Close()
	there := map[string]Peeked{}
	for after := uint64(0); ; {
		ps, err := s.Peek(t.Context(), news, PeekRequest{After: after, Max: 1000})
		if errors.Is(err, ErrNotFound) {
			break // killed before the first put
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(ps) == 0 {
			break
		}
		for _, p := range ps {
			if _, twice := there[p.Message.ID.String()]; twice {
				t.Errorf("kill %d: %s is there twice", kill, p.Message.ID)
			}
			if p.Damage != "" {
				t.Errorf("kill %d: %s: %s", kill, p.Message.ID, p.Damage)
			}
			there[p.Message.ID.String()] = p
			after = p.Sequence
		}
	}
	var back []Settlement
	for id, f := range fates {
		p, ok := there[id]
		switch {
		case f.done && ok:
			t.Errorf("kill %d: %s was settled and is there again", kill, id)
		case !f.done && f.put && f.trying == 0 && !ok:
			t.Errorf("kill %d: %s was acknowledged and is gone", kill, id)
		case ok && (p.Attempts < f.attempts-1 || p.Attempts > f.attempts+1):
			// One more than was said: claimed, and killed before it said so. One less: put back, uncounted, with one
			// before it of its key.
			t.Errorf("kill %d: %s has %d attempts, %d were said", kill, id, p.Attempts, f.attempts)
		}
		if !ok && f.trying > 0 {
			f.done = true // the settlement was kept although its answer was not heard
		}
		f.trying = 0
	}
	for id, p := range there {
		f := fates[id]
		if f == nil {
			f = &fate{} // a put that was kept although its answer was not heard
			fates[id] = f
		}
		f.put, f.attempts = true, p.Attempts
	}
	// Leases outlive kills: end them, so that the next victim has work.
	s.mu.Lock()
	for _, q := range s.state.queues {
		q.all.Scan(func(e entry) bool {
			if c := e.claim(); c != nil && !c.settling {
				back = append(back, Settlement{Token: Token{q.id, e.seq(), c.serial, c.epoch}, Kind: Back,
					Uncounted: false})
			}
			return true
		})
	}
	s.mu.Unlock()
	if len(back) > 0 {
		if _, err := s.Settle(t.Context(), back); err != nil {
			t.Fatal(err)
		}
	}
}
