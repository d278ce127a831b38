package spelling

import "testing"

// TestWhatTheParserHasNoWordForIsCalledByAName and is shown to the client as it was written.
func TestWhatTheParserHasNoWordForIsCalledByAName(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT INTERVAL(23, 1, 15), interval (a, b)":        "SELECT `INTERVAL`(23, 1, 15), `interval` (a, b)",
		"SELECT a + INTERVAL (1) DAY, INTERVAL(f(1, 2)) DAY": "",
		"SELECT INTERVAL(INTERVAL(1, 2), 3)":                 "SELECT `INTERVAL`(`INTERVAL`(1, 2), 3)",
		"SELECT a > ALL (SELECT b), c":                       "SELECT a > `ALL`( (SELECT b)), c",
		"SELECT a >= any(select (b)) AND x":                  "SELECT a >= `any`((select (b))) AND x",
		"SELECT a = ALL (SELECT 1), a <> ANY (SELECT 1)":     "SELECT a = `ALL`( (SELECT 1)), a <> `ANY`( (SELECT 1))",
		"SELECT a != SOME (SELECT b > ALL (TABLE c))":        "SELECT a != `SOME`( (SELECT b > `ALL`( (TABLE c))))",
		"SELECT a <=> ALL (SELECT 1), a > ALL (b), all(1)":   "",
		"SELECT a, SUM(b) FROM c GROUP BY a WITH ROLLUP":     "SELECT a, SUM(b) FROM c GROUP BY a , `ROLLUP`()",
		"WITH a AS (SELECT 1) SELECT grouping (a), b.grouping": "WITH a AS (SELECT 1) SELECT `grouping` (a), " +
			"b.grouping",
		"SELECT ~a & ~ (b), - ~a, '~' /* ~ */": "SELECT `~`() ^ a & `~`() ^  (b), - ~a, '~' /* ~ */",
		"SELECT NTH_VALUE(a, (2)) OVER w, cume_dist() over (order by a)": "SELECT LAG(`NTH_VALUE`(a, (2))) OVER w, " +
			"LAG(`cume_dist`()) over (order by a)",
		"SELECT @a := 1":                                   "SELECT `:=`(@a , 1)",
		"SELECT @a:=@a+1 AS x, b FROM c":                   "SELECT `:=`(@a,@a+1) AS x, b FROM c",
		"SELECT @a := @b := c OR d x, e":                   "SELECT `:=`(@a , `:=`(@b , c OR d)) x, e",
		"SELECT (@`a b` := 1) + 1, (@'a' := f(1, 2))":      "SELECT (`:=`(@`a b` , 1)) + 1, (`:=`(@'a' , f(1, 2)))",
		"SELECT IF(@a := b, @c := 'x' 'y', 0) FROM d":      "SELECT IF(`:=`(@a , b), `:=`(@c , 'x' 'y'), 0) FROM d",
		"SELECT @a := CASE b WHEN 1 THEN c ELSE d END `x`": "SELECT `:=`(@a , CASE b WHEN 1 THEN c ELSE d END) `x`",
		"SELECT CASE WHEN @a := b THEN @c := 1 ELSE @d := 2 END": "SELECT CASE WHEN `:=`(@a , b) THEN `:=`(@c , 1) " +
			"ELSE `:=`(@d , 2) END",
		"SELECT @a := b + INTERVAL 1 DAY c":                       "SELECT `:=`(@a , b + INTERVAL 1 DAY) c",
		"SELECT @a := INTERVAL(1, 2) c":                           "SELECT `:=`(@a , `INTERVAL`(1, 2)) c",
		"SELECT @a := DATE '2024-01-01', @b := x'41' c":           "SELECT `:=`(@a , CAST('2024-01-01' AS DATE)), `:=`(@b , x'41') c",
		"SELECT @a := b IS NOT NULL c, @a := SUM(b) OVER () d":    "SELECT `:=`(@a , b IS NOT NULL) c, `:=`(@a , SUM(b) OVER ()) d",
		"SELECT @a := a.`b` c FROM (SELECT @a := 0) r ORDER BY 1": "SELECT `:=`(@a , a.`b`) c FROM (SELECT `:=`(@a , 0)) r ORDER BY 1",
		"SELECT a FROM b LEFT JOIN c ON @a := 1 LEFT JOIN d": "SELECT a FROM b LEFT JOIN c ON `:=`(@a , 1) " +
			"LEFT JOIN d",
		"SELECT @a := LEFT(b, 1) /* x */; SELECT @a := 2 -- y": "SELECT `:=`(@a , LEFT(b, 1)) /* x */; SELECT `:=`(@a , 2) -- y",
		"SET @a := 1, @b := 2":                                 "",
		"SET @a := 1; SELECT @b := 2":                          "SET @a := 1; SELECT `:=`(@b , 2)",
		"SET @a := (SELECT @b := 1)":                           "SET @a := (SELECT `:=`(@b , 1))",
		"SELECT @a, @@b, @a = 1, '@a := 1', @ a":               "",
	} {
		if want == "" {
			want = query
		}
		got := Rewrite(query, true)
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
		if again := Rewrite(got, true); again != got {
			t.Errorf("%s is written again as %s", got, again)
		}
	}
	for _, column := range []string{
		"INTERVAL(23, 1, interval (a, b))", "a > ALL (SELECT b) AND c = all(select (1))", "GROUPING(a, b)",
		"NTH_VALUE(a, (2)) OVER (PARTITION BY `x`)", "1 + cume_dist() OVER w", "a & ~b + ~ (c)",
		"@a := 1", "@a:=@b := f(1, 2), 3",
		"(@`a b` := '`:=`(') + 1", "`a`", "LAG(`a`)", "`a", "it's `all`",
		"(SELECT a FROM b GROUP BY a, c WITH rollup LIMIT 1)",
	} {
		if got := Shown(Rewrite(column, true)); got != column {
			t.Errorf("%s is shown as %s", column, got)
		}
	}
}
