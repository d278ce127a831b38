package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// ledger knows which messages of the measured queue were put, acknowledged and handed out. Its methods may be called
// from any goroutine.
type ledger struct {
	mu    sync.Mutex
	acked []bool
	came  []uint8 // how often each was handed out
}

// numberDigits is how a body begins: with the message's number in the ledger.
const numberDigits = 12

var filler = string(harness.MakeBody(harness.BodyBytes - numberDigits))

// fresh are n new messages, the first of which has number first.
func (l *ledger) fresh(n int) (first int, msgs []httpdoor.Message) {
	l.mu.Lock()
	first = len(l.acked)
	l.acked = append(l.acked, make([]bool, n)...)
	l.came = append(l.came, make([]uint8, n)...)
	l.mu.Unlock()
	for i := range n {
		msgs = append(msgs, httpdoor.NewMessage(fmt.Appendf(nil, "%0*d%s", numberDigits, first+i, filler)))
	}
	return first, msgs
}

// ack says that n messages from first on are acknowledged.
func (l *ledger) ack(first, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range n {
		l.acked[first+i] = true
	}
}

// take says that messages were handed out.
func (l *ledger) take(claims []httpdoor.Claimed) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range claims {
		body, err := claims[i].Bytes()
		if err != nil {
			return err
		}
		if len(body) != harness.BodyBytes || string(body[numberDigits:]) != filler {
			return errors.New("a message was handed out that is not as it was put")
		}
		n, err := strconv.Atoi(strings.TrimLeft(string(body[:numberDigits-1]), "0") + string(body[numberDigits-1]))
		if err != nil || n >= len(l.came) {
			return errors.New("a message was handed out that nobody has put")
		}
		l.came[n] = min(l.came[n], 254) + 1
	}
	return nil
}

// sum is how many messages were acknowledged, were handed out, came again, and are missing though acknowledged.
func (l *ledger) sum() (acked, taken, again, missing int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, is := range l.acked {
		if is {
			acked++
			if l.came[i] == 0 {
				missing++
			}
		}
		if l.came[i] > 0 {
			taken++
		}
		if l.came[i] > 1 {
			again++
		}
	}
	return acked, taken, again, missing
}

// How the queue is filled and emptied: by so many clients, with so many messages in a request.
const (
	fillers   = 4
	fillBatch = 1000
)

// fill puts messages into the measured queue until n were acknowledged in all, through the nodes in turns.
func (s *session) fill(ctx context.Context, n int) error {
	acked, _, _, _ := s.book.sum()
	var left sync.Mutex
	want := n - acked
	return harness.Crowd(ctx, fillers, func(ctx context.Context, i int) error {
		c := s.nodes.all[i%len(s.nodes.all)].client
		for ctx.Err() == nil {
			left.Lock()
			some := min(want, fillBatch)
			want -= some
			left.Unlock()
			if some <= 0 {
				return nil
			}
			first, msgs := s.book.fresh(some)
			if _, err := c.Put(ctx, harness.Measured, msgs...); err != nil {
				return fmt.Errorf("fill the queue: %w", err)
			}
			s.book.ack(first, some)
		}
		return ctx.Err()
	})
}

// settle notes that messages were handed out, and settles them. After an error they may come again.
func (s *session) settle(ctx context.Context, c *httpdoor.Client, claims []httpdoor.Claimed) error {
	if err := s.book.take(claims); err != nil {
		return err
	}
	done := make([]httpdoor.Settlement, len(claims))
	for i := range claims {
		done[i] = httpdoor.Settlement{Token: claims[i].Token}
	}
	_, err := c.Settle(ctx, done...)
	return err
}

// check empties the measured queue, and demands that all that was ever acknowledged has come out of it.
func (s *session) check(ctx context.Context) error {
	owner, err := s.nodes.whole(ctx)
	if err != nil {
		return err
	}
	err = harness.Crowd(ctx, fillers, func(ctx context.Context, i int) error {
		c := s.nodes.all[i%len(s.nodes.all)].client
		for {
			claims, err := c.Claim(ctx, harness.Measured, httpdoor.ClaimRequest{Max: fillBatch,
				Wait: httpdoor.Duration(time.Second)})
			if err == nil && len(claims) > 0 {
				err = s.settle(ctx, c, claims)
			}
			if err != nil {
				return fmt.Errorf("empty the queue: %w", err)
			}
			if len(claims) > 0 {
				continue
			}
			// What was handed out when an owner was killed comes when its lease has ended.
			left, err := owner.client.Stats(ctx, harness.Measured)
			if err != nil || left.Messages == 0 {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	return s.account()
}

// account reports what came of what was put. What was acknowledged and did not come is an error.
func (s *session) account() error {
	acked, taken, again, missing := s.book.sum()
	if missing > 0 {
		return fmt.Errorf("%d of %d messages that were acknowledged are missing", missing, acked)
	}
	s.Report.Row(harness.CaseOurs, workCheck).Set("acknowledged", acked).Set("taken", taken).Set("again", again).
		Set("missing", missing)
	return nil
}
