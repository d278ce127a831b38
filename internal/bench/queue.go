package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// The cases of the queue bench.
const (
	caseOurs  = "hikyaku"
	caseLimit = "limit"
	caseLone  = "lone" // one message written and synced after the other

	caseBandwidth = "bandwidth" // so much written between syncs that these do not count
	caseCopier    = "copier"    // raw writers beside a copier
	casePeer      = "peer"      // the same work elsewhere
)

// Queue measures the store over its journal in files, each figure beside the machine's limit:
//
//   - put, put-group, put-pipelined: durable puts of one message by writers at once, of a hundred by one, and of a
//     hundred by several. The limit is one writer that writes the same bytes, of all writers at once, and syncs them;
//     for put-pipelined it writes as much as makes the sync cheap. The lone writer writes and syncs one message.
//   - claim, claim-where: a message claimed and durably settled, the oldest or the oldest that meets a condition, which
//     is the same each time or a new one. The limit is the same as for puts, with the bytes of a claim and a
//     settlement.
//   - claim-deep: a claim by a new condition each time, an equality and a range, which a share of the waiting messages
//     meets, and its settling. Its peer is the same with few messages waiting, and the ratio is that of the costs.
//   - hand-over: from the moment a message is durable until a reader has it that waited for it. Its peer is the same
//     without others that wait, and the ratio is that of the costs.
//   - beside: a durable put while others peek, claim, replay, list or seek in another, long queue, over a journal that
//     takes a millisecond to read a record. The limit is that of a put.
//   - restart: the opening of a store with messages waiting, after a clean stop or a death, with the files in the
//     system's cache or not. The limit reads as many bytes, once and in order.
//   - memory: of a process in which messages wait, bare and with two indexes.
//   - cleaning: durable puts while a queue that nobody reads gets a twentieth of them and readers settle the others.
//     Its peer is as many raw writers and readers that append the same bytes to one file and share its syncs, beside a
//     copier as busy as the store, and the ratio is that of the p99.9. Then what cleaning wrote, and the reading of
//     what waits, with nothing of it in the system's cache. The limit reads the same bytes in order.
//
// Times are of calls, rates are messages a second; ratio is the median of our rate to the limit's, unless said
// otherwise, ratio_q1 and ratio_q3 its quartiles. Where a number is asked for, the row says which, in asked, and
// whether it was met.
func Queue(ctx context.Context, o Options) (err error) {
	s := &session{Options: o, extent: whole, report: measure.NewBenchReport("queue")}
	if o.Quick {
		s.extent = quick
	}
	es, err := choose(s.experiments(), o.Only)
	if err != nil {
		return fmt.Errorf("bench queue: %w", err)
	}
	if err := s.begin(ctx, es); err != nil {
		return fmt.Errorf("bench queue: %w", err)
	}
	err = s.measureAll(ctx, es)
	if err = joinCleanup(err, s.end()); err != nil {
		return fmt.Errorf("bench queue: %w", err)
	}
	return s.publish()
}

// session is one run of the bench.
type session struct {
	Options
	extent
	report *measure.BenchReport
	bar    bar
	dir    string
	raw    *rawLog
	cold   struct {
		once sync.Once
		can  bool
		err  error
	}
}

func (s *session) begin(ctx context.Context, es []experiment) (err error) {
	if s.dir, err = os.MkdirTemp(s.Dir, "hikyaku-bench-"); err != nil {
		return fmt.Errorf("make a folder for temporary files: %w", err)
	}
	if err = roomFor(s.dir, es); err == nil {
		s.raw, err = newRawLog(ctx, s.dir)
	}
	if err != nil {
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

func (s *session) measureAll(ctx context.Context, es []experiment) error {
	s.bar.begin(s.Options, s.report.Bench, es)
	defer s.bar.end()
	for _, e := range es {
		s.bar.next(e)
		settleMemory()
		if err := e.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step says that one more pair of slices is done.
func (s *session) step() { s.bar.step() }

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
	return writeTables(out, s.report)
}

// makeBody returns a body of n bytes that are not all the same.
func makeBody(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	return b
}
