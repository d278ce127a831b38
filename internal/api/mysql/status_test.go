package mysql

import (
	"strings"
	"testing"
	"unicode"
)

func TestShowEngineStatusSumsAllTables(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(3)
	c := r.connect("")
	exec(t, c, "CREATE TABLE other (v int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO other VALUES (1), (2)")
	one(t, c, int64(1), "SELECT queue_wait('other', 0)")
	for _, statement := range []string{"SHOW ENGINE QUEUE STATUS", "show  engine queue status;"} {
		var typ, name, status string
		if err := c.QueryRowContext(t.Context(), statement).Scan(&typ, &name, &status); err != nil {
			t.Error(statement, err)
			continue
		}
		for _, line := range []string{"connections: 1\n", "tables: 2\n", "rows_waiting: 4\n", "rows_owned: 1\n",
			"total_inserted: 5\n", "total_owned: 1\n", "journal_groups: "} {
			if typ != "QUEUE" || !strings.Contains(status, line) {
				t.Errorf("%s: %s has no %q in\n%s", statement, typ, line, status)
			}
		}
	}
}

func TestShowProcesslistShowsWhoWaits(t *testing.T) {
	for _, noShort := range []bool{false, true} {
		r := newRig(t, Config{}, nil)
		r.door.noShort = noShort
		r.makeJobs(0)
		w := r.dialRaw()
		w.write(0, []byte("\x03SELECT queue_wait('jobs:v=7', 3600)"))
		r.until("it waits", func() bool { return r.stats().Waiters == 1 })
		rows, err := r.connect("").QueryContext(t.Context(), "SHOW PROCESSLIST")
		if err != nil {
			t.Fatal(err)
		}
		if text := rowsText(rows); !strings.Contains(text, "Query") ||
			!strings.Contains(text, "SELECT queue_wait('jobs:v=7', 3600)") || !strings.Contains(text, "root") {
			t.Errorf("long %t: the connections are shown as\n%s", noShort, text)
		}
		rows.Close()
		r.putJobs(7, 7)
		if got, err := w.row(); err != nil || got[0] != "1" {
			t.Errorf("long %t: it got %q, %v", noShort, got, err)
		}
	}
}

// TestNamesOfVariablesStayApartWithoutPunctuation: mysqld_exporter makes names of metrics of them, and gives up when
// two are the same.
func TestNamesOfVariablesStayApartWithoutPunctuation(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	for _, statement := range []string{"SHOW GLOBAL STATUS", "SHOW STATUS", "SHOW GLOBAL VARIABLES"} {
		rows, err := c.QueryContext(t.Context(), statement)
		if err != nil {
			t.Fatal(statement, err)
		}
		known := map[string]string{}
		for rows.Next() {
			var name, value string
			if err := rows.Scan(&name, &value); err != nil {
				t.Fatal(statement, err)
			}
			plain := strings.Map(func(r rune) rune {
				if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
					return '_'
				}
				return unicode.ToLower(r)
			}, name)
			if other, there := known[plain]; there {
				t.Errorf("%s has both %q and %q", statement, name, other)
			}
			known[plain] = name
		}
		if err := rows.Close(); err != nil || len(known) < 100 {
			t.Errorf("%s: %d names, %v", statement, len(known), err)
		}
	}
}
