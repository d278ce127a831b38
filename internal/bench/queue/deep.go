package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// shares are how many of a thousand waiting messages meet the condition of claim-deep.
var shares = [...]int{0, 1, 500, 1000}

// percent writes a share for people.
func percent(share int) string { return strconv.FormatFloat(float64(share)/10, 'f', -1, 64) + " %" }

// rowMaker makes the messages of claim-deep. The condition is an equality and a range. What matches is spread evenly,
// and of what does not, one half meets the equality and the other half the range: no column alone tells.
type rowMaker struct {
	share  int // of a thousand
	n      int
	random *rand.Rand
	body   message.Value
}

// What matches has these numbers; the gap to others is what the bounds of the range vary in.
const (
	wantedKind  = 1
	wantedFrom  = 600_000
	othersBelow = 400_000
)

func newRowMaker(share int) *rowMaker {
	return &rowMaker{share: share, random: rand.New(rand.NewPCG(1, uint64(share))),
		body: message.Bytes(harness.MakeBody(harness.BodyBytes))}
}

// matching is how many of the first n messages match.
func (m *rowMaker) matching(n int) int { return n * m.share / 1000 }

func (m *rowMaker) next() message.Message {
	m.n++
	kind, n := int64(wantedKind), m.random.Int64N(highest-wantedFrom)+wantedFrom
	if m.matching(m.n) == m.matching(m.n-1) {
		if (m.n-m.matching(m.n))%2 == 0 {
			kind++
		} else {
			n = m.random.Int64N(othersBelow)
		}
	}
	return message.Message{Row: []message.Value{message.Int(kind), message.Int(n), m.body}}
}

// where returns a condition with bounds of its own each time, and with the same matches.
func (m *rowMaker) where(ctx context.Context, r *harness.Rig) func() (*condition.Expr, error) {
	return func() (*condition.Expr, error) {
		low, high := othersBelow+m.random.Int64N(wantedFrom-othersBelow), highest+m.random.Int64N(highest)
		return r.Store.Parse(ctx, harness.Measured, fmt.Sprintf("kind = %d and n >= %d and n < %d", wantedKind, low,
			high))
	}
}

// looks collects how long claims by condition looked in memory.
type looks struct {
	times *measure.Histogram
	off   bool // while others claim; set by the only reader, in whose calls noted is called
}

func (l *looks) noted(d time.Duration) {
	if !l.off {
		l.times.Record(d)
	}
}

// deepSide is one side of claim-deep: a store with so many messages, and its reader.
type deepSide struct {
	claimer
	looks *looks
}

// openDeep fills a store for claim-deep. burst is how many messages may be gone before they are put back.
func (s *session) openDeep(ctx context.Context, depth, share, burst int) (*deepSide, error) {
	columns, err := message.ParseColumns([]string{"kind BIGINT", "n BIGINT", "body VARBINARY(1024)"})
	if err != nil {
		return nil, fmt.Errorf("columns of the measured queue: %w", err)
	}
	looks := &looks{times: measure.NewHistogram()}
	r, err := harness.NewRig(ctx, s.Temp, queue.Definition{Columns: columns}, harness.Setting{Looked: looks.noted})
	if err != nil {
		return nil, err
	}
	rows := newRowMaker(share)
	if err := r.Fill(ctx, harness.Measured, depth, rows.next); err != nil {
		return nil, errors.Join(err, r.Remove())
	}
	d := &deepSide{claimer: claimer{rig: r, readers: 1, burst: int64(burst), where: rows.where(ctx, r),
		claims: measure.NewHistogram()}, looks: looks}
	if share == 0 {
		// What is claimed and settled then is the oldest, of which the time of looking is not asked for.
		d.missing = func() (*condition.Expr, error) {
			looks.off = false
			return rows.where(ctx, r)()
		}
		d.where = func() (*condition.Expr, error) {
			looks.off = true
			return every()
		}
	}
	return d, nil
}

// claimDeep compares the cost of a claim by condition, and of its settling, among many messages with that among few.
func (s *session) claimDeep(ctx context.Context, share int) (err error) {
	// The same for both sides, so that neither is filled up more often.
	burst := max(1, s.shallow/16)
	if share > 0 {
		burst = max(1, min(burst, s.shallow*share/2000))
	}
	var sides []*deepSide
	defer func() {
		for _, d := range sides {
			err = harness.JoinCleanup(err, d.rig.Remove())
		}
	}()
	for _, depth := range []int{s.deep, s.shallow} {
		d, err := s.openDeep(ctx, depth, share, burst)
		if err != nil {
			return err
		}
		sides = append(sides, d)
		if _, err := d.Run(ctx, s.warmUp); err != nil { // also builds what the conditions need
			return err
		}
		d.looks.times.Reset()
		d.claims.Reset()
		d.log = logged{}
	}
	deep, shallow := sides[0], sides[1]
	c, err := s.Alternate(ctx, s.Step, harness.ByCost, deep, shallow)
	if err != nil {
		return err
	}
	a := about{
		work: "claim-deep", writers: 1, depth: s.deep, matching: percent(share), claims: deep.claims,
		looks: deep.looks.times, log: &deep.log,
		peers: []peer{{name: harness.CasePeer, depth: s.shallow, claims: shallow.claims, looks: shallow.looks.times,
			log: &shallow.log}},
		goals: []harness.Goal{harness.AtMost("look_p99_us", 20), harness.AtMost("ratio", 1.3)},
	}
	s.rows(c, a)
	return nil
}
