package rowstest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// threes makes a table of a key and two texts, with the rows 0 to 9: (3, "v3", "w3").
func (h *Harness) threes(t *testing.T, name string) *table {
	t.Helper()
	tb := h.table(t, name, Definition{Name: "k", Type: h.Int, NotNull: true, Key: true}, Definition{Name: "v",
		Type: h.Text}, Definition{Name: "w", Type: h.Text})
	var batch []*message.Message
	for k := range 10 {
		batch = append(batch, body(`{"k":%d,"v":"v%d","w":"w%d"}`, k, k, k))
	}
	delivered(t, tb.open(rows.Config{}).send(batch...))
	return tb
}

// has wants the rows of a table of threes to be as they were made, but for those of changed.
func (tb *table) has(changed map[int]string) {
	tb.t.Helper()
	v, w := tb.cells(rows.Column{Name: "v", Kind: rows.Text}), tb.cells(rows.Column{Name: "w", Kind: rows.Text})
	for k := range 10 {
		want := fmt.Sprintf("v%d w%d", k, k)
		if c, ok := changed[k]; ok {
			want = c
		}
		if got := v[fmt.Sprint(k)] + " " + w[fmt.Sprint(k)]; got != want {
			tb.t.Errorf("row %d is %q, not %q", k, got, want)
		}
	}
	tb.holds(0, 10)
}

// updates sets some columns of some rows, and refuses alone what has no key, no column or nothing to set.
func updates(t *testing.T, h *Harness) {
	tb := h.threes(t, "updates")
	s := tb.open(rows.Config{Mode: "update"})
	outcomes := s.send(body(`{"k":1,"v":"new"}`), body(`{"w":"x","k":2}`), body(`{"v":"no key"}`),
		body(`{"k":3,"v":null,"w":"飛脚"}`), body(`{"k":null,"v":"x"}`),
		body(`{"k":4,"v":"x","colour":"red"}`), body(`{"k":5}`), body(`{"k":6,"w":"w6"}`), body(`{"k":7,"v":"7"}`))
	rejected(t, outcomes[2], "column k", "missing", "key")
	rejected(t, outcomes[4], "column k", "null")
	rejected(t, outcomes[5], "colour", "no column")
	rejected(t, outcomes[6], "nothing to set")
	delivered(t, slices.Concat(outcomes[:2], outcomes[3:4], outcomes[7:]))
	want := map[int]string{1: "new w1", 2: "v2 x", 3: "NULL 飛脚", 7: "7 w7"}
	tb.has(want)
	if n := s.count("rows"); n != 5 {
		t.Errorf("%d rows are counted, not 5", n)
	}
	if n := s.count("no_such_row"); n != 0 { // nor was that one, which had it all already
		t.Errorf("%d rows were not there", n)
	}
	s = tb.open(rows.Config{Mode: "update", Key: []string{"k"}, Missing: "null", Columns: rows.Mapping{{Column: "k",
		From: "n"}, {Column: "w", From: "$key"}}})
	m := body(`{"n":8}`)
	m.Key = "of the key"
	delivered(t, s.send(m, body(`{"n":9}`)))
	want[8], want[9] = "v8 of the key", "v9 NULL"
	tb.has(want)
}

// updatesInOrder has updates of one key with different columns among each other, of which each makes a statement of
// its own.
func updatesInOrder(t *testing.T, h *Harness) {
	tb := h.threes(t, "inorder")
	both, one := `{"k":%d,"v":"%d","w":"%d"}`, `{"k":%d,"v":"%d"}`
	delivered(t, tb.open(rows.Config{Mode: "update"}).send(body(both, 1, 1, 1), body(one, 1, 2), body(one, 2, 3),
		body(both, 1, 4, 4), body(both, 2, 5, 5), body(one, 1, 6),
		body(one, 3, 7), body(one, 3, 8)))
	tb.has(map[int]string{1: "6 4", 2: "5 5", 3: "8 w3"})
}

