package mysql

import "testing"

// TestErrorsThatHadNoNumberHaveMySQLs: programs look at the number, and 1105 says nothing.
func TestErrorsThatHadNoNumberHaveMySQLs(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(2)
	c := r.connect("")
	for _, f := range []struct {
		query  string
		number uint16
		state  string
	}{
		{"SELECT v FROM jobs WHERE row_number() OVER (ORDER BY v) = 1", 3593, "HY000"},
		{"SELECT v FROM jobs GROUP BY v HAVING rank() OVER (ORDER BY v) = 1", 3593, "HY000"},
		{"SELECT 1 FROM (SELECT v FROM jobs WHERE sum(v) OVER () > 1) AS s", 3593, "HY000"},
		{"DELETE FROM jobs WHERE row_number() OVER () = 1", 3593, "HY000"},
		{"SELECT a.v FROM jobs a JOIN jobs b ON rank() OVER (ORDER BY a.v) = b.v", 3593, "HY000"},
		{"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c", 3636, "HY000"},
		{"SELECT v INTO @v FROM jobs", 1172, "42000"},
		{"SET sql_mode = 'no_such_mode'", 1231, "42000"},
		{"SET time_zone = 'No/Where'", 1298, "HY000"},
		{"SELECT * FROM (SELECT 1)", 1248, "42000"},
		{"SELECT v FROM jobs WHERE v = ?", 1064, "42000"},
		{"CALL nothing()", 1305, "42000"},
		{"SELECT MATCH(v) AGAINST('a') FROM jobs", 1191, "HY000"},
		{"SELECT bit_and(v) OVER () FROM jobs", 1235, "42000"},
		{"SET ROLE admin", 1235, "42000"},
		{"SELECT rank() OVER (ORDER BY sum(v)) FROM jobs GROUP BY v", 1235, "42000"},
		{"SELECT sum(count(*)) OVER () FROM jobs GROUP BY v", 1235, "42000"},
	} {
		_, err := c.ExecContext(t.Context(), f.query)
		failsWith(t, err, f.number, f.state, f.query)
	}
	for _, statement := range []string{"FLUSH PRIVILEGES", "SET ROLE NONE", "set role default;", "SET ROLE ALL"} {
		exec(t, c, statement)
	}
	exec(t, c, "SELECT v FROM jobs WHERE v IN (SELECT row_number() OVER (ORDER BY v) FROM jobs)")
}
