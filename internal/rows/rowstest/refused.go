package rowstest

import (
	"fmt"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// poison puts a row that the database refuses at each place of a batch.
func poison(t *testing.T, h *Harness) {
	const size, old = 9, 1_000_000
	tb := h.table(t, "poison")
	s := tb.open(rows.Config{})
	delivered(t, s.send(row(old)))
	for at := range size {
		batch := rowsOf(at*size, (at+1)*size)
		batch[at] = body(`{"k":%d,"v":"again"}`, old)
		outcomes := s.send(batch...)
		rejected(t, outcomes[at], h.Duplicate, tb.name[len(tb.name)-1])
		delivered(t, append(outcomes[:at:at], outcomes[at+1:]...))
	}
	if n := len(tb.keys()); n != 1+size*(size-1) {
		t.Errorf("%d rows", n)
	}
	if got := tb.cells(rows.Column{Name: "v", Kind: rows.Text})[fmt.Sprint(old)]; got != fmt.Sprint("v", old) {
		t.Errorf("the row that was there has %q", got)
	}
}

// manyPoisons are a third of a batch, and then all of it.
func manyPoisons(t *testing.T, h *Harness) {
	const size = 120
	tb := h.table(t, "poisons")
	s := tb.open(rows.Config{})
	var old []*message.Message
	for k := 0; k < size; k += 3 {
		old = append(old, row(k))
	}
	delivered(t, s.send(old...))
	for i, o := range s.send(rowsOf(0, size)...) {
		if i%3 == 0 {
			rejected(t, o, h.Duplicate)
		} else {
			delivered(t, []component.Outcome{o})
		}
	}
	tb.holds(0, size)
	for _, o := range s.send(rowsOf(0, size)...) {
		rejected(t, o, h.Duplicate)
	}
	tb.holds(0, size)
}

// twins have the same key in one batch.
func twins(t *testing.T, h *Harness) {
	tb := h.table(t, "twins")
	outcomes := tb.open(rows.Config{}).send(row(0), body(`{"k":1,"v":"a"}`), row(2), body(`{"k":1,"v":"b"}`), row(3))
	good, bad := 0, component.Outcome{}
	for _, o := range outcomes {
		if o.Verdict == component.Delivered {
			good++
		} else {
			bad = o
		}
	}
	if good != 4 {
		t.Errorf("%d are delivered, not 4", good)
	}
	rejected(t, bad, h.Duplicate)
	tb.holds(0, 4)
}

// upserts change rows that are there and make those that are not.
func upserts(t *testing.T, h *Harness) {
	tb := h.table(t, "upserts")
	s := tb.open(rows.Config{Mode: "upsert"})
	delivered(t, s.send(rowsOf(0, 10)...))
	var batch []*message.Message
	for k := 5; k < 15; k++ {
		batch = append(batch, body(`{"k":%d,"v":"new"}`, k))
	}
	batch = append(batch, body(`{"k":3,"v":null}`))
	delivered(t, s.send(batch...))
	tb.holds(0, 15)
	found := tb.cells(rows.Column{Name: "v", Kind: rows.Text})
	for k, want := range map[string]string{"0": "v0", "3": "NULL", "4": "v4", "5": "new", "9": "new", "14": "new"} {
		if found[k] != want {
			t.Errorf("row %s has %q, not %q", k, found[k], want)
		}
	}
}

// lastOfKey sends several rows of one key at once.
func lastOfKey(t *testing.T, h *Harness) {
	tb := h.table(t, "last")
	var batch []*message.Message
	for i := range 300 {
		batch = append(batch, body(`{"k":%d,"v":"%d"}`, i%7, i))
	}
	delivered(t, tb.open(rows.Config{Mode: "upsert"}).send(batch...))
	found := tb.cells(rows.Column{Name: "v", Kind: rows.Text})
	for k := range 7 {
		last := 0
		for i := range 300 {
			if i%7 == k {
				last = i
			}
		}
		if found[fmt.Sprint(k)] != fmt.Sprint(last) {
			t.Errorf("row %d has %s, not %d", k, found[fmt.Sprint(k)], last)
		}
	}
	tb.holds(0, 7)
}

// inOrder sends rows of one key of which some leave a column to its default: each such set of columns has a statement
// of its own.
func inOrder(t *testing.T, h *Harness) {
	for mode, want := range map[string]string{"upsert": "c y", "once": "a x"} {
		t.Run(mode, func(t *testing.T) {
			tb := h.table(t, "order"+mode, Definition{Name: "k", Type: h.Int, NotNull: true, Key: true},
				Definition{Name: "v", Type: h.Text}, Definition{Name: "d", Type: h.Text, Default: "'own'"})
			batch := []*message.Message{body(`{"k":0,"v":"z"}`), body(`{"k":1,"v":"a","d":"x"}`),
				body(`{"k":1,"v":"b"}`), body(`{"k":1,"v":"c","d":"y"}`)}
			if mode == "upsert" { // else the short rows would be written first
				batch = batch[1:]
			}
			delivered(t, tb.open(rows.Config{Mode: mode}).send(batch...))
			v, d := tb.cells(rows.Column{Name: "v", Kind: rows.Text}), tb.cells(rows.Column{Name: "d", Kind: rows.Text})
			if got := v["1"] + " " + d["1"]; got != want {
				t.Errorf("row 1 is %q, not %q", got, want)
			}
		})
	}
}

// again sends messages a second time: with the id, and by the table's own key.
func again(t *testing.T, h *Harness) {
	t.Run("by the message's id", func(t *testing.T) {
		tb := h.table(t, "ids", Definition{Name: "id", Type: h.Text, NotNull: true, Key: true},
			Definition{Name: "k", Type: h.Int, NotNull: true}, Definition{Name: "v", Type: h.Text})
		s := tb.open(rows.Config{IDColumn: "id"})
		batch := rowsOf(0, 20)
		delivered(t, s.send(batch[:12]...))
		delivered(t, s.send(batch...))
		delivered(t, s.send(append(rowsOf(20, 21), batch[3], batch[3], batch[19])...))
		tb.holds(0, 21)
		for _, r := range h.Read(t, tb.name, []string{"id", "k"}) {
			id, k := Text(rows.Column{Kind: rows.Text}, r[0]), Text(rows.Column{Kind: rows.Int}, r[1])
			if len(id) != 36 || k != "20" && !hasID(batch, id, k) {
				t.Errorf("row %s has the id %s", k, id)
			}
		}
	})
	t.Run("by the table's key", func(t *testing.T) {
		tb := h.table(t, "once")
		s := tb.open(rows.Config{Mode: "once"})
		delivered(t, s.send(rowsOf(0, 10)...))
		delivered(t, s.send(body(`{"k":5,"v":"another"}`), row(10), body(`{"k":11,"v":"first"}`),
			body(`{"k":11,"v":"second"}`)))
		tb.holds(0, 12)
		found := tb.cells(rows.Column{Name: "v", Kind: rows.Text})
		if found["5"] != "v5" || found["11"] != "first" && found["11"] != "second" {
			t.Errorf("the table has %v", found)
		}
	})
}

func hasID(batch []*message.Message, id, k string) bool {
	for i, m := range batch {
		if m.ID.String() == id {
			return fmt.Sprint(i) == k
		}
	}
	return false
}
