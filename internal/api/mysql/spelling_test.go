package mysql

import (
	"database/sql"
	"strings"
	"testing"
)

// TestStatementsOfODBCAndHibernateAreRead, sent as text and prepared: what MySQL reads and the SQL parser does not.
func TestStatementsOfODBCAndHibernateAreRead(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE spelled (id int, kind varchar(20), at datetime) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO spelled VALUES (1, N' a ', {ts '2026-01-02 03:04:05'}), (2, NULL, {fn timestamp({d "+
		"'2026-01-03'})})")
	exec(t, c, "LOCK TABLE spelled READ")
	exec(t, c, "UNLOCK TABLES")
	for query, want := range map[string]string{
		"SELECT DISTINCTROW SQL_BIG_RESULT id FROM spelled WHERE id = ?":                                  "1",
		"SELECT HIGH_PRIORITY id FROM spelled WHERE id = ?":                                               "1",
		"SELECT concat('<', trim(BOTH FROM kind), '>') FROM spelled WHERE id = ?":                         "<a>",
		"SELECT concat('<', trim(trailing from kind), '>') FROM spelled WHERE id = ?":                     "< a>",
		"SELECT kind IS UNKNOWN FROM spelled WHERE id = ?":                                                "0",
		"SELECT date_format(timestampadd(SQL_TSI_DAY, 1, at), '%d %T') FROM spelled WHERE id = ?":         "03 03:04:05",
		"SELECT date_format(at + INTERVAL '1 02:03' DAY_MINUTE, '%d %T') FROM spelled WHERE id = ?":       "03 05:07:05",
		"SELECT id FROM spelled WHERE id = ANY (SELECT id FROM spelled) AND id = ?":                       "1",
		"SELECT count(*) FROM spelled WHERE id <> ALL (SELECT id FROM spelled WHERE id = ?)":              "1",
		"SELECT id FROM spelled WHERE ROW(id, 1) = ROW(?, 1)":                                             "1",
		"SELECT id--n'5'--{fn abs(-2)} FROM spelled WHERE id = ?":                                         "8",
		"SELECT id---1 FROM spelled WHERE id--1 < 3--?":                                                   "0",
		"SELECT {fn ucase({fn ltrim(kind)})} FROM spelled WHERE id = ?":                                   "A ",
		"SELECT count(*) FROM {oj spelled a LEFT OUTER JOIN spelled b ON a.id = b.id + 1} WHERE a.id = ?": "1",
	} {
		var got sql.NullString
		if err := c.QueryRowContext(t.Context(), query, 1).Scan(&got); err != nil || got.String != want {
			t.Errorf("%s, prepared: %q, %v, want %q", query, got.String, err, want)
		}
		text := strings.Replace(query, "?", "1", 1)
		if err := c.QueryRowContext(t.Context(), text).Scan(&got); err != nil || got.String != want {
			t.Errorf("%s: %q, %v, want %q", text, got.String, err, want)
		}
	}
}