// deletes rows, some of them by messages that have more than the key.
func deletes(t *testing.T, h *Harness) {
	tb := h.threes(t, "deletes")
	s := tb.open(rows.Config{Mode: "delete"})
	outcomes := s.send(body(`{"k":1}`), body(`{"k":2,"v":"whatever","w":5}`), body(`{"v":"v3"}`), body(`{"k":null}`),
		body(`{"k":5,"colour":"red"}`), body(`{"k":6}`),
		body(`{"k":6}`))
	rejected(t, outcomes[2], "column k", "missing", "key")
	rejected(t, outcomes[3], "column k", "null")
	rejected(t, outcomes[4], "colour", "no column")
	delivered(t, append(outcomes[:2:2], outcomes[5:]...))
	tb.holds(0, 10, 1, 2, 6)
	if n, absent := s.count("rows"), s.count("no_such_row"); n != 3 || absent != 0 {
		t.Errorf("%d rows are counted, %d were not there", n, absent)
	}
	var all []*message.Message
	for k := range 10 {
		m := &message.Message{}
		m.Attributes.Set("row", message.Int(int64(k)))
		all = append(all, m)
	}
	delivered(t, tb.open(rows.Config{Mode: "delete", Columns: rows.Mapping{{Column: "k", From: "row"}}}).send(all...))
	tb.holds(0, 0)
}

// absentRows are told from those that are there, wherever they stand.
func absentRows(t *testing.T, h *Harness) {
	for _, mode := range []string{"update", "delete"} {
		t.Run(mode, func(t *testing.T) {
			tb := h.table(t, "absent"+mode)
			delivered(t, tb.open(rows.Config{}).send(rowsOf(0, 200)...))
			s := tb.open(rows.Config{Mode: mode})
			delivered(t, s.send(rowsOf(190, 205)...))
			if n, absent := s.count("rows"), s.count("no_such_row"); n != 10 || absent != 5 {
				t.Errorf("%d rows are counted, %d were not there", n, absent)
			}
			s = tb.open(rows.Config{Mode: mode, NoSuchRow: "reject"})
			batch := rowsOf(0, 190)
			for i := 3; i < len(batch); i += 50 {
				batch[i] = row(1000 + i)
			}
			for i, o := range s.send(batch...) {
				if i%50 == 3 {
					rejected(t, o, "no such row", tb.name[len(tb.name)-1])
				} else {
					delivered(t, []component.Outcome{o})
				}
			}
			rejected(t, s.send(row(5000))[0], "no such row")
			if mode == "update" {
				tb.holds(0, 200)
			} else {
				tb.holds(0, 190, slices.DeleteFunc(seq(190), func(k int) bool { return k%50 == 3 })...)
			}
		})
	}
}

