package tsurugidb

import (
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// The server answers an INSERT that was prepared for a table which is gone with UNKNOWN, "request dissipated", whether
// or not there is another of its name.
func TestATableMadeAnewUnderARunningSinkIsWrittenAtOnce(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	do(t, server, doubles("readings", 10))
	s := started(t, server, Config{Config: rows.Config{Table: []string{"readings"}}})
	first := 0
	for _, n := range []int{1, 300, 7} {
		for range 3 {
			delivered(t, s, readings(first, n))
			first += n
			do(t, server, "DROP TABLE readings", doubles("readings", 10))
			delivered(t, s, readings(first, n))
			if first += n; server.Count("readings") != n {
				t.Errorf("%d rows of %d are in the new table", server.Count("readings"), n)
			}
		}
	}
}

// Where a statement that was just prepared is dissipated too, it was not the table. Then no row is at fault, and the
// next try has a statement of its own.
func TestAServerThatDissipatesEverythingIsNotAskedAgainAtOnce(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	do(t, server, doubles("readings", 10))
	s := started(t, server, Config{Config: rows.Config{Table: []string{"readings"}}})
	delivered(t, s, readings(0, 5))
	var executed, prepared atomic.Int64
	server.On(func(r tsurugitest.Request) tsurugitest.Action {
		switch r.Kind {
		case tsurugitest.Execute:
			executed.Add(1)
			return tsurugitest.Dissipate
		case tsurugitest.Prepare:
			prepared.Add(1)
		}
		return tsurugitest.Action{}
	})
	for round := range 3 {
		before := prepared.Load()
		outcomes, err := s.Send(t.Context(), readings(5, 5))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			if o.Verdict != component.Retry || !o.Held || o.After == 0 {
				t.Fatalf("%+v", o)
			}
		}
		if prepared.Load() == before {
			t.Errorf("round %d used a statement again that was dissipated", round)
		}
	}
	if n := executed.Load(); n > 24 { // four statements or less a transaction, and at most two transactions a round
		t.Errorf("%d statements were executed in three rounds", n)
	}
	server.On(nil)
	delivered(t, s, readings(5, 5))
}

func TestACommitThatDissipatesMayHaveBeenMade(t *testing.T) {
	t.Parallel()
	server, d, s, table := fresh(t, tsurugitest.Config{}, tsurugi.OCC)
	server.On(tsurugitest.Once(tsurugitest.Commit, tsurugitest.Dissipate))
	err := s.Write(t.Context(), numbered(table, rows.Insert, 0, 10))
	if f := d.Judge(err); f.Class != rows.Unknown {
		t.Errorf("%+v, %v", f, err)
	}
}
