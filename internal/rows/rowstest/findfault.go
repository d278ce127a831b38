package rowstest

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// foundFaults sends updates or deletions of rows that are there through all that may go wrong on the way.
func foundFaults(t *testing.T, h *Harness, mode rows.Mode) {
	const size = 20
	start := func(t *testing.T, name string, n int) (*table, *sink) {
		tb := h.table(t, name+mode.String())
		old := rowsOf(0, n)
		for k := range old {
			old[k] = body(`{"k":%d,"v":"old"}`, k)
		}
		delivered(t, tb.open(rows.Config{Mode: "upsert"}).deliver(old...))
		s := tb.open(rows.Config{Mode: mode.String()})
		delivered(t, s.send(row(0)))
		return tb, s
	}
	done := func(tb *table, n int) {
		tb.t.Helper()
		if mode == rows.Delete {
			tb.holds(0, 0)
			return
		}
		tb.holds(0, n)
		for k, v := range tb.cells(rows.Column{Name: "v", Kind: rows.Text}) {
			if v != "v"+k {
				tb.t.Errorf("row %s has %s, not v%s", k, v, k)
			}
		}
	}
	t.Run("connections that are cut", func(t *testing.T) {
		if h.without(t, "CutAfter") {
			return
		}
		const n = 26 * size
		tb, s := start(t, "cut", n)
		from := 0
		for after := 1; from < n-size; after += 1 + after/2 {
			h.CutAfter(t, min(after, 6000))
			delivered(t, s.deliver(rowsOf(from, from+size)...))
			from += size
		}
		h.CutAfter(t, 1) // in the place of one that may still be to come
		delivered(t, s.deliver(rowsOf(from, n)...))
		done(tb, n)
	})
	t.Run("a lost answer", func(t *testing.T) {
		if h.without(t, "LoseAnswer") {
			return
		}
		tb, s := start(t, "lost", size)
		gone := h.LoseAnswer(t)
		delivered(t, s.deliver(rowsOf(1, size)...))
		if !gone() {
			t.Error("no answer was lost")
		}
		if n := s.count("no_such_row"); n != 0 {
			t.Errorf("%d rows were not there", n)
		}
		done(tb, size)
	})
	t.Run("sessions that are killed", func(t *testing.T) {
		if h.without(t, "Kill") {
			return
		}
		const senders, batches = 2, 10
		tb, s := start(t, "killed", senders*batches*size)
		over := s.background(func() { s.senders(senders, batches, size, nil, nil) })
		for !ended(over) {
			before := s.count("blocks")
			h.Kill(t)
			until(t, "a block after a kill", func() bool { return ended(over) || s.count("blocks") > before })
		}
		done(tb, senders*batches*size)
	})
	t.Run("a conflict", func(t *testing.T) {
		if h.without(t, "Conflict") {
			return
		}
		tb, s := start(t, "conflict", size)
		free := h.Conflict(t, tb.name)
		over := s.background(func() {
			if outcomes, err := s.tryDeliver(rowsOf(0,
				size)); err != nil || outcomes[1].Verdict != component.Delivered {
				t.Errorf("%v, because %v; %v", outcomes[1].Verdict, outcomes[1].Reason, err)
			}
		})
		until(t, "a conflict", func() bool { return s.count("conflicts") > 0 })
		free()
		until(t, "the end", func() bool { return ended(over) })
		done(tb, size)
	})
	t.Run("a database that goes down", func(t *testing.T) {
		if h.without(t, "Down") {
			return
		}
		tb, s := start(t, "down", size)
		up := h.Down(t)
		for _, o := range s.send(rowsOf(0, size)...) {
			if o.Verdict != component.Retry {
				t.Errorf("%v, because %v", o.Verdict, o.Reason)
			}
		}
		up()
		delivered(t, s.deliver(rowsOf(0, size)...))
		done(tb, size)
	})
}