func seq(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// looseKey goes by a column in which several rows have the same.
func looseKey(t *testing.T, h *Harness) {
	tb := h.threes(t, "loosekey")
	delivered(t, tb.open(rows.Config{Mode: "update"}).send(body(`{"k":1,"v":"same"}`), body(`{"k":2,"v":"same"}`)))
	s := tb.open(rows.Config{Mode: "update", Key: []string{"v"}, Unknown: "drop", Columns: rows.Mapping{{Column: "v",
		From: "v"}, {Column: "w", From: "w"}}})
	delivered(t, s.send(body(`{"v":"same","w":"x"}`), body(`{"v":"v3","w":"y"}`), body(`{"v":"nobody","w":"z"}`)))
	tb.has(map[int]string{1: "same x", 2: "same x", 3: "v3 y"})
	if n := s.count("no_such_row"); n != 1 {
		t.Errorf("%d rows were not there", n)
	}
	delivered(t, tb.open(rows.Config{Mode: "delete", Key: []string{"v", "w"}}).send(body(`{"v":"same","w":"x"}`),
		body(`{"v":"v4","w":"x"}`), body(`{"v":"v5","w":"w5"}`)))
	tb.holds(0, 10, 1, 2, 5)
}

// updatePoison puts an update that the database refuses at each place of a batch: it would make a key stand twice.
func updatePoison(t *testing.T, h *Harness) {
	tb := h.threes(t, "updatepoison")
	s := tb.open(rows.Config{Mode: "update", Key: []string{"v"}})
	for at := range 8 {
		var batch []*message.Message
		for k := range 8 {
			batch = append(batch, body(`{"v":"v%d","w":"%d"}`, k, at))
		}
		batch[at] = body(`{"v":"v%d","k":9,"w":"never"}`, at)
		outcomes := s.send(batch...)
		rejected(t, outcomes[at], h.Duplicate)
		delivered(t, append(outcomes[:at:at], outcomes[at+1:]...))
	}
	tb.has(map[int]string{0: "v0 7", 1: "v1 7", 2: "v2 7", 3: "v3 7", 4: "v4 7", 5: "v5 7", 6: "v6 7", 7: "v7 6"})
}

// namesFound are those of columns by which rows are found, and which are set.
func namesFound(t *testing.T, h *Harness) {
	for _, name := range []string{`a"b`, "x; drop table other; --", "select", "表 飛脚", "a`b", "it's", "%s ? $1 :x"} {
		t.Run(name, func(t *testing.T) {
			tb := h.table(t, "n "+name, Definition{Name: "k", Type: h.Int, NotNull: true, Key: true},
				Definition{Name: name, Type: h.Text}, Definition{Name: "order", Type: h.Int})
			delivered(t, tb.open(rows.Config{}).send(body(`{"k":1,%q:"a"}`, name), body(`{"k":2,%q:"b"}`, name)))
			delivered(t, tb.open(rows.Config{Mode: "update", Key: []string{name}}).send(body(`{%q:"b","order":7}`,
				name)))
			delivered(t, tb.open(rows.Config{Mode: "update"}).send(body(`{"k":2,%q:"c"}`, name),
				body(`{"k":1,%q:"d"}`, name)))
			delivered(t, tb.open(rows.Config{Mode: "delete", Key: []string{name}}).send(body(`{%q:"d"}`, name),
				body(`{%q:"a"}`, name)))
			tb.holds(2, 3)
			if v, order := tb.cells(rows.Column{Name: name, Kind: rows.Text}), tb.cells(rows.Column{Name: "order",
				Kind: rows.Text}); v["2"] != "c" || order["2"] != "7" {
				t.Errorf("the table has %v, %v", v, order)
			}
		})
	}
}

// foundByKinds deletes rows by values of every type that makes a key.
func foundByKinds(t *testing.T, h *Harness) {
	for i, typ := range h.Types {
		column := typ.Column
		column.Name = "v"
		if column.Kind == rows.JSON || column.Kind == rows.Float {
			continue // not equal by anything of ours, or only to what it was rounded to
		}
		t.Run(typ.SQL, func(t *testing.T) {
			tb := h.table(t, fmt.Sprint("foundby", i), Definition{Name: "k", Type: h.Int, NotNull: true, Key: true},
				Definition{Name: "v", Type: typ.SQL})
			var batch []*message.Message
			for k, c := range standard(column) {
				if c.Refused == "" && c.Want != "NULL" && !slices.Contains(typ.Except, c.Field) {
					batch = append(batch, body(`{"k":%d,"v":%s}`, k, c.Field))
				}
			}
			delivered(t, tb.open(rows.Config{}).deliver(batch...))
			s := tb.open(rows.Config{Mode: "delete", Key: []string{"v"}})
			for i, o := range s.deliver(batch...) {
				if o.Verdict != component.Delivered {
					t.Errorf("%.80s: %v, because %v", batch[i].Body, o.Verdict, o.Reason)
				}
			}
			if left := tb.cells(column); len(left) > 0 {
				t.Errorf("not found: %.200q", fmt.Sprint(left))
			}
		})
	}
}

// findMisfits are settings that name no column, or no key.
func findMisfits(t *testing.T, h *Harness) {
	tb := h.table(t, "findmisfits")
	loose := h.table(t, "findloose", Definition{Name: "k", Type: h.Int}, Definition{Name: "value", Type: h.Text})
	key := h.table(t, "findkey", Definition{Name: "k", Type: h.Int, NotNull: true, Key: true})
	for _, c := range []struct {
		table  *table
		config rows.Config
		says   string
	}{
		{loose, rows.Config{Mode: "update"}, "no primary key"},
		{loose, rows.Config{Mode: "delete"}, "no primary key"},
		{loose, rows.Config{Mode: "delete", Key: []string{"valeu"}}, "did you mean value"},
		{tb, rows.Config{Mode: "update", Columns: rows.Mapping{{Column: "v", From: "v"}}},
			"does not say what it takes"},
		{tb, rows.Config{Mode: "delete", Columns: rows.Mapping{{Column: "k", From: "k"}, {Column: "value",
			From: "v"}}}, "no column value"},
		{key, rows.Config{Mode: "update"}, "no column beside the key"},
	} {
		if _, err := c.table.tryOpen(c.config); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: the start says: %v", c.config, err)
		}
	}
	delivered(t, loose.open(rows.Config{Mode: "delete", Key: []string{"value"}}).send(body(`{"value":"x"}`)))
}
