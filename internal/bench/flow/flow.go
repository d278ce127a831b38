// Package flow measures the N+1 problem, blocking and not, beside the ideal. Run says what is measured; it is hikyaku
// bench flow.
package flow

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// The works of the flow bench.
const (
	workStudents      = "students"
	workUsersSQLite   = "users-sqlite"
	workUsersPostgres = "users-postgres"
	workOverhead      = "overhead"
)

// Run measures the library flow as a field report measured Reactor:
//
//   - students: thirty students are fetched, and then each one's five scores, where every one of them takes 100 ms.
//     Non-blocking on many workers and on a single one, blocking in sequence, on elastic workers and on four. The ideal
//     is what the waiting alone takes.
//   - users-sqlite: the same as users-postgres in a file of SQLite's, where no question travels: what a Loader costs,
//     and little to gain.
//   - users-postgres: 10,000 users from PostgreSQL and what to send to each, if its address is given: looked up one by
//     one in sequence, one by one by as many as there are connections, through a Loader, and by a hand-written join,
//     which is the ideal.
//   - overhead: a Map that does nothing, with four goroutines, beside a hand-written pool on channels, in turns.
//
// Options.Log gets a line for whatever happens to the streams of students.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("flow", o, view()), extent: whole}
	if o.Quick {
		s.extent = quick
	}
	if s.Log != nil {
		s.Terminal = false // a bar would stand between the lines
	}
	return s.Measure(ctx, s.experiments(), nil, func(context.Context) error {
		if s.Postgres == "" {
			s.Report.Note("users-postgres was not measured: --postgres names no server")
		}
		return nil
	})
}

// extent says how much is measured.
type extent struct {
	fetching time.Duration // of a student, or a score
	users    int
	rounds   int // of each way to look users up
	overhead harness.Pacing
}

var (
	whole = extent{fetching: 100 * time.Millisecond, users: 10_000, rounds: 7,
		overhead: harness.Pacing{Pairs: 15, Slice: 300 * time.Millisecond}}
	quick = extent{fetching: 5 * time.Millisecond, users: 500, rounds: 1,
		overhead: harness.Pacing{Pairs: 2, Slice: 30 * time.Millisecond}}
)

// session is one run.
type session struct {
	harness.Session
	extent
}

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []harness.Experiment) {
	for _, p := range programs() {
		es = append(es, harness.Experiment{Work: workStudents, Steps: 1, Takes: time.Duration(p.ideal) * s.fetching,
			Disk: 0,
			Run:  func(ctx context.Context) error { return s.students(ctx, p) }})
	}
	sqlite := func(ctx context.Context) error {
		return s.lookUps(ctx, workUsersSQLite,
			func(ctx context.Context) (userTables, error) { return openUsersSQLite(ctx, s.Temp) })
	}
	es = append(es, harness.Experiment{Work: workUsersSQLite, Steps: s.rounds,
		Takes: time.Duration(s.rounds*s.users) * 60 * time.Microsecond, Disk: 0,
		Run: sqlite})
	postgres := harness.Experiment{Work: workUsersPostgres, Steps: s.rounds,
		Run: func(context.Context) error { return nil }}
	if s.Postgres != "" {
		postgres.Takes = time.Duration(s.rounds*s.users) * 400 * time.Microsecond
		postgres.Run = func(ctx context.Context) error {
			return s.lookUps(ctx, workUsersPostgres,
				func(ctx context.Context) (userTables, error) { return openUsersPostgres(ctx, s.Postgres) })
		}
	}
	es = append(es, postgres)
	takes := time.Duration(2*s.overhead.Pairs) * s.overhead.Slice
	return append(es, harness.Experiment{Work: workOverhead, Steps: s.overhead.Pairs, Takes: takes, Disk: 0,
		Run: s.measureOverhead})
}

// Works lists the names of the works.
func Works() []string {
	return []string{workStudents, workUsersSQLite, workUsersPostgres, workOverhead}
}
