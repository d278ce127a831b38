package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// claimer is readers that claim one message at a time, settle it, and wait for that to be durable. The queue is filled
// up again off the clock whenever a small part of it is gone, so that its depth stays what it should be.
type claimer struct {
	rig     *harness.Rig
	readers int
	burst   int64 // messages between two fillings
	where   func() (*condition.Expr, error)
	missing func() (*condition.Expr, error) // if set, each call begins with a claim by it, which finds nothing
	claims  *measure.Histogram              // the part of each call that is the claim, without the settling
	log     logged
}

func (c *claimer) Run(ctx context.Context, d time.Duration) (s harness.Sample, err error) {
	for s.Elapsed < d {
		if err := ctx.Err(); err != nil {
			return harness.Sample{}, err
		}
		if err := c.take(ctx, d-s.Elapsed, &s); err != nil {
			return harness.Sample{}, err
		}
	}
	return s, nil
}

// reader is what one goroutine of a claimer did in a burst.
type reader struct {
	calls, claims []time.Duration
	taken         []message.Message
}

// take is one burst of at most d.
func (c *claimer) take(ctx context.Context, d time.Duration, s *harness.Sample) error {
	var begun atomic.Int64
	readers := make([]reader, c.readers)
	before := c.rig.Store.JournalStats()
	began := time.Now()
	err := harness.Crowd(ctx, c.readers, func(ctx context.Context, i int) error {
		for last := began; last.Sub(began) < d && begun.Add(1) <= c.burst; last = time.Now() {
			if err := c.one(ctx, &readers[i], last); err != nil {
				return err
			}
		}
		return nil
	})
	s.Elapsed += time.Since(began)
	if err != nil {
		return err
	}
	var gone []message.Message
	for _, r := range readers {
		s.Calls = append(s.Calls, r.calls...)
		for _, d := range r.claims {
			c.claims.Record(d)
		}
		gone = append(gone, r.taken...)
	}
	s.N += int64(len(gone))
	if err := c.log.add(int64(len(gone)), len(gone), c.readers, before, c.rig.Store.JournalStats()); err != nil {
		return err
	}
	next := 0
	return c.rig.Fill(ctx, harness.Measured, len(gone), func() message.Message {
		next++
		return message.Message{Body: gone[next-1].Body, Row: gone[next-1].Row}
	})
}

// one claims and settles one message. began is when the reader was ready for it.
func (c *claimer) one(ctx context.Context, r *reader, began time.Time) error {
	if c.missing != nil {
		claims, where, err := c.ask(ctx, c.missing)
		if err != nil {
			return err
		}
		if len(claims) > 0 {
			return fmt.Errorf("claim: the queue has something for the condition %q, though none was put", text(where))
		}
	}
	claims, where, err := c.ask(ctx, c.where)
	if err != nil {
		return err
	}
	if len(claims) == 0 {
		return fmt.Errorf("claim: the queue has nothing for the condition %q, though it was filled", text(where))
	}
	claimed := time.Now()
	results, err := c.rig.Store.Settle(ctx, []queue.Settlement{{Token: claims[0].Token, Kind: queue.Done}})
	if err := errors.Join(append(results, err)...); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	r.calls = append(r.calls, time.Since(began))
	r.claims = append(r.claims, claimed.Sub(began))
	r.taken = append(r.taken, claims[0].Message)
	return nil
}

// ask claims a message by a new condition.
func (c *claimer) ask(ctx context.Context, by func() (*condition.Expr, error)) ([]queue.Claim, *condition.Expr, error) {
	where, err := by()
	if err != nil {
		return nil, nil, err
	}
	claims, err := c.rig.Store.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: harness.Measured,
		Where: where}}})
	if err != nil {
		return nil, nil, fmt.Errorf("claim: %w", err)
	}
	return claims, where, nil
}

func text(where *condition.Expr) string {
	if where == nil {
		return ""
	}
	return where.String()
}

// every is the condition of a reader without one.
func every() (*condition.Expr, error) { return nil, nil }

// claim compares claims of the oldest message with the disk.
func (s *session) claim(ctx context.Context, readers int) error {
	body := harness.MakeBody(harness.BodyBytes)
	next := func() message.Message { return message.Message{Body: body} }
	return s.claims(ctx, about{work: "claim", writers: readers, depth: s.claimDepth}, 4, queue.Definition{}, next,
		func(*harness.Rig) (func() (*condition.Expr, error), error) { return every, nil })
}

// highest bounds the numbers in the column n.
const highest = 1_000_000

// claimWhere compares claims by a condition with the disk. A condition that stays is the same text for each claim; a
// new one names another number each time, as a reader does that asks for what is newer than some moment.
func (s *session) claimWhere(ctx context.Context, depth int, kind string) error {
	columns, err := message.ParseColumns([]string{"n BIGINT", "lang VARCHAR(8)", "body VARBINARY(1024)"})
	if err != nil {
		return fmt.Errorf("columns of the measured queue: %w", err)
	}
	random := rand.New(rand.NewPCG(1, uint64(depth))) // the same numbers in every run
	languages := []string{"ja", "en", "de", "fr"}
	body := message.Bytes(harness.MakeBody(harness.BodyBytes))
	next := func() message.Message {
		n, lang := random.Int64N(highest), languages[random.IntN(len(languages))]
		return message.Message{Row: []message.Value{message.Int(n), message.String(lang), body}}
	}
	conditions := func(r *harness.Rig) (func() (*condition.Expr, error), error) {
		if kind == conditionSame {
			where, err := r.Store.Parse(ctx, harness.Measured, "lang = 'ja'")
			return func() (*condition.Expr, error) { return where, nil }, err
		}
		return func() (*condition.Expr, error) {
			// Something matches always: a tenth of the numbers lie above.
			return r.Store.Parse(ctx, harness.Measured, fmt.Sprintf("n >= %d", random.Int64N(highest*9/10)))
		}, nil
	}
	return s.claims(ctx, about{work: "claim-where", writers: 1, depth: depth, condition: kind}, 16,
		queue.Definition{Columns: columns}, next, conditions)
}

const (
	conditionSame = "same"
	conditionNew  = "new"
)

// claims measures readers of a queue of a.depth messages, of which the part-th part may be gone before it is filled up
// again.
func (s *session) claims(ctx context.Context, a about, part int, d queue.Definition, next func() message.Message,
	conditions func(*harness.Rig) (func() (*condition.Expr, error), error)) (err error) {
	r, err := harness.NewRig(ctx, s.Temp, d, harness.Setting{})
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, r.Remove()) }()
	where, err := conditions(r)
	if err != nil {
		return err
	}
	if err := r.Fill(ctx, harness.Measured, a.depth, next); err != nil {
		return err
	}
	c := &claimer{rig: r, readers: a.writers, burst: int64(max(a.depth/part, 1)), where: where,
		claims: measure.NewHistogram()}
	if _, err := c.Run(ctx, s.warmUp); err != nil {
		return err
	}
	w, err := s.Raw.Writer(int64(a.writers), c.log.bytesEach())
	if err != nil {
		return err
	}
	c.log = logged{}
	c.claims.Reset()
	result, err := s.Alternate(ctx, s.Step, harness.ByRate, c, w)
	if err != nil {
		return err
	}
	a.claims, a.log, a.peers = c.claims, &c.log, []peer{{name: harness.CaseLimit, perSync: w.Carries}}
	s.rows(result, a)
	return nil
}
