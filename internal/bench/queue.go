package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// The cases of the queue bench.
const (
	caseOurs  = "hikyaku"
	caseLimit = "limit"
)

// bodyBytes is the size of a body.
const bodyBytes = 256

// extent says how much is measured.
type extent struct {
	pacing
	warmUp     time.Duration // before each comparison, uncounted
	claimDepth int           // messages waiting where readers take the oldest
	depths     [2]int        // messages waiting where readers name a condition
	restarts   []int         // messages waiting at a start
	starts     int           // pairs of a start and its limit
}

// The whole bench takes some three minutes, the quick one a few seconds.
var (
	whole = extent{pacing{15, 500 * time.Millisecond}, 300 * time.Millisecond, 6000, [2]int{6000, 100_000}, []int{100_000, 1_000_000}, 5}
	quick = extent{pacing{2, 30 * time.Millisecond}, 20 * time.Millisecond, 600, [2]int{600, 2000}, []int{2000, 4000}, 2}
)

// Queue measures the store over its journal in files, each figure beside the machine's limit:
//
//   - put, put-group: durable puts of one message by 1, 16 and 64 writers, and of a hundred by one. The limit is one writer that writes
//     the same bytes, of all writers at once, and syncs them.
//   - claim, claim-where: a message claimed and durably settled, the oldest or the oldest that meets a condition, which is the same
//     each time or a new one. The limit is the same as for puts, with the bytes of a claim and a settlement.
//   - restart: the opening of a store with messages waiting, after a clean stop or a death. The limit reads, once, the checkpoint
//     or the log.
//
// Times are of calls, rates are messages a second; ratio is the median of our rate to the limit's, ratio_q1 and ratio_q3 its quartiles.
func Queue(ctx context.Context, o Options) (err error) {
	s := &session{Options: o, extent: whole, report: measure.NewBenchReport("queue")}
	if o.Quick {
		s.extent = quick
	}
	if err := s.begin(ctx); err != nil {
		return fmt.Errorf("bench queue: %w", err)
	}
	err = s.measureAll(ctx)
	if err = joinCleanup(err, s.end()); err != nil {
		return fmt.Errorf("bench queue: %w", err)
	}
	return s.publish()
}

// session is one run of the bench.
type session struct {
	Options
	extent
	report   *measure.BenchReport
	progress *measure.Progress
	dir      string
	raw      *rawLog
}

func (s *session) begin(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp(s.Dir, "hikyaku-bench-"); err != nil {
		return fmt.Errorf("make a folder for temporary files: %w", err)
	}
	if s.raw, err = newRawLog(ctx, s.dir); err != nil {
		return joinCleanup(err, os.RemoveAll(s.dir))
	}
	return nil
}

func (s *session) end() error {
	return errors.Join(s.raw.close(), os.RemoveAll(s.dir))
}

// joinCleanup adds the error of cleaning up to that of the work, which comes first.
func joinCleanup(err, cleanup error) error {
	if cleanup != nil {
		cleanup = fmt.Errorf("clean up: %w", cleanup)
	}
	if err == nil {
		return cleanup
	}
	return errors.Join(err, cleanup)
}

// experiment is one pair of rows.
type experiment struct {
	steps int
	run   func(ctx context.Context) error
}

func (s *session) experiments() (es []experiment) {
	add := func(steps int, run func(ctx context.Context) error) { es = append(es, experiment{steps, run}) }
	for _, writers := range []int{1, 16, 64} {
		add(s.pairs, func(ctx context.Context) error { return s.put(ctx, "put", writers, 1) })
	}
	add(s.pairs, func(ctx context.Context) error { return s.put(ctx, "put-group", 1, 100) })
	for _, readers := range []int{1, 16} {
		add(s.pairs, func(ctx context.Context) error { return s.claim(ctx, readers) })
	}
	for _, kind := range []string{conditionSame, conditionNew} {
		for _, depth := range s.depths {
			add(s.pairs, func(ctx context.Context) error { return s.claimWhere(ctx, depth, kind) })
		}
	}
	for _, depth := range s.restarts {
		add(s.starts, func(ctx context.Context) error { return s.restart(ctx, depth, startClean) })
	}
	// Only the fewest: more would reach a checkpoint before the death, and be the former case.
	add(s.starts, func(ctx context.Context) error { return s.restart(ctx, s.restarts[0], startKilled) })
	return es
}

func (s *session) measureAll(ctx context.Context) error {
	es := s.experiments()
	steps := 0
	for _, e := range es {
		steps += e.steps
	}
	s.progress = measure.NewProgress(measure.ProgressConfig{W: s.Progress, Terminal: s.Terminal, Label: "bench queue", Total: int64(steps)})
	defer s.progress.Clear()
	for _, e := range es {
		settleMemory()
		if err := e.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) step() { s.progress.Add(1) }

// publish writes what was found.
func (s *session) publish() error {
	if s.Plots != "" {
		if err := writePlots(s.Plots, s.report); err != nil {
			return err
		}
	}
	out := s.Out
	if out == nil {
		out = io.Discard
	}
	if s.JSON {
		return s.report.WriteJSON(out)
	}
	return table(s.report).WriteText(out)
}

// makeBody returns a body of n bytes that are not all the same.
func makeBody(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	return b
}
