package mysql

import (
	"database/sql"
	"strings"
	"testing"
)

// TestANamedWindowIsThatWindow: with an order it ends at each row, as the same window does where it is written out.
func TestANamedWindowIsThatWindow(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE m (a int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO m VALUES (1), (2), (2), (3)")
	for statement, want := range map[string]string{
		"SELECT SUM(a) OVER w FROM m WINDOW w AS (ORDER BY a)":                                    "1 5 5 8",
		"SELECT SUM(a) OVER (w) FROM m WINDOW w AS (ORDER BY a)":                                  "1 5 5 8",
		"SELECT COUNT(*) OVER (w ORDER BY a) FROM m WINDOW w AS ()":                               "1 3 3 4",
		"SELECT LAST_VALUE(a) OVER w FROM m WINDOW w AS (ORDER BY a)":                             "1 2 2 3",
		"SELECT SUM(a) OVER w FROM m WINDOW v AS (PARTITION BY a), w AS (v ORDER BY a)":           "1 4 4 3",
		"SELECT SUM(a) OVER w FROM m WINDOW w AS (ORDER BY a ROWS UNBOUNDED PRECEDING)":           "1 3 5 8",
		"SELECT SUM(a) OVER w FROM m WINDOW w AS ()":                                              "8 8 8 8",
		"SELECT COUNT(*) OVER (ORDER BY a DIV 2, a) FROM m":                                       "1 3 3 4",
		"SELECT SUM(a * 1e0) OVER (ORDER BY a) FROM m":                                            "1 5 5 8",
		"SELECT SUM(a) OVER (PARTITION BY a DIV 2 ORDER BY a) FROM m":                             "1 4 4 7",
		"SELECT SUM(a) OVER (ORDER BY a) FROM m":                                                  "1 5 5 8",
		"SELECT SUM(a) OVER (ORDER BY a ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM m": "8 7 5 3",
		"SELECT MAX(a) OVER (ORDER BY a) FROM m":                                                  "1 2 2 3",
		"SELECT MAX(a) OVER () FROM m":                                                            "3 3 3 3",
		"SELECT MAX(-a) OVER (PARTITION BY a DIV 2 ORDER BY a) FROM m":                            "-1 -2 -2 -2",
		"SELECT MAX(a) OVER (ORDER BY a ROWS 1 PRECEDING) FROM m":                                 "1 2 2 3",
		"SELECT MIN(a) OVER (ORDER BY a) FROM m":                                                  "1 1 1 1",
		"SELECT MIN(a) OVER (ORDER BY a ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) FROM m":         "1 2 2 3",
		"SELECT MIN(NULLIF(a, 1)) OVER (ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) FROM m":         "  2 2",
		"SELECT MAX(IF(a = 2, 'b', 'A')) OVER (ORDER BY a DESC) FROM m":                           "b b b A",
		"SELECT VAR_POP(a) OVER () FROM m":                                                        "0.5 0.5 0.5 0.5",
		"SELECT VARIANCE(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM m":    "0 0.25 0 0.25",
		"SELECT VAR_SAMP(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM m":    " 0.5 0 0.5",
		"SELECT STD(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM m":         "0 0.5 0 0.5",
		"SELECT STDDEV_SAMP(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) FROM m": "   ",
		"SELECT JSON_ARRAYAGG(a) OVER () FROM m LIMIT 1":                                          "[1, 2, 2, 3]",
		"SELECT JSON_ARRAYAGG(a) OVER (ORDER BY a) FROM m LIMIT 2":                                "[1] [1, 2, 2]",
		"SELECT JSON_ARRAYAGG(a) OVER (ORDER BY a ROWS 1 PRECEDING) FROM m":                       "[1] [1, 2] [2, 2] [2, 3]",
	} {
		if got := wordsOf(t, c, statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}

// TestADistinctSelectionIsSortedByTheNumbersOfItsColumns, also by those of expressions.
func TestADistinctSelectionIsSortedByTheNumbersOfItsColumns(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE m (a int, s text) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO m VALUES (3, 'x'), (1, 'y'), (2, 'x'), (1, 'z')")
	for statement, want := range map[string]string{
		"SELECT DISTINCT a + 1 FROM m ORDER BY 1":                             "2 3 4",
		"SELECT DISTINCT a + 1 AS x FROM m ORDER BY 1 DESC":                   "4 3 2",
		"SELECT DISTINCT -a FROM m ORDER BY 1 LIMIT 2":                        "-3 -2",
		"SELECT DISTINCT COUNT(*) FROM m GROUP BY s ORDER BY 1":               "1 2",
		"SELECT DISTINCT SUM(a) OVER (PARTITION BY s) AS x FROM m ORDER BY 1": "1 5",
		"SELECT x FROM (SELECT DISTINCT -a AS x, s FROM m ORDER BY 2, 1) q":   "-3 -2 -1 -1",
		"SELECT DATE_FORMAT('2005-03-01', '%y%m %%y %Y')":                     "0503 %y 2005",
		"SELECT DATE_FORMAT('1999-03-01', CONCAT('%', 'y'))":                  "99",
	} {
		if got := wordsOf(t, c, statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}

// TestSumsOfSumsInWindowsAreExact, as they are without a window.
func TestSumsOfSumsInWindowsAreExact(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE m (a decimal(20,2), b decimal(22,4)) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO m VALUES (0.10, 0.2000), (9007199254740993.25, 0.0001)")
	const totals = "SELECT SUM(a) x FROM m GROUP BY b"
	for statement, want := range map[string]string{
		"SELECT SUM(x) OVER () FROM (" + totals + ") q":           "9007199254740993.35 9007199254740993.35",
		"SELECT SUM(x) OVER (ORDER BY x) FROM (" + totals + ") q": "0.10 9007199254740993.35",
		"SELECT AVG(x) OVER () FROM (" + totals + ") q":           "4503599627370496.675000 4503599627370496.675000",
		"SELECT SUM(y) FROM (SELECT SUM(a) OVER () y FROM m) q":   "18014398509481986.70",
		"WITH q AS (" + totals + ") SELECT MAX(x) OVER () FROM q": "9007199254740993.25 9007199254740993.25",
	} {
		if got := wordsOf(t, c, statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}

// wordsOf is what a statement answers, a word a row.
func wordsOf(t *testing.T, c *sql.Conn, statement string) string {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), statement)
	if err != nil {
		t.Errorf("%s: %v", statement, err)
		return ""
	}
	defer rows.Close()
	var words []string
	for rows.Next() {
		var v sql.NullString
		if err := rows.Scan(&v); err != nil {
			t.Error(err)
		}
		words = append(words, v.String)
	}
	if err := rows.Err(); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
	return strings.Join(words, " ")
}
