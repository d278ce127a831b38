package rowstest

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// created makes a table of definitions, and leaves one alone that is there.
func created(t *testing.T, h *Harness) {
	tb := &table{t: t, h: h, name: h.Name("created")}
	t.Cleanup(func() { h.Drop(t, tb.name) })
	c := rows.Config{IDColumn: "id", Create: []any{"k " + h.Int + " not null", `"the ""v""" ` + h.Text}}
	delivered(t, tb.open(c).send(body(`{"k":1,"the \"v\"":"x"}`)))
	delivered(t, tb.open(c).send(body(`{"k":2}`)))
	c.Create = "k " + h.Int
	s := tb.open(c)
	twice := body(`{"k":3}`)
	delivered(t, s.send(twice, twice))
	delivered(t, s.send(twice))
	tb.holds(1, 4)
	if got := tb.cells(rows.Column{Name: `the "v"`, Kind: rows.Text}); got["1"] != "x" || got["2"] != "NULL" {
		t.Errorf("the table has %v", got)
	}
}

// inferred makes a table of the first messages.
func inferred(t *testing.T, h *Harness) {
	tb := &table{t: t, h: h, name: h.Name("inferred")}
	t.Cleanup(func() { h.Drop(t, tb.name) })
	s := tb.open(rows.Config{IDColumn: "id", Create: true})
	batch := []*message.Message{body(`{"k":1,"f":1,"s":"飛脚","b":true,"j":{"a":[1]},"n":null}`),
		body(`{"k":2,"f":2.5,"s":7,"more":"x"}`)}
	delivered(t, s.send(batch...))
	delivered(t, s.send(batch...))
	tb.holds(1, 3)
	for name, want := range map[string][2]string{"f": {"1", "2.5"}, "s": {"飛脚", "7"}, "more": {"NULL", "x"}} {
		kind := rows.Text
		if name == "f" {
			kind = rows.Float
		}
		if got := tb.cells(rows.Column{Name: name, Kind: kind}); got["1"] != want[0] || got["2"] != want[1] {
			t.Errorf("%s has %v, not %v", name, got, want)
		}
	}
	if got := tb.cells(rows.Column{Name: "j", Kind: rows.JSON}); got["1"] != `{"a":[1]}` {
		t.Errorf("j has %v", got)
	}
}

// absent is a table that nobody made.
func absent(t *testing.T, h *Harness) {
	tb := &table{t: t, h: h, name: h.Name("nobody made it")}
	if _, err := tb.tryOpen(rows.Config{}); err == nil || !strings.Contains(err.Error(), "nobody made it") ||
		!strings.Contains(err.Error(), "create") {
		t.Errorf("the start says: %v", err)
	}
}

// strangeType is a definition that the database does not understand: waiting would not help.
func strangeType(t *testing.T, h *Harness) {
	if h.without(t, "None") {
		return
	}
	tb := &table{t: t, h: h, name: h.Name("strange")}
	t.Cleanup(func() { h.Drop(t, tb.name) })
	if _, err := tb.tryOpen(rows.Config{Create: "k " + h.Int + ", v " + h.None}); err == nil ||
		!strings.Contains(err.Error(), "make the table") {
		t.Errorf("the start says: %v", err)
	}
}

// misfits are settings that name columns or keys that the table does not have.
func misfits(t *testing.T, h *Harness) {
	tb := h.table(t, "misfits")
	loose := h.table(t, "loose", Definition{Name: "k", Type: h.Int}, Definition{Name: "value", Type: h.Text})
	for _, c := range []struct {
		table  *table
		config rows.Config
		says   string
	}{
		{tb, rows.Config{IDColumn: "id"}, "no column id"},
		{tb, rows.Config{IDColumn: "v"}, "is no key"},
		{tb, rows.Config{IDColumn: "k"}, "does not hold an id"},
		{loose, rows.Config{Columns: rows.Mapping{{Column: "k", From: "k"}, {Column: "valeu", From: "v"}}},
			"did you mean value"},
		{tb, rows.Config{Columns: rows.Mapping{{Column: "v", From: "v"}}}, "takes no null and has no default"},
		{loose, rows.Config{Mode: "upsert"}, "no primary key"},
		{loose, rows.Config{Mode: "once"}, "no primary key"},
	} {
		if _, err := c.table.tryOpen(c.config); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: the start says: %v", c.config, err)
		}
	}
}

