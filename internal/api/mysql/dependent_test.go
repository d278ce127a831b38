package mysql

import (
	"slices"
	"testing"
)

// TestASubqueryMayStandBesideAGroupBy: with ONLY_FULL_GROUP_BY it may read what the rows are grouped by, and nothing
// else of the query around it.
func TestASubqueryMayStandBesideAGroupBy(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE g (i int, s varchar(20)) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO g VALUES (1,'a'),(1,'b'),(2,'c')")
	for statement, want := range map[string][]string{
		"SELECT i, (SELECT 7), count(*) FROM g GROUP BY i":                                        {"1 7 2", "2 7 1"},
		"SELECT i, (SELECT max(h.s) FROM g h WHERE h.i = g.i) m, count(*) FROM g GROUP BY i":      {"1 b 2", "2 c 1"},
		"SELECT (SELECT max(h.s) FROM g h WHERE h.i = g.i) m, count(*) FROM g GROUP BY m":         {"b 2", "c 1"},
		"SELECT i, EXISTS (SELECT 1 FROM g h WHERE h.i > g.i), i IN (SELECT 2) FROM g GROUP BY i": {"1 1 0", "2 0 1"},
		"SELECT i FROM g GROUP BY i ORDER BY (SELECT max(h.s) FROM g h WHERE h.i = g.i) DESC":     {"2", "1"},
		"SELECT i, (SELECT (SELECT g.i + 1)) FROM g GROUP BY i":                                   {"1 2", "2 3"},
	} {
		if got, err := texts(t.Context(), c, statement); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", statement, got, err, want)
		}
	}
	for _, statement := range []string{
		"SELECT i, (SELECT max(h.i) FROM g h WHERE h.s = g.s) FROM g GROUP BY i",
		"SELECT i, (SELECT (SELECT concat(g.s, 'x'))) FROM g GROUP BY i",
	} {
		_, err := c.ExecContext(t.Context(), statement)
		failsWith(t, err, 1055, "42000", statement)
	}
}
