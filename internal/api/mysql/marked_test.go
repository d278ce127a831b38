package mysql

import (
	"strings"
	"testing"
)

// TestComparisonsWithAllOrAnyRowsOfASubquery hold every sign, NULL and no row at all, also where a WHERE decides by it.
func TestComparisonsWithAllOrAnyRowsOfASubquery(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE q (a int, b varchar(9), d date) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO q VALUES (1,'x','2026-01-01'), (2,'x','2026-01-02'), (3,'y',NULL), (3,'y',NULL)")
	for statement, want := range map[string]string{
		"SELECT a FROM q WHERE a > ALL (SELECT a FROM q WHERE b = 'x')":     "3 3",
		"SELECT a FROM q WHERE a >= ANY (SELECT a FROM q WHERE b = 'x')":    "1 2 3 3",
		"SELECT a FROM q WHERE a < SOME (SELECT a FROM q WHERE b = 'x')":    "1",
		"SELECT a FROM q WHERE a <= ALL (SELECT a FROM q)":                  "1",
		"SELECT a FROM q WHERE a = ALL (SELECT a FROM q WHERE b = 'y')":     "3 3",
		"SELECT a FROM q WHERE a <> ANY (SELECT a FROM q WHERE b = 'y')":    "1 2",
		"SELECT a FROM q WHERE a != SOME (SELECT a FROM q WHERE b = 'x')":   "1 2 3 3",
		"SELECT a FROM q WHERE NOT a > ALL (SELECT 2)":                      "1 2",
		"SELECT a FROM q WHERE a < ANY (SELECT a FROM q p WHERE p.b = q.b)": "1",
		"SELECT a FROM q WHERE d >= ALL (SELECT '2026-01-02')":              "2",
		"SELECT a FROM q WHERE (SELECT 3) <= ANY (SELECT a)":                "3 3",
		"SELECT b FROM q GROUP BY b HAVING SUM(a) >= ALL (SELECT 4)":        "y",
		"SELECT 1 > ALL (SELECT a FROM q WHERE a > 9)":                      "1",
		"SELECT 1 > ANY (SELECT a FROM q WHERE a > 9)":                      "0",
		"SELECT COALESCE(2 > ALL (SELECT NULL UNION SELECT 1), 'NULL')":     "NULL",
		"SELECT COALESCE(NULL > ALL (SELECT 1), 'NULL')":                    "NULL",
		"SELECT COALESCE(NULL > ALL (SELECT a FROM q WHERE a > 9), 'NULL')": "1",
		"SELECT 2 > ANY (SELECT NULL UNION SELECT 1)":                       "1",
		"SELECT 0 > ALL (SELECT NULL UNION SELECT 1)":                       "0",
		"SELECT '10' > ALL (SELECT '9')":                                    "0",
		"SELECT 10 > ALL (SELECT '9')":                                      "1",
		"SELECT 1 > ALL (SELECT 0 = ANY (SELECT 1)) AND 2 = ANY (SELECT 2)": "1",
	} {
		if got := wordsOf(t, c, statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
	for statement, want := range map[string]int{
		"SELECT 1 > ALL (SELECT 1, 2)": 1241, "SELECT (1, 2) > ALL (SELECT 1)": 1241, "SELECT 1 > ALL (2)": 1064,
	} {
		if number, _ := ask(t, c, statement); int(number) != want {
			t.Errorf("%s: error %d, want %d", statement, number, want)
		}
	}
}

// TestAVariableIsAssignedWithinAnExpression, row by row, and keeps the value.
func TestAVariableIsAssignedWithinAnExpression(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE q (a int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO q VALUES (1), (2), (3)")
	for _, s := range []struct{ statement, want string }{
		{"SELECT @v := 1", "1"},
		{"SELECT UNIX_TIMESTAMP((@u := '1970-01-02 00:00:00')) > 0", "1"},
		{"SELECT @v", "1"},
		{"SELECT @v := @v + a FROM q", "2 4 7"},
		{"SELECT CONCAT(@x := 'a', @y := @z := 2, @x)", "a2a"},
		{"SELECT CONCAT(@y, @z)", "22"},
		{"SELECT @n := @n + 1 AS n FROM q, (SELECT @n := 10) start", "11 12 13"},
		{"SELECT n FROM (SELECT @n := @n + 1 AS n FROM q, (SELECT @n := 10) start) all_of_them WHERE n > 12", "13"},
		{"SELECT a FROM q WHERE (@last := a) > 1", "2 3"},
		{"SELECT @last", "3"},
		{"SELECT @v := 1 OR 0", "1"},
		{"SELECT IF((@v := 5) > 4, @v, 0)", "5"},
		{"SELECT CONCAT(@new := 'x', @new, @new := 'y', @new)", "xxyy"},
		{"SELECT @other FROM (SELECT @other := 1.5) q", "1.5"},
		{"SELECT COALESCE(@never, 'NULL')", "NULL"},
		{"SELECT @wide := 4", "4"},
		{"SELECT @wide FROM q WHERE (@wide := @wide + 1000) > 0", "1004 2004 3004"},
		{"SELECT @wide FROM q WHERE (@wide := CONCAT('t', a)) IS NOT NULL", "t1 t2 t3"},
		{"SELECT DATE_FORMAT(@wide + INTERVAL 1 DAY, '%d') FROM (SELECT @wide := DATE '2026-01-01') q", "02"},
		{"SELECT @k := 0", "0"},
		{"SELECT a FROM q WHERE (@k := @k + 1) = 2", "2"},
		{"SELECT SUM(a) FROM q WHERE (@k := @k + 1) > 4", "5"},
		{"SELECT IF(@was = a DIV 2, @row := @row + 1, @row := 1) + 0 * (@was := a DIV 2) FROM q, " +
			"(SELECT @was := 9, @row := 0) start", "1 1 2"},
	} {
		if got := wordsOf(t, c, s.statement); got != s.want {
			t.Errorf("%s: %s, want %s", s.statement, got, s.want)
		}
	}
}

// TestIntervalAsAFunctionFindsTheFirstGreaterNumber, and INTERVAL with a unit stays what it is.
func TestIntervalAsAFunctionFindsTheFirstGreaterNumber(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	for statement, want := range map[string]string{
		"SELECT INTERVAL(23, 1, 15, 17, 30, 44, 200)": "3",
		"SELECT INTERVAL(10, 1, 10, 100, 1000)":       "2",
		"SELECT INTERVAL(22, 23, 30, 44, 200)":        "0",
		"SELECT INTERVAL(NULL, 1)":                    "-1",
		"SELECT INTERVAL(2, NULL, 1, 3)":              "2",
		"SELECT INTERVAL('2.5', 2, 3)":                "1",
		"SELECT INTERVAL(9007199254740993, 9007199254740992, 9007199254740993, 9007199254740994)": "2",
		"SELECT INTERVAL(INTERVAL(5, 1, 2), 2, 3)":                                                "1",
		"SELECT CAST(DATE '2026-01-01' + INTERVAL (1) DAY AS CHAR)":                               "2026-01-02",
	} {
		if got := wordsOf(t, c, statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}

// TestNthValueAndCumeDistLookAtTheirFrames: NTH_VALUE at that of each row, CUME_DIST at all rows that are not behind
// it, whatever frame its window has.
func TestNthValueAndCumeDistLookAtTheirFrames(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE q (a int, b varchar(9)) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO q VALUES (1,'x'), (2,'x'), (3,'y'), (3,'y'), (5,'z')")
	whole := "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
	for statement, want := range map[string]string{
		"SELECT COALESCE(NTH_VALUE(a, 2) OVER (ORDER BY a), 'none') FROM q":                       "none 2 2 2 2",
		"SELECT NTH_VALUE(a, 2) OVER () FROM q":                                                   "2 2 2 2 2",
		"SELECT NTH_VALUE(a, 3) OVER (ORDER BY a " + whole + ") FROM q":                           "3 3 3 3 3",
		"SELECT IFNULL(NTH_VALUE(a, 2) OVER (PARTITION BY b ORDER BY a " + whole + "), 0) FROM q": "2 2 3 3 0",
		"SELECT NTH_VALUE(b, 1) OVER w FROM q WINDOW w AS (ORDER BY a DESC)":                      "z z z z z",
		"SELECT CUME_DIST() OVER (ORDER BY a) FROM q":                                             "0.2 0.4 0.8 0.8 1",
		"SELECT CUME_DIST() OVER (PARTITION BY b ORDER BY a) FROM q":                              "0.5 1 1 1 1",
		"SELECT cume_dist() OVER w FROM q WINDOW w AS ()":                                         "1 1 1 1 1",
		"SELECT CUME_DIST() OVER (ORDER BY a ROWS CURRENT ROW) FROM q":                            "0.2 0.4 0.8 0.8 1",
	} {
		if got := wordsOf(t, c, statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
	if number, _ := ask(t, c, "SELECT NTH_VALUE(a, 0) OVER (ORDER BY a) FROM q"); number != 1210 {
		t.Errorf("the value of row 0: error %d", number)
	}
}

// TestColumnsAreNamedAsTheyWereWritten, also where the parser was given something else, and prepared.
func TestColumnsAreNamedAsTheyWereWritten(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE q (a int) ENGINE=QUEUE")
	for _, column := range []string{"@v := 1", "@v:=@w  := 2", "INTERVAL (1, 2)", "1 > ALL (SELECT a FROM q)",
		"~a", "5 & ~ (a)", "NTH_VALUE(a, 1) OVER (ORDER BY a)", "CUME_DIST() OVER ()"} {
		for where, args := range map[string][]any{"": nil, " WHERE a = ?": {1}} { // as text, and prepared
			statement := "SELECT " + column + " FROM q" + where
			rows, err := c.QueryContext(t.Context(), statement, args...)
			if err != nil {
				t.Errorf("%s: %v", statement, err)
				continue
			}
			names, err := rows.Columns()
			rows.Close()
			if got := strings.Join(names, "|"); err != nil || got != column {
				t.Errorf("%s: the column is called %s, %v", statement, got, err)
			}
		}
	}
}
