package mysql

import "testing"

// TestALimitTakesNoMemoryOfItsOwn: how many rows an ORDER BY is limited to says nothing of how many there are.
func TestALimitTakesNoMemoryOfItsOwn(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(3)
	conn := r.connect("")
	for _, c := range []struct {
		want      int64
		statement string
	}{
		{1, "SELECT v FROM jobs ORDER BY v DESC LIMIT 5000000000000"},
		{1, "SELECT v FROM jobs ORDER BY v DESC LIMIT 18446744073709551615"},
		{1, "SELECT v FROM jobs ORDER BY v DESC LIMIT 18446744073709551615 OFFSET 1"},
		{1, "SELECT v FROM jobs ORDER BY v DESC LIMIT 1 OFFSET 2"},
		{3, "SELECT v FROM jobs ORDER BY v LIMIT 20000 OFFSET 2"},
		{2, "SELECT 1 n UNION SELECT 2 ORDER BY n LIMIT 5000000000000"},
		{2, "SELECT 1 n UNION SELECT 3 UNION SELECT 2 ORDER BY n LIMIT 1 OFFSET 1"},
		{2, "SELECT 3 n UNION ALL SELECT 1 UNION ALL SELECT 2 ORDER BY n DESC LIMIT 2"},
		{4, "WITH RECURSIVE r AS (SELECT 1 n UNION SELECT n+1 FROM r WHERE n < 4 ORDER BY n LIMIT " +
			"5000000000000) SELECT n FROM r"},
		{2, "WITH RECURSIVE r AS (SELECT 4 n UNION SELECT n-1 FROM r WHERE n > 1 ORDER BY n LIMIT 2) SELECT n FROM r"},
		{3, "SELECT max(v) FROM (SELECT v FROM jobs ORDER BY v LIMIT 5000000000000) t"},
	} {
		if number, last := ask(t, conn, c.statement); number != 0 || last != c.want {
			t.Errorf("%s: error %d, %v is the last, want %d", c.statement, number, last, c.want)
		}
	}
	for _, statement := range []string{
		"SELECT v FROM jobs ORDER BY v LIMIT 5 OFFSET 9223372036854775807",
		"SELECT v FROM jobs ORDER BY v LIMIT 1 OFFSET 20000",
	} {
		if number, last := ask(t, conn, statement); number != 0 || last != nil {
			t.Errorf("%s: error %d, %v", statement, number, last)
		}
	}
	exec(t, conn, "SELECT SQL_CALC_FOUND_ROWS v FROM jobs ORDER BY v LIMIT 20000")
	one(t, conn, int64(3), "SELECT found_rows()")
}
