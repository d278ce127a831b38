package bench

import (
	"context"
	"time"
)

// The works of the flow bench.
const (
	workStudents      = "students"
	workUsersSQLite   = "users-sqlite"
	workUsersPostgres = "users-postgres"
	workOverhead      = "overhead"
)

// Flow measures the library flow as a field report measured Reactor:
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
func Flow(ctx context.Context, o Options) error {
	s := &flowSession{session: newSession("flow", o, flowView()), flowExtent: wholeFlow}
	if o.Quick {
		s.flowExtent = quickFlow
	}
	if s.Log != nil {
		s.Terminal = false // a bar would stand between the lines
	}
	return s.measure(ctx, s.experiments(), nil, func(context.Context) error {
		if s.Postgres == "" {
			s.report.Note("users-postgres was not measured: --postgres names no server")
		}
		return nil
	})
}

// flowExtent says how much is measured.
type flowExtent struct {
	fetching time.Duration // of a student, or a score
	users    int
	rounds   int // of each way to look users up
	overhead pacing
}

var (
	wholeFlow = flowExtent{fetching: 100 * time.Millisecond, users: 10_000, rounds: 7,
		overhead: pacing{15, 300 * time.Millisecond}}
	quickFlow = flowExtent{fetching: 5 * time.Millisecond, users: 500, rounds: 1,
		overhead: pacing{2, 30 * time.Millisecond}}
)

// flowSession is one run.
type flowSession struct {
	session
	flowExtent
}

// experiments lists what can be measured, in the order of the report.
func (s *flowSession) experiments() (es []experiment) {
	for _, p := range programs() {
		es = append(es, experiment{workStudents, 1, time.Duration(p.ideal) * s.fetching, 0,
			func(ctx context.Context) error { return s.students(ctx, p) }})
	}
	sqlite := func(ctx context.Context) error {
		return s.lookUps(ctx, workUsersSQLite,
			func(ctx context.Context) (userTables, error) { return openUsersSQLite(ctx, s.dir) })
	}
	es = append(es, experiment{workUsersSQLite, s.rounds, time.Duration(s.rounds*s.users) * 60 * time.Microsecond, 0,
		sqlite})
	postgres := experiment{work: workUsersPostgres, steps: s.rounds, run: func(context.Context) error { return nil }}
	if s.Postgres != "" {
		postgres.takes = time.Duration(s.rounds*s.users) * 400 * time.Microsecond
		postgres.run = func(ctx context.Context) error {
			return s.lookUps(ctx, workUsersPostgres,
				func(ctx context.Context) (userTables, error) { return openUsersPostgres(ctx, s.Postgres) })
		}
	}
	es = append(es, postgres)
	takes := time.Duration(2*s.overhead.pairs) * s.overhead.slice
	return append(es, experiment{workOverhead, s.overhead.pairs, takes, 0, s.measureOverhead})
}

// flowWorks lists the names of the works.
func flowWorks() []string {
	return []string{workStudents, workUsersSQLite, workUsersPostgres, workOverhead}
}
