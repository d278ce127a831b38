package bounds

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

func code(err error) int {
	var e *vmysql.SQLError
	if errors.As(err, &e) {
		return e.Num
	}
	return 0
}

// TestWhatIsTooMuchIsRefused has each thing one time as often as is allowed, and once more.
func TestWhatIsTooMuchIsRefused(t *testing.T) {
	l := Limits{Depth: 40, Tokens: 1000, Tables: 5, Selects: 4, Columns: 9, Cast: 100}
	many := strings.Repeat
	for _, c := range []struct {
		name, fits, beyond string
		want               int
	}{
		{"sum", "SELECT 1" + many("+1", 38), "SELECT 1" + many("+1", 50), erStackOverrun},
		{"not", "SELECT " + many("not ", 38) + "1", "SELECT " + many("not ", 50) + "1", erStackOverrun},
		{"minus", "SELECT " + many("- ", 38) + "1", "SELECT " + many("- ", 50) + "1", erStackOverrun},
		{"or", "SELECT 1 FROM t WHERE a" + many(" or a", 30), "SELECT 1 FROM t WHERE a" + many(" or a", 50),
			erStackOverrun},
		{"compare", "SELECT a" + many(" = a", 38), "SELECT a" + many(" = a", 50), erStackOverrun},
		{"is null", "SELECT a" + many(" is null", 15), "SELECT a" + many(" is null", 50), erStackOverrun},
		{"from in a function", "SELECT 1" + many(", extract(day from x)", 8),
			"SELECT " + many("extract(day from ", 30) + "1" + many(")", 30), erStackOverrun},
		{"collate", "SELECT a" + many(" collate x", 30), "SELECT a" + many(" collate x", 50), erStackOverrun},
		{"arrow", "SELECT a" + many(" -> '$'", 30), "SELECT a" + many(" -> '$'", 50), erStackOverrun},
		{"case", "SELECT case" + many(" when 1 then 2", 15) + " end",
			"SELECT case" + many(" when 1 then 2", 50) + " end", erStackOverrun},
		{"parentheses", "SELECT " + many("(", 38) + "1" + many(")", 38),
			"SELECT " + many("(", 50) + "1" + many(")", 50), erStackOverrun},
		{"lists within lists", "SELECT " + many("f(1, ", 30) + "1" + many(")", 30),
			"SELECT " + many("f(1, ", 50) + "1" + many(")", 50), erStackOverrun},
		{"in a comment", "SELECT 1 /*" + many("+1", 50) + "*/", "SELECT 1 /*!40101 " + many("+1", 50) + "*/",
			erStackOverrun},
		{"rows", "INSERT INTO t VALUES (1+1)" + many(",(1+1)", 100), "INSERT INTO t VALUES (1)" + many(",(1)", 300),
			erCapacity},
		{"in", "SELECT a IN (1" + many(",1", 400) + ")", "SELECT a IN (1" + many(",1", 600) + ")", erCapacity},
		{"tables", "SELECT 1 FROM a,b,c,d,e", "SELECT 1 FROM a,b,c,d,e,f", erTooManyTables},
		{"joins", "SELECT 1 FROM a JOIN b ON a.x=b.y JOIN c JOIN d, e",
			"SELECT 1 FROM a JOIN b JOIN c JOIN d JOIN e JOIN f", erTooManyTables},
		{"tables of subqueries", "SELECT 1 FROM a,b WHERE x IN (SELECT 1 FROM c,d)", "SELECT 1 FROM a,b,(SELECT 1 " +
			"FROM c) x WHERE x IN (SELECT 1 FROM d, e)", erTooManyTables},
		{"tables of a union", "SELECT 1 FROM a,b,c,d UNION SELECT 1 FROM a,b,c,d",
			"SELECT 1 FROM a,b UNION SELECT 1 FROM a,b,c,d,e,f", erTooManyTables},
		{"selects", "SELECT 1" + many(" UNION SELECT 1", 3), "SELECT 1" + many(" UNION SELECT 1", 4), erNestedSelects},
		{"casts", "SELECT CAST(1 AS BINARY(60)), CAST(1 AS BINARY(40))",
			"SELECT CAST(1 AS BINARY(60)), CAST(1 AS BINARY(60))", erCapacity},
		{"a cast", "SELECT CAST(1 AS BINARY)", "SELECT CAST(1 AS BINARY(99999999999999999999))", erCapacity},
		{"columns", "SELECT 1" + many(",1", 8), "SELECT 1" + many(",1", 9), erTooManyFields},
	} {
		if err := Check(c.fits, l); err != nil {
			t.Errorf("%s: what fits: %v", c.name, err)
		}
		if err := Check(c.beyond, l); code(err) != c.want {
			t.Errorf("%s: what does not fit: %v, want error %d", c.name, err, c.want)
		}
	}
}

// TestQuotesHideNothing: a mode of the connection decides what a double quote begins.
func TestQuotesHideNothing(t *testing.T) {
	chain := strings.Repeat("+1", 3000)
	if err := Check(`SELECT "a\"`+chain+`, "b"`, Default); code(err) != erStackOverrun {
		t.Errorf("behind what is an identifier in the mode ANSI_QUOTES: %v", err)
	}
	if err := Check(`SELECT '`+chain+`'`, Default); err != nil {
		t.Errorf("in a string: %v", err)
	}
}

