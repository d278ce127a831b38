// Package q4m measures takes by condition and inserts of MySQL clients, beside MariaDB, PostgreSQL and the machine's
// own limit. Run says what is measured; it is hikyaku bench q4m.
package q4m

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// The works of the q4m bench.
const (
	workTakeSince  = "take-ge"
	workTakeBefore = "take-lt"
	workInsert     = "insert"
	workCompacting = "insert-compacting"
)

// Run measures the MySQL door as a field report measured Q4M's conditional subscription, from a client's side:
//
//   - take-ge, take-lt: queue_wait('q4m_test:enqueued_at>=…', 5) and queue_end(), as text; one row of 1,000 bytes that
//     came since a moment, or before it, is taken, and is gone durably.
//   - insert: a prepared INSERT of such a row, durable.
//   - insert-compacting: the same while the store is being cleaned, a twentieth of it into a table that nobody reads.
//
// The server is a process of its own, as the peers are, over a new store with every default. With one connection the
// client is go-sql-driver/mysql, a usual one; with more it is lightLine, which costs less, for MariaDB too. The limit
// is what a call cannot do without: as many round trips of the same client, in which nothing is done, and one sync of
// as many bytes; of insert-compacting it is the sync alone. With many rows waiting, the peer is ours with few. The
// server's syncs are counted: a run ends with an error when there were fewer than the calls need.
//
// MariaDB (MySQL) and PostgreSQL, if their addresses are given, do the same work with SKIP LOCKED, durably, which is
// checked. All take turns in slices, and ratios are medians of those of neighbouring slices; to MariaDB, to PostgreSQL
// are of rates, the others of times.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("q4m", o, view()), extent: whole}
	if o.Quick {
		s.extent = quick
	}
	if err := s.Measure(ctx, s.experiments(), s.open, s.Close); err != nil || s.Plots == "" {
		return err
	}
	if err := writeLasted(s.Plots, s.found); err != nil {
		return fmt.Errorf("bench q4m: %w", err)
	}
	return nil
}

// extent says how much is measured.
type extent struct {
	before, since int           // rows that wait, by when they came
	takes         int           // of one connection, of each kind
	inserts       int           // of one connection
	slice         int           // calls of one connection before it is another's turn
	connections   int           // the many
	rounds        int           // slices of many connections
	time          time.Duration // of one
	deep          int           // the many rows
	compacting    compactingExtent
}

// compactingExtent is scaled down from what a server has, as cleaningExtent.
type compactingExtent struct {
	harness.Pacing
	harness.Setting
	load uint64 // bytes that are appended before anything is measured
}

// The whole is the field report's, and takes some minutes with both peers; the quick one takes a few seconds.
var (
	whole = extent{
		before: 5000, since: 1000, takes: 1000, inserts: 4000, slice: 50, connections: 16, rounds: 15,
		time: 300 * time.Millisecond, deep: 1_000_000,
		compacting: compactingExtent{harness.Pacing{Pairs: 12, Slice: time.Second},
			harness.Setting{SegmentBytes: 8 << 20, CheckpointBytes: 32 << 20},
			256 << 20},
	}
	quick = extent{
		before: 250, since: 50, takes: 30, inserts: 60, slice: 10, connections: 4, rounds: 2,
		time: 30 * time.Millisecond, deep: 2000,
		compacting: compactingExtent{harness.Pacing{Pairs: 2, Slice: 60 * time.Millisecond},
			harness.Setting{SegmentBytes: 256 << 10, CheckpointBytes: 1 << 20}, 2 << 20},
	}
)

// session is one run.
type session struct {
	harness.Session
	extent
	ours   *queueShop
	deeper *queueShop // with the many rows; nil until it is needed
	peers  []peerShop
	found  []*lasted
}

// peerShop is a server to compare with.
type peerShop struct {
	name string
	shop
}

// lasted is how long each call of a side took, for the pictures.
type lasted struct {
	work, name string
	calls      []time.Duration
}

// open makes the tables of the peers, which may not be there, and then starts our server.
func (s *session) open(ctx context.Context) error {
	if err := s.OpenRaw(ctx); err != nil {
		return err
	}
	if s.MySQL != "" {
		p, err := openInnoShop(ctx, s.MySQL)
		if err != nil {
			return err
		}
		s.peers = append(s.peers, peerShop{caseMariaDB, p})
	}
	if s.Postgres != "" {
		p, err := openPostgresShop(ctx, s.Postgres)
		if err != nil {
			return err
		}
		s.peers = append(s.peers, peerShop{casePostgres, p})
	}
	ours, err := s.openOurs(ctx, harness.Setting{})
	if err != nil {
		return err
	}
	s.ours = ours
	s.Report.Note(s.ours.about())
	for _, p := range s.peers {
		s.Report.Note(p.about())
	}
	return nil
}

func (s *session) openOurs(ctx context.Context, with harness.Setting) (*queueShop, error) {
	dir, err := os.MkdirTemp(s.Temp, "served-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for a store: %w", err)
	}
	return openQueueShop(ctx, s.Server, filepath.Clean(dir), with)
}

func (s *session) Close(ctx context.Context) error {
	var errs []error
	for _, p := range s.peers {
		errs = append(errs, p.Close())
	}
	for _, ours := range []*queueShop{s.ours, s.deeper} {
		if ours != nil {
			errs = append(errs, ours.Close())
		}
	}
	return errors.Join(append(errs, s.CloseRaw(ctx))...)
}

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []harness.Experiment) {
	sides := 2
	for _, peer := range []string{s.MySQL, s.Postgres} {
		if peer != "" {
			sides++
		}
	}
	add := func(work string, steps int, takes time.Duration, rows int, run func(ctx context.Context) error) {
		es = append(es, harness.Experiment{Work: work, Steps: steps, Takes: takes,
			Disk: int64(rows)*harness.BytesLogged + harness.Slack, Run: run})
	}
	rows := s.before + s.since
	for _, w := range []struct {
		name  string
		takes kind
		calls int
	}{{workTakeSince, since, s.takes}, {workTakeBefore, before, s.takes}, {workInsert, "", s.inserts}} {
		one := time.Duration(w.calls*sides) * 2 * time.Millisecond
		many := time.Duration(s.rounds*sides) * s.time
		add(w.name, w.calls/s.slice, one, rows,
			func(ctx context.Context) error { return s.one(ctx, w.name, w.takes, w.calls) })
		add(w.name, s.rounds, many, rows, func(ctx context.Context) error { return s.many(ctx, w.name, w.takes) })
		for _, connections := range []int{1, s.connections} {
			add(w.name, s.rounds, many/2+harness.Filling(s.deep), s.deep,
				func(ctx context.Context) error { return s.deeply(ctx, w.name, w.takes, connections) })
		}
	}
	c := s.compacting
	for _, connections := range []int{1, s.connections} {
		add(workCompacting, c.Pairs, 2*time.Duration(c.Pairs)*c.Slice, int(c.load/harness.BytesLogged)*4,
			func(ctx context.Context) error { return s.whileCleaning(ctx, connections) })
	}
	return es
}

// Works lists the names of the works.
func Works() []string { return []string{workTakeSince, workTakeBefore, workInsert, workCompacting} }
