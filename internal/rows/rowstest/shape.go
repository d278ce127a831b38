package rowstest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// names writes into tables and columns whose names would do harm, or nothing at all, if they were not quoted.
func names(t *testing.T, h *Harness) {
	other := h.table(t, "other")
	delivered(t, other.open(rows.Config{}).send(row(1)))
	for i, name := range []string{`a"b`, "x; drop table other; --", "select", "表 飛脚", "a`b", "it's", "UPPER lower",
		"a.b", "%s ? $1 :x"} {
		t.Run(name, func(t *testing.T) {
			tb := h.table(t, name, Definition{Name: "k", Type: h.Int, NotNull: true, Key: true},
				Definition{Name: name, Type: h.Text}, Definition{Name: "order", Type: h.Int})
			for k, mode := range []string{"insert", "upsert", "once"} {
				delivered(t, tb.open(rows.Config{Mode: mode}).send(body(`{"k":%d,%q:"%d","order":7}`, k, name, i)))
			}
			for k, cell := range tb.cells(rows.Column{Name: name, Kind: rows.Text}) {
				if cell != fmt.Sprint(i) {
					t.Errorf("row %s has %q", k, cell)
				}
			}
			tb.holds(0, 3)
		})
	}
	other.holds(1, 2)
}

// invalidUTF8 sends what is no JSON at all; as an attribute the value itself is refused.
func invalidUTF8(t *testing.T, h *Harness) {
	tb := h.table(t, "utf8")
	batch := rowsOf(0, 4)
	batch[1].Body = []byte("{\"k\":1,\"v\":\"\xff\xfe\"}")
	batch[2].Body = []byte(`{"k":2}`)
	batch[2].Attributes.Set("v", message.String("a\xffb"))
	outcomes := tb.open(rows.Config{}).send(batch...)
	rejected(t, outcomes[1], "UTF-8")
	rejected(t, outcomes[2], "UTF-8", "column v")
	delivered(t, append(outcomes[:1:1], outcomes[3]))
	tb.holds(0, 4, 1, 2)
}

// huge writes a value of 10 MB among small ones.
func huge(t *testing.T, h *Harness) {
	if h.without(t, "Huge") {
		return
	}
	tb := h.table(t, "huge", Definition{Name: "k", Type: h.Int, NotNull: true, Key: true},
		Definition{Name: "v", Type: h.Huge})
	long := strings.Repeat("飛脚 0123456789 ", 500_000)
	delivered(t, tb.open(rows.Config{}).deliver(row(0), body(`{"k":1,"v":"%s"}`, long), row(2)))
	tb.holds(0, 3)
	if got := tb.cells(rows.Column{Name: "v", Kind: rows.Text})["1"]; got != long {
		t.Errorf("%d bytes came back of %d", len(got), len(long))
	}
}

// mapping says column by column what goes there.
func mapping(t *testing.T, h *Harness) {
	tb := h.table(t, "mapping", Definition{Name: "k", Type: h.Int, NotNull: true, Key: true},
		Definition{Name: "id", Type: h.Text}, Definition{Name: "whose", Type: h.Text},
		Definition{Name: "at", Type: h.Text}, Definition{Name: "whole", Type: h.Text},
		Definition{Name: "others", Type: h.Text}, Definition{Name: "twice", Type: h.Text},
		Definition{Name: "rest", Type: h.Text})
	s := tb.open(rows.Config{Unknown: "drop",
		Columns: rows.Mapping{{Column: "k", From: "n"}, {Column: "id", From: "$id"}, {Column: "whose", From: "$key"},
			{Column: "at", From: "$time"}, {Column: "whole", From: "$body"},
			{Column: "others", From: "$attributes"}, {Column: "twice", From: "n"}}})
	m := body(`{"n":5,"rest":"left out"}`)
	m.Key = "a key"
	m.Attributes.Set("lang", message.String("ja"))
	m.Attributes.Set("n", message.Int(3))
	delivered(t, s.send(m))
	found := h.Read(t, tb.name, []string{"k", "id", "whose", "at", "whole", "others", "twice", "rest"})
	if len(found) != 1 {
		t.Fatalf("%d rows", len(found))
	}
	for i, want := range []string{"5", m.ID.String(), "a key", m.Time.UTC().Format("2006-01-02T15:04:05.999999999Z"),
		string(m.Body), `{"lang":"ja","n":3}`, "5", "NULL"} {
		if got := Text(rows.Column{Kind: rows.Text}, found[0][i]); got != want {
			t.Errorf("column %d has %q, not %q", i, got, want)
		}
	}
}

