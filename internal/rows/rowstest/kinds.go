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

func kinds(t *testing.T, h *Harness) { h.everyKind(t, "kinds", rows.Config{}) }

func kindsUpserted(t *testing.T, h *Harness) { h.everyKind(t, "upserted", rows.Config{Mode: "upsert"}) }

func kindsUpdated(t *testing.T, h *Harness) { h.everyKind(t, "updated", rows.Config{Mode: "update"}) }

// everyKind sends all cases of a type in one batch: what is refused takes no other with it.
func (h *Harness) everyKind(t *testing.T, name string, c rows.Config) {
	for i, typ := range h.Types {
		t.Run(typ.SQL, func(t *testing.T) {
			tb := h.table(t, fmt.Sprint(name, i), Definition{Name: "k", Type: h.Int, NotNull: true, Key: true},
				Definition{Name: "v", Type: typ.SQL})
			column := typ.Column
			column.Name = "v"
			cases := slices.DeleteFunc(standard(column),
				func(c Case) bool { return slices.Contains(typ.Except, c.Field) })
			cases = append(cases, typ.Cases...)
			var batch []*message.Message
			for k, c := range cases {
				batch = append(batch, body(`{"k":%d,"v":%s}`, k, c.Field))
			}
			if c.Mode == "update" { // of rows that are there
				for k := range batch {
					batch[k] = body(`{"k":%d}`, k)
				}
				delivered(t, tb.open(rows.Config{}).deliver(batch...))
				for k, c := range cases {
					batch[k] = body(`{"k":%d,"v":%s}`, k, c.Field)
				}
			}
			outcomes := tb.open(c).deliver(batch...)
			found := tb.cells(column)
			for k, c := range cases {
				cell, there := found[fmt.Sprint(k)]
				there = there && (c.Refused == "" || cell != "NULL")
				switch o := outcomes[k]; {
				case c.Refused != "":
					if o.Verdict != component.Rejected || there {
						t.Errorf("%s: %v, and in the table: %v %.80q", c.Field, o.Verdict, there, cell)
					} else if !strings.Contains(o.Reason.Error(), c.Refused) {
						t.Errorf("%s: %v; the reason does not have %q", c.Field, o.Reason, c.Refused)
					}
				case o.Verdict != component.Delivered:
					t.Errorf("%.80s: %v, because %v", c.Field, o.Verdict, o.Reason)
				default:
					want := c.Want
					if want != "NULL" && column.Kind != rows.Bytes {
						want = fromText(column, want)
					}
					if cell != want {
						t.Errorf("%.80s is %.80q, not %.80q", c.Field, cell, want)
					}
				}
			}
		})
	}
}
