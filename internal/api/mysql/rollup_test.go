package mysql

import "testing"

// TestARollupSumsUpTheGroups in their order, each behind those that it sums up, with NULL for what it is not told
// apart by: columns, expressions, other names, and what is made of them.
func TestARollupSumsUpTheGroups(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE q (a varchar(9), b varchar(9), n int, d date) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO q VALUES ('x','k',1,'2026-01-31'), ('x','l',2,'2026-02-01'), ('w','k',3,'2025-02-01'), "+
		"('w','k',4,'2025-02-02'), (NULL,'m',5,NULL)")
	const shown = "CONCAT_WS('/', IFNULL(a, '-'), IFNULL(b, '-'), SUM(n))"
	for statement, want := range map[string]string{
		"SELECT CONCAT(IFNULL(a, '-'), SUM(n)) FROM q GROUP BY a WITH ROLLUP": "-5 w7 x3 -15",
		"SELECT " + shown + " FROM q GROUP BY a, b WITH ROLLUP": "-/m/5 -/-/5 w/k/7 w/-/7 x/k/1 x/l/2 x/-/3 " +
			"-/-/15",
		"SELECT CONCAT(GROUPING(a), GROUPING(b), GROUPING(a, b)) FROM q GROUP BY a, b WITH ROLLUP": "000 011 000 011 " +
			"000 000 011 113",
		"SELECT IF(GROUPING(a), 'all', IFNULL(a, '-')) FROM q GROUP BY a WITH ROLLUP":                   "- w x all",
		"SELECT COUNT(*) FROM q GROUP BY a WITH ROLLUP HAVING GROUPING(a) = 1":                          "5",
		"SELECT COUNT(*) c FROM q GROUP BY a WITH ROLLUP HAVING c > 1":                                  "2 2 5",
		"SELECT IFNULL(a, '-') FROM q GROUP BY a WITH ROLLUP ORDER BY GROUPING(a) DESC, a DESC LIMIT 3": "- x w",
		"SELECT CONCAT_WS('/', IFNULL(YEAR(d), '-'), IFNULL(MONTH(d), '-'), COUNT(*)) FROM q WHERE n < 5 " +
			"GROUP BY YEAR(d), MONTH(d) WITH ROLLUP": "2025/2/2 2025/-/2 2026/1/1 2026/2/1 2026/-/2 -/-/4",
		"SELECT IFNULL(y, '-') FROM (SELECT YEAR(d) y, n % 2 FROM q WHERE n < 5 GROUP BY y, n % 2 WITH ROLLUP) t": "" +
			"2025 2025 2025 2026 2026 2026 -",
		"SELECT IFNULL(n + 1, '-') FROM q GROUP BY n + 1 WITH ROLLUP HAVING SUM(n) > 4 ORDER BY SUM(n)": "6 -",
		"SELECT COUNT(DISTINCT b) FROM q GROUP BY a WITH ROLLUP":                                        "1 1 2 3",
		"SELECT CONCAT(IFNULL(a, '-'), MAX(n)) FROM q GROUP BY 1 = 1, a WITH ROLLUP":                    "-5 w4 x2 -5 -5",
		"SELECT DISTINCT IFNULL(a, '-') FROM q GROUP BY a WITH ROLLUP":                                  "- w x",
		"SELECT IFNULL(p.a, '-') FROM q p JOIN q r ON p.n = r.n GROUP BY p.a WITH ROLLUP":               "- w x -",
		"SELECT SUM(n) FROM q GROUP BY a WITH ROLLUP UNION ALL SELECT SUM(n) FROM q GROUP BY n * 0 WITH ROLLUP": "5 7 3 15 " +
			"15 15",
		"SELECT a FROM q WHERE n > 9 GROUP BY a WITH ROLLUP":                                             "",
		"SELECT (SELECT IFNULL(SUM(n), 0) FROM q GROUP BY n % 2 WITH ROLLUP LIMIT 1) FROM q WHERE n = 1": "6",
	} {
		if got := wordsOf(t, c, statement); got != want {
			t.Errorf("%s:\n got %s\nwant %s", statement, got, want)
		}
	}
	for statement, want := range map[string]int{
		"SELECT GROUPING(a) FROM q GROUP BY a": 1111, "SELECT GROUPING(n) FROM q GROUP BY a WITH ROLLUP": 3602,
	} {
		if number, _ := ask(t, c, statement); number != want {
			t.Errorf("%s: error %d, want %d", statement, number, want)
		}
	}
	exec(t, c, "INSERT INTO q (a, n) SELECT 'sum', SUM(n) FROM q GROUP BY n % 2 WITH ROLLUP")
	if got := wordsOf(t, c, "SELECT n FROM q WHERE a = 'sum'"); got != "6 9 15" {
		t.Errorf("%s was inserted", got)
	}
}

// TestARollupKeepsNoMoreThanAStatementMay: each row is in a group of every level.
func TestARollupKeepsNoMoreThanAStatementMay(t *testing.T) {
	r := newRig(t, Config{StatementBytes: 1 << 20}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE q (a int) ENGINE=QUEUE")
	const rows = "WITH RECURSIVE r AS (SELECT 1 a UNION ALL SELECT a + 1 FROM r WHERE a < 900) "
	if number, text := ask(t, c, rows+"SELECT COUNT(*) FROM (SELECT a FROM r GROUP BY a, a + 1, a + 2, a + 3, a + 4, "+
		"a + 5 WITH ROLLUP) t"); number != 3170 {
		t.Errorf("error %d: %s", number, text)
	}
	one(t, c, int64(901), rows+"SELECT COUNT(*) FROM (SELECT a FROM r GROUP BY a WITH ROLLUP) t")
}