// attributes stand in for fields that the body does not have.
func attributes(t *testing.T, h *Harness) {
	tb := h.table(t, "attributes")
	batch := []*message.Message{{}, body(`{"k":2}`), body(`{"k":3,"v":"body"}`), {Body: []byte("plain text")}, {}}
	for i, m := range batch[:4] {
		m.Attributes.Set("v", message.String(fmt.Sprint("attribute ", i)))
		m.Attributes.Set("k", message.Int(int64(i+1)))
		m.Attributes.Set("lang", message.String("for nobody")) // attributes are often for others
	}
	outcomes := tb.open(rows.Config{}).send(batch...)
	delivered(t, outcomes[:3])
	rejected(t, outcomes[3], "no JSON object", "$body")
	rejected(t, outcomes[4])
	found := tb.cells(rows.Column{Name: "v", Kind: rows.Text})
	if found["1"] != "attribute 0" || found["2"] != "attribute 1" || found["3"] != "body" || len(found) != 3 {
		t.Errorf("the table has %v", found)
	}
}

// unknownFields are refused by name, or left out.
func unknownFields(t *testing.T, h *Harness) {
	tb := h.table(t, "unknown")
	batch := []*message.Message{row(0), body(`{"k":1,"v":"x","colour":"red"}`), row(2)}
	outcomes := tb.open(rows.Config{}).send(batch...)
	delivered(t, append(outcomes[:1:1], outcomes[2]))
	rejected(t, outcomes[1], "colour", "no column")
	tb.holds(0, 3, 1)
	delivered(t, tb.open(rows.Config{Unknown: "drop"}).send(batch[1]))
	tb.holds(0, 3)
}

// missingFields of every policy.
func missingFields(t *testing.T, h *Harness) {
	for policy, want := range map[string][3]string{"": {"own", "NULL", "9"}, "default": {"own", "NULL", "9"},
		"null": {"NULL", "NULL", "9"}, "reject": {"own", "", "9"}} {
		t.Run("missing "+policy, func(t *testing.T) {
			tb := h.table(t, "missing"+policy, Definition{Name: "k", Type: h.Int, NotNull: true, Key: true},
				Definition{Name: "d", Type: h.Text, Default: "'own'"},
				Definition{Name: "v", Type: h.Text}, Definition{Name: "n", Type: h.Int, NotNull: true, Default: "9"})
			s := tb.open(rows.Config{Missing: policy})
			outcomes := s.send(body(`{"k":1}`), body(`{"k":2,"d":"x","v":"y","n":3}`), body(`{"v":"without a key"}`),
				body(`{"k":4,"d":"z","n":null,"v":"y"}`))
			delivered(t, outcomes[1:2])
			rejected(t, outcomes[2], "column k")
			rejected(t, outcomes[3], "column n", "null")
			if policy == "reject" {
				column := "column v"
				if h.without(t, "Defaults") {
					column = "column d" // it may have none
				}
				rejected(t, outcomes[0], column, "missing")
				tb.holds(2, 3)
				return
			}
			delivered(t, outcomes[:1])
			tb.holds(1, 3)
			for i, name := range []string{"d", "v", "n"} {
				if got := tb.cells(rows.Column{Name: name, Kind: rows.Text}); got["1"] != want[i] ||
					got["2"] != []string{"x", "y", "3"}[i] {
					t.Errorf("%s has %v", name, got)
				}
			}
		})
	}
}
