package mysql

import "testing"

// TestSelectLimitHoldsForEverySelect that has no LIMIT of its own, on the short path and on the long one, and may be
// put back to MySQL's default.
func TestSelectLimitHoldsForEverySelect(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(5)
	c := r.connect("")
	rows := func(want int, statement string) {
		t.Helper()
		if got, err := texts(t.Context(), c, statement); err != nil || len(got) != want {
			t.Errorf("%s: %d rows, %v, want %d", statement, len(got), err, want)
		}
	}
	every := []string{
		"SELECT * FROM jobs", "SELECT v FROM jobs", "SELECT DISTINCT v FROM jobs", "SELECT * FROM jobs WHERE v > 0",
		"SELECT v FROM jobs ORDER BY v DESC", "SELECT v, count(*) FROM jobs GROUP BY v",
		"SELECT v, count(*) FROM jobs GROUP BY v HAVING count(*) > 0", "TABLE jobs", "SELECT * FROM jobs j",
		"SELECT j.v FROM jobs j JOIN jobs k ON j.v = k.v", "SELECT v FROM jobs UNION ALL SELECT v FROM jobs",
		"SELECT * FROM (SELECT v FROM jobs LIMIT 5) t",
	}
	exec(t, c, "SET sql_select_limit = 2")
	for _, statement := range every {
		rows(2, statement)
	}
	rows(3, "SELECT v FROM jobs LIMIT 3")
	exec(t, c, "SET sql_select_limit = 0")
	rows(0, "SELECT v FROM jobs")
	for _, back := range []string{"18446744073709551615", "DEFAULT", "9223372036854775808"} {
		exec(t, c, "SET sql_select_limit = "+back)
		rows(5, "SELECT v FROM jobs")
		rows(5, "SELECT DISTINCT v FROM jobs")
	}
	one(t, c, "18446744073709551615", "SELECT @@sql_select_limit")
}
