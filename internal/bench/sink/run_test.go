package sink

import (
	"context"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// newSinkSession is one over a database that needs no address.
func newSinkSession(t *testing.T, to string) *session { return newSinkSessionAt(t, to, "") }

// newSinkSessionAt is one over a database that needs no address, or over the TsurugiDB at one.
func newSinkSessionAt(t *testing.T, to, tsurugi string) *session {
	t.Helper()
	s := &session{
		Session: harness.Session{Options: harness.Options{Quick: true, To: to, Tsurugi: tsurugi,
			Sink: benchtest.Self()}, Report: measure.NewBenchReport("sink"),
			Temp: t.TempDir()},
		extent: quick,
	}
	t.Cleanup(func() {
		if err := s.target.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := s.openTarget(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheSeedsWayInsertsEachEventOnce(t *testing.T) {
	for _, to := range []string{toSQLite, toTsurugi} {
		t.Run(to, func(t *testing.T) {
			s := newSinkSession(t, to)
			took, err := s.Run(t.Context(), s.seedWay(s.flooded("any", 10, "4")))
			if err != nil {
				t.Fatal(err)
			}
			if took.events != quick.seed || took.commit.Count() != int64(quick.seed) ||
				took.due.Count() != int64(quick.seed) || took.elapsed <= 0 || took.Requests == 0 {
				t.Errorf("%+v", took)
			}
		})
	}
}

func TestATsurugiDBThatAsksIsToldWhoWrites(t *testing.T) {
	server := tsurugitest.Start(t, tsurugitest.Config{Users: map[string]string{"writer": "p@ss: word"}})
	s := newSinkSessionAt(t, toTsurugi, strings.Replace(server.Endpoint(), "tcp://", "tcp://writer:p%40ss%3A%20word@",
		1))
	ours := s.flooded("any", 10, "4")
	for _, r := range []*sinkRun{ours, s.seedWay(ours)} {
		if took, err := s.Run(t.Context(), r); err != nil || took.events == 0 {
			t.Errorf("%s: %+v, %v", r.way, took, err)
		}
	}
}

func TestARowThatIsMissingOrThereTwiceIsFound(t *testing.T) {
	ctx := t.Context()
	for _, to := range []string{toSQLite, toTsurugi} {
		t.Run(to, func(t *testing.T) {
			s := newSinkSession(t, to)
			schema := doubleSchema(1)
			if err := s.target.empty(ctx, schema); err != nil {
				t.Fatal(err)
			}
			insert := func(row string) {
				t.Helper()
				if err := s.target.desk.transact(ctx,
					[]string{"INSERT INTO " + schema.table + " VALUES (" + row + ")"}); err != nil {
					t.Fatal(err)
				}
			}
			insert("0")
			insert("1")
			if err := s.target.check(ctx, schema, 2); err != nil {
				t.Errorf("all are there: %v", err)
			}
			if err := s.target.check(ctx, schema, 3); err == nil || !strings.Contains(err.Error(), "1 are missing") {
				t.Errorf("one is missing: %v", err)
			}
			insert("1")
			if err := s.target.check(ctx, schema, 2); err == nil ||
				!strings.Contains(err.Error(), "1 are there more than once") {
				t.Errorf("one is there twice: %v", err)
			}
			insert("7")
			if err := s.target.check(ctx, schema, 2); err == nil || !strings.Contains(err.Error(), "nobody sent") {
				t.Errorf("one that nobody sent: %v", err)
			}
		})
	}
}

func TestTheWayToTheSinkIsMeasuredWithoutIt(t *testing.T) {
	s := newSinkSession(t, toSQLite)
	for _, raw := range []bool{true, false} {
		r := s.asFast("any", mixedSchema(10), 400)
		r.way, r.raw, r.couriers = wayNothing, raw, 2
		took, err := s.Run(t.Context(), r)
		if err != nil || took.commit.Count() != 400 || took.due != nil || took.Settled != 400 {
			t.Errorf("raw %v: %+v, %v", raw, took, err)
		}
	}
}

func TestAConfigurationSaysWhatARunWants(t *testing.T) {
	target := &sinkTarget{to: toPostgres, address: `postgres://u:p$w"x@h/d`}
	r := &sinkRun{way: harness.CaseOurs, schema: doubleSchema(2), inFlight: "8", batch: "max_events: 5",
		request: "retry_attempts: 3"}
	want := `sources:
  lines: { type: stdin }
transforms:
  fields: { type: decode, inputs: [lines], codec: csv, columns: [value1, value2] }
sinks:
  table:
    inputs: [fields]
    type: postgres
    database: "postgres://u:p$$w\"x@h/d"
    table: hikyaku_bench_2
    batch: { max_events: 5 }
    request: { in_flight_limit: 8, retry_attempts: 3 }
`
	if got := target.configuration(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r.way, r.raw, r.inFlight, r.batch, r.request = caseSeedWay, true, "", "", ""
	want = "sources:\n  lines: { type: stdin }\nsinks:\n  table:\n    inputs: [lines]\n    type: stdout\n"
	if got := target.configuration(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
