package mysql

import (
	"fmt"
	"testing"
)

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

// TestWhatIsSortedByIsEvaluatedOnceForEachRow: a value that is too large leaves a warning each time that one is asked
// for.
func TestWhatIsSortedByIsEvaluatedOnceForEachRow(t *testing.T) {
	const rows = 100
	r := newRig(t, Config{}, nil)
	r.makeJobs(rows)
	conn := r.connect("")
	for _, statement := range []string{
		"SELECT v FROM jobs ORDER BY space(v * 1000000000)",
		"SELECT v FROM jobs ORDER BY space(v * 1000000000), v DESC LIMIT 1",
		"SELECT v FROM jobs ORDER BY v IS NULL, space(v * 1000000000) DESC LIMIT 20 OFFSET 5",
		"SELECT group_concat(v ORDER BY space(v * 1000000000)) FROM jobs",
		"SELECT row_number() OVER (ORDER BY space(v * 1000000000)) FROM jobs",
		"SELECT count(*) OVER (PARTITION BY space(v * 1000000000)) FROM jobs",
	} {
		if number, _ := ask(t, conn, statement); number != 0 {
			t.Errorf("%s: error %d", statement, number)
		}
		one(t, conn, int64(rows), "SELECT @@warning_count")
	}
}

// TestASortTellsOfErrorsAndCounts: also where the LIMIT is 1.
func TestASortTellsOfErrorsAndCounts(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(7)
	conn := r.connect("")
	for _, statement := range []string{
		"SELECT v FROM jobs ORDER BY v REGEXP '('",
		"SELECT v FROM jobs ORDER BY v REGEXP '(' LIMIT 1",
		"SELECT v FROM jobs ORDER BY v REGEXP '(' LIMIT 3",
		"SELECT row_number() OVER (ORDER BY v REGEXP '(') FROM jobs",
	} {
		if number, _ := ask(t, conn, statement); number != 3691 {
			t.Errorf("%s : error %d", statement, number)
		}
	}
	for _, limit := range []string{"0", "1", "3", "20", "1 OFFSET 3"} {
		exec(t, conn, "SELECT SQL_CALC_FOUND_ROWS v FROM jobs ORDER BY v LIMIT "+limit)
		one(t, conn, int64(7), "SELECT found_rows()")
	}
}

// TestASortKeepsNoMoreThanItsLimit: what a LIMIT leaves out is not counted, and rows with equal keys stay in order.
func TestASortKeepsNoMoreThanItsLimit(t *testing.T) {
	r := newRig(t, Config{StatementBytes: 4 << 20}, nil)
	r.makeJobs(3000)
	conn := r.connect("")
	one(t, conn, int64(3), "SELECT v FROM (SELECT v, repeat('x', 10000) x FROM jobs ORDER BY v, x LIMIT 3) t "+
		"ORDER BY v DESC LIMIT 1")
	for limit, last := range map[int]int64{1: 10, 2: 20, 40: 400, 300: 3000, 301: 1} {
		if number, v := ask(t, conn, fmt.Sprintf("SELECT v FROM jobs ORDER BY v %% 10 LIMIT %d", limit)); number != 0 ||
			v != last {
			t.Errorf("LIMIT %d: error %d, %v is the last, want %d", limit, number, v, last)
		}
	}
}

// TestGroupConcatCountsTheRowsThatItKeeps: what it sorts by is not in its text.
func TestGroupConcatCountsTheRowsThatItKeeps(t *testing.T) {
	r := newRig(t, Config{StatementBytes: 8 << 20}, nil)
	r.makeJobs(2000)
	conn := r.connect("")
	for _, by := range []string{"x", "concat(x, 'y')", "length(x)"} {
		statement := "SELECT group_concat(v ORDER BY " + by + ") FROM (SELECT v, repeat('x', 10000 + v) x FROM jobs) t"
		if number, _ := ask(t, conn, statement); number != 3170 {
			t.Errorf("%s: error %d", statement, number)
		}
	}
	exec(t, conn, "SET group_concat_max_len = 1000000")
	one(t, conn, int64(8892), "SELECT length(group_concat(v ORDER BY v % 7, v DESC)) FROM jobs")
}