// TestOnlyTheFirstStatementCounts: each of several is looked at when it is its turn.
func TestOnlyTheFirstStatementCounts(t *testing.T) {
	if err := Check("SELECT 1; SELECT 1"+strings.Repeat("+1", 3000), Default); err != nil {
		t.Error(err)
	}
}

// TestWhatIsEvaluatedTwiceIsBoundedWithinItself: beside each other there may be as many as there is room for.
func TestWhatIsEvaluatedTwiceIsBoundedWithinItself(t *testing.T) {
	nested := func(n int, before, after string) string {
		return "SELECT " + strings.Repeat(before, n) + "a" + strings.Repeat(after, n)
	}
	for name, c := range map[string]struct {
		before, after string
		most          int
	}{
		"nullif":                   {"nullif(", ",2)", 10},
		"NULLIF with a space":      {"NULLIF (", ", 2)", 10},
		"between":                  {"((", ") BETWEEN 1 AND 2)", 10},
		"not between":              {"(1+(", ") NOT BETWEEN 1 AND 2)", 10},
		"case with three WHENs":    {"CASE (", ") WHEN 1 THEN 2 WHEN 3 THEN 4 WHEN 5 THEN 6 END", 5},
		"case, bare":               {"CASE ", " WHEN 1 THEN 2 WHEN 3 THEN 4 END", 10},
		"a mixture":                {"nullif(CASE (", ") WHEN 1 THEN 2 WHEN 3 THEN 4 END BETWEEN 1 AND 2, 3)", 3},
		"the upper end of between": {"(1 BETWEEN 0 AND ", ")", 400},
		"case without an operand":  {"CASE WHEN (", ") THEN 1 ELSE 2 END", 200},
		"the values of a case":     {"CASE a WHEN 1 THEN (", ") END", 200},
	} {
		if err := Check(nested(c.most, c.before, c.after), Default); err != nil {
			t.Errorf("%s, %d: %v", name, c.most, err)
		}
		if err := Check(nested(c.most+1, c.before, c.after), Default); c.most <= 10 && code(err) != erStackOverrun {
			t.Errorf("%s, %d: %v", name, c.most+1, err)
		}
	}
	beside := "SELECT * FROM t WHERE " + strings.Repeat("a BETWEEN 1 AND 2 AND nullif(a, 3) AND ", 100) + "CASE a" +
		strings.Repeat(" WHEN 1 THEN 2", 500) + " END"
	if err := Check(beside, Default); err != nil {
		t.Errorf("beside each other: %v", err)
	}
}

// FuzzDepth holds what Check counts against the tree of the parser: no tree is deeper than what was let through.
func FuzzDepth(f *testing.F) {
	for _, s := range []string{
		"SELECT 1+1+1", "select not not 1", "SELECT a IS NULL IS NULL, b FROM t JOIN u ON x AND y WHERE a OR b",
		"select case when 1 then 2 else 3 end",
		"SELECT 1 UNION SELECT 2 UNION ALL SELECT 3 ORDER BY 1", "INSERT INTO t VALUES (1,2),(3,4)",
		"SELECT a BETWEEN 1 AND 2 AND 3, f(g(h(1)))",
		"SELECT /*! 1 + */ 1", `SELECT "a\"+1+1, "b"`, "SELECT a->'$.b'->'$.c', x COLLATE utf8mb4_bin",
		"WITH RECURSIVE c AS (SELECT 1) SELECT * FROM c",
		"SELECT INTERVAL 1 DAY + INTERVAL 1 DAY + now()", "CREATE TABLE t (a int default (1+1+1))",
		"SELECT a, ~ ~ ~b, - - -c, !!d, binary binary x",
	} {
		f.Add(s)
	}
	const limit = 30
	f.Fuzz(func(t *testing.T, query string) {
		if len(query) > 4096 ||
			Check(query, Limits{Depth: limit, Tokens: 1 << 20, Tables: 1 << 20, Selects: 1 << 20, Columns: 1 << 20,
				Cast: 1 << 20}) != nil {
			return
		}
		st, err := parsed(t, query)
		if err != nil || st == nil {
			return
		}
		selects := strings.Count(strings.ToLower(query), "select") + strings.Count(strings.ToLower(query), "join") + 1
		// A node of the grammar has at most some nodes between it and the token that made it; SELECTs and JOINs have
		// bounds of their own.
		if d := depth(st); d > 8*(limit+2)+8*selects {
			t.Errorf("a tree %d deep was let through: %q", d, query)
		}
	})
}

// parsed is the tree of a statement. A panic of the parser is not what is looked for here: the door answers it with an
// error.
func parsed(t *testing.T, query string) (st sqlparser.Statement, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	st, _, err = sqlparser.ParseOne(t.Context(), query)
	return st, err
}

// depth is how deep a tree is.
func depth(n sqlparser.SQLNode) (deepest int) {
	var walk func(sqlparser.SQLNode, int)
	walk = func(n sqlparser.SQLNode, d int) {
		deepest = max(deepest, d)
		itself := true // Walk begins with the node itself
		_ = sqlparser.Walk(func(child sqlparser.SQLNode) (bool, error) {
			if itself {
				itself = false
				return true, nil
			}
			walk(child, d+1)
			return false, nil
		}, n)
	}
	if n != nil {
		walk(n, 0)
	}
	return deepest
}
