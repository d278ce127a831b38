//go:build linux

package postgres

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

func TestKeysThatTheServerTakesForOneAreOneRow(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TYPE mood AS ENUM ('sad', 'glad')")
	for _, c := range []struct{ sql, here, first, last string }{
		{"numeric PRIMARY KEY", "7, 1", "1.0", "1.00"},
		{"char(3) PRIMARY KEY", "'b', 'a'", `"a"`, `"a "`},
		{"float8 PRIMARY KEY", "7, 0", "-0", "0"},
		{"interval PRIMARY KEY", "'1 day', '1 hour'", `"60 minutes"`, `"3600 s"`},
		{"mood PRIMARY KEY", "'glad', 'sad'", `"sad"`, `"sad"`},
		{"int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "", "2", `"2"`},
		{"varchar(20) UNIQUE", "'x', '飛脚'", `"飛脚"`, `"\u98db脚"`},
		{"bytea PRIMARY KEY", "'\\x00', '\\x01'", `"AQ=="`, `"AQ"`},
	} {
		t.Run(c.sql, func(t *testing.T) {
			tell(t, url, "DROP TABLE IF EXISTS t", "CREATE TABLE t (id serial, k "+c.sql+", v int, w int DEFAULT 5)")
			if c.here == "" {
				tell(t, url, "INSERT INTO t (v) VALUES (0), (0)")
			} else {
				tell(t, url,
					"INSERT INTO t (k, v) SELECT k, 0 FROM unnest(ARRAY["+c.here+"]::"+
						c.sql[:len(c.sql)-len(after(c.sql))]+"[]) WITH ORDINALITY AS u(k, n) ORDER BY n")
			}
			send := func(mode string) {
				s, err := New(Config{Database: url, Config: rows.Config{Table: []string{"t"}, Mode: mode,
					NoSuchRow: "reject", Key: []string{"k"}}}, component.Env{Name: "sink"})
				must(t, err)
				defer s.Close()
				must(t, s.(component.Starter).Start(t.Context()))
				outcomes, err := s.Send(t.Context(), []*message.Message{{Body: []byte(`{"k":` + c.first + `,"v":1}`)},
					{Body: []byte(`{"k":` + c.last + `,"v":2}`)}})
				must(t, err)
				for _, o := range outcomes {
					if o.Verdict != component.Delivered {
						t.Errorf("%s: %v, because %v", mode, o.Verdict, o.Reason)
					}
				}
			}
			send("update")
			if got := ask(t, url, "SELECT id, v, w FROM t ORDER BY id"); got != "1|0|5\n2|2|5" {
				t.Error(got)
			}
			send("delete")
			if got := ask(t, url, "SELECT id FROM t"); got != "1" {
				t.Error(got)
			}
		})
	}
}

// after is what follows a type in a column's definition.
func after(definition string) string {
	for i := range definition {
		if definition[i] == ' ' {
			return definition[i:]
		}
	}
	return ""
}