// addedColumn appears while the sink is at work.
func addedColumn(t *testing.T, h *Harness) {
	if h.without(t, "AddColumn") {
		return
	}
	tb := h.table(t, "added")
	s := tb.open(rows.Config{})
	delivered(t, s.send(rowsOf(0, 3)...))
	h.AddColumn(t, tb.name, Definition{Name: "colour", Type: h.Text})
	delivered(t, s.send(body(`{"k":3,"v":"x","colour":"red"}`), row(4)))
	tb.holds(0, 5)
	if got := tb.cells(rows.Column{Name: "colour", Kind: rows.Text}); got["3"] != "red" || got["4"] != "NULL" {
		t.Errorf("the table has %v", got)
	}
}

// droppedColumn makes its field one that is unknown.
func droppedColumn(t *testing.T, h *Harness) {
	if h.without(t, "DropColumn") {
		return
	}
	for unknown, kept := range map[string]bool{"reject": false, "drop": true} {
		t.Run(unknown, func(t *testing.T) {
			tb := h.table(t, "dropped"+unknown, Definition{Name: "k", Type: h.Int, NotNull: true, Key: true},
				Definition{Name: "v", Type: h.Text}, Definition{Name: "w", Type: h.Text})
			s := tb.open(rows.Config{Unknown: unknown})
			with := func(k int) *message.Message { return body(`{"k":%d,"v":"x","w":"y"}`, k) }
			delivered(t, s.send(with(0), with(1)))
			h.DropColumn(t, tb.name, "w")
			outcomes := s.deliver(with(2), row(3))
			delivered(t, outcomes[1:])
			if kept {
				delivered(t, outcomes)
				tb.holds(0, 4)
				return
			}
			rejected(t, outcomes[0], "w", "no column")
			tb.holds(0, 4, 2)
		})
	}
}

// retyped is a column of integers that becomes one of text: afterwards it takes both, and nothing is garbled.
func retyped(t *testing.T, h *Harness) {
	if h.without(t, "Retype") {
		return
	}
	tb := h.table(t, "retyped", Definition{Name: "k", Type: h.Int, NotNull: true, Key: true},
		Definition{Name: "v", Type: h.Int})
	s := tb.open(rows.Config{})
	outcomes := s.send(body(`{"k":0,"v":7}`), body(`{"k":1,"v":"x"}`))
	delivered(t, outcomes[:1])
	rejected(t, outcomes[1], "integer")
	h.Retype(t, tb.name, "v")
	delivered(t, s.deliver(body(`{"k":2,"v":8}`), body(`{"k":3,"v":9}`)))
	if got := tb.cells(rows.Column{Name: "v", Kind: rows.Text}); got["0"] != "7" || got["2"] != "8" || got["3"] != "9" {
		t.Errorf("the table has %v", got)
	}
	delivered(t, tb.open(rows.Config{}).deliver(body(`{"k":4,"v":"飛脚"}`)))
	tb.holds(0, 5, 1)
}

// droppedTable is gone, and comes back with another order of columns.
func droppedTable(t *testing.T, h *Harness) {
	tb := h.table(t, "gone")
	s := tb.open(rows.Config{})
	delivered(t, s.send(rowsOf(0, 3)...))
	h.Drop(t, tb.name)
	for _, o := range s.send(rowsOf(3, 6)...) {
		if o.Verdict != component.Retry || !strings.Contains(o.Reason.Error(), "gone") {
			t.Errorf("%v, because %v", o.Verdict, o.Reason)
		}
	}
	h.Create(t, tb.name, []Definition{{Name: "new", Type: h.Text}, {Name: "v", Type: h.Text},
		{Name: "k", Type: h.Int, NotNull: true, Key: true}})
	delivered(t, s.deliver(rowsOf(3, 6)...))
	tb.holds(3, 6)
	if got := tb.cells(rows.Column{Name: "v", Kind: rows.Text}); got["3"] != "v3" {
		t.Errorf("the table has %v", got)
	}
}
