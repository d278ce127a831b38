package mysql

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// wild makes statements that want too much.
type wild struct {
	random *rand.Rand
	depth  int
	made   int // about how many bytes
}

// longStatement is when a statement is brought to an end: longer ones would test the generator.
const longStatement = 8 << 10

func (g *wild) one(n int) int { return g.random.IntN(n) }

func (g *wild) pick(of ...string) string { return of[g.one(len(of))] }

// list is one to n of something.
func (g *wild) list(n int, between string, of func() string) string {
	parts := make([]string, 1+g.one(n))
	for i := range parts {
		parts[i] = of()
	}
	return strings.Join(parts, between)
}

func (g *wild) statement() string {
	switch g.one(24) {
	case 0:
		return "SET @" + g.pick("v", "w", "x") + " = " + g.expression()
	case 1:
		return "INSERT INTO a VALUES " + g.list(5, ", ",
			func() string { return "(" + g.pick("1", "2", g.expression()) + ", " + g.expression() + ")" })
	case 2:
		return g.pick("SHOW TABLES", "SHOW STATUS", "SHOW VARIABLES LIKE "+g.expression(), "DESCRIBE a",
			"EXPLAIN "+g.choose(), "SHOW WARNINGS", "SHOW CREATE TABLE b", "DELETE FROM a WHERE "+g.expression(),
			"SHOW COLUMNS FROM a WHERE "+g.expression(), "BEGIN", "ROLLBACK", "DO "+g.expression(), "SET sql_mode = ''",
			"SET sql_mode = 'ANSI_QUOTES'")
	case 3:
		return "PREPARE p FROM " + g.pick("'SELECT 1+?'", "'"+strings.ReplaceAll(g.choose(), "'", "''")+"'") +
			g.pick("", "; EXECUTE p USING @v", "; EXECUTE p")
	case 4:
		return "SELECT " + g.chain()
	case 5:
		return "WITH RECURSIVE r AS (SELECT " + g.pick("1", "'x'", g.expression()) + " n UNION " + g.pick("ALL ", "") +
			"SELECT " + g.pick("n+1", "concat(n,n)", "n", g.expression()) + " FROM r" +
			g.pick("", " WHERE n < 1000000", " WHERE "+g.expression(), ", a") + ") SELECT " + g.pick("*", "count(*)",
			"max(n)") + " FROM r" + g.pick("", ", a", " LIMIT 5")
	}
	return g.choose()
}

// chain is as deep as it is long.
func (g *wild) chain() string {
	n := 1 << g.one(14)
	switch g.one(8) {
	case 0:
		return strings.Repeat(g.pick("(", "not ", "- ", "~ ", "!", "abs(", "(select ", "case when ", "if(1,1,",
			"binary "), n) + "1"
	case 1:
		return "1 IN (" + strings.Repeat(g.pick("1,", "'x',", "(select 1),", "1+1,"), n) + "1)"
	case 2:
		return "1 UNION SELECT " +
			strings.Repeat(g.pick("1 UNION SELECT ", "1 UNION ALL SELECT ", "1 INTERSECT SELECT ", "1, "), n) + "1"
	case 3:
		f := g.pick("concat(", "coalesce(", "greatest(", "json_array(", "nullif(", "md5(", "repeat(")
		n = min(n, 3000)
		return strings.Repeat(f, n) + "'x'" + strings.Repeat(g.pick(",'y')", ",2)", ")"), n)
	case 4:
		return "'" + strings.Repeat(g.pick("(", "[", "{", "a*", "%", "$."), n) + "' " + g.pick("REGEXP '", "LIKE '",
			"RLIKE '", "-> '", "->> '") + strings.Repeat(g.pick("(", "[", "(a*)*", "%_", ".*", "$[", "a{900}"),
			min(n, 2000)) + "'"
	}
	return "1" + strings.Repeat(g.pick("+1", "*2", " or 1", " and 1", " xor 0", "=1", " is null",
		" collate utf8mb4_bin", " div 1", " between 1 and 2", "||1", " like 1", "<<1", " -> '$'", " regexp 1"), n)
}

// choose is a SELECT.
func (g *wild) choose() string {
	if g.depth++; g.depth > 4 {
		g.depth--
		return "SELECT 1"
	}
	defer func() { g.depth-- }()
	s := "SELECT " + g.pick("", "", "DISTINCT ")
	if from := g.one(3) > 0; from && g.one(5) == 0 {
		s += "* FROM " + g.tables()
	} else if s += g.list(4, ", ", func() string { return g.value() }); from {
		s += " FROM " + g.tables()
	}
	s += g.pick("", "", " WHERE "+g.expression()) + g.pick("", "", " GROUP BY "+g.pick("1", "i", g.expression()),
		" GROUP BY 1 HAVING "+g.expression(), " GROUP BY i, "+g.expression()+" WITH ROLLUP") +
		g.pick("", "", " ORDER BY "+g.pick("1", "rand()", g.expression())) + g.pick("", "", " LIMIT 3",
		" LIMIT 1000000 OFFSET 2")
	if g.one(6) == 0 {
		s = "(" + s + ")" + g.pick(" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT ") + "(" + g.choose() + ")"
	}
	return s
}

// value is what a SELECT may answer with.
func (g *wild) value() string {
	switch g.one(4) {
	case 0:
		return "1"
	case 1:
		return g.aggregate()
	}
	return g.expression()
}

// tables are one to three that are joined.
func (g *wild) tables() string {
	s := g.table()
	for range g.one(3) {
		switch g.one(3) {
		case 0:
			s += ", " + g.table()
		case 1:
			s += " CROSS JOIN " + g.table()
		default:
			s += " LEFT JOIN " + g.table() + " ON " + g.pick("1", "1", g.expression())
		}
	}
	return s
}

func (g *wild) table() string {
	name := fmt.Sprintf("t%d", g.one(1000))
	switch g.one(8) {
	case 0:
		return "a"
	case 1:
		return "b"
	case 2, 3:
		return "(" + g.choose() + ") " + name
	case 4:
		return "JSON_TABLE('[" + strings.Repeat("1,", g.one(200)) + "1]', '$[*]' COLUMNS(" + name + " int path '$')) " +
			name
	case 5:
		return "information_schema." + g.pick("columns", "tables", "processlist", "schemata", "collations",
			"character_sets")
	}
	return "(SELECT 1 i" + strings.Repeat(g.pick(" UNION ALL SELECT 2", " UNION SELECT rand()"), g.one(60)) + ") " +
		name
}

func (g *wild) aggregate() string {
	over := g.pick(" OVER ()", " OVER (PARTITION BY 1 ORDER BY 1)")
	if g.one(5) == 0 {
		return g.pick("first_value("+g.expression(), "last_value("+g.expression(), "sum("+g.expression(),
			"count("+g.expression(), "max("+g.expression(), "nth_value("+g.expression()+", 2", "cume_dist(") + ")" +
			over
	}
	return g.pick("count(", "sum(", "group_concat(", "json_arrayagg(", "max(", "avg(", "std(", "group_concat(DISTINCT ",
		"count(DISTINCT ", "bit_xor(", "any_value(", "grouping(") + g.expression() + ")"
}

// everyFunction is all that go-mysql-server has.
var everyFunction = func() (names []string) {
	for _, f := range function.BuiltIns {
		switch name := f.FunctionName(); name {
		case "sleep", "get_lock", "benchmark": // these wait, as they are asked to; the statement's time ends them
		default:
			names = append(names, name)
		}
	}
	return names
}()

// makers are those that make much of little.
var makers = []string{"repeat", "space", "lpad", "rpad", "concat", "concat_ws", "replace", "insert", "hex",
	"regexp_replace", "json_array", "json_object", "export_set", "format", "to_base64", "elt", "quote",
	"compress", "uncompress", "random_bytes", "json_set", "json_merge_preserve", "date_format", "round", "substring",
	"regexp_substr", "conv", "char", "weight_string"}

func (g *wild) expression() string {
	if g.depth++; g.depth > 7 || g.made > longStatement {
		g.depth--
		return g.literal()
	}
	defer func() { g.depth-- }()
	switch g.one(12) {
	case 0, 1:
		return g.literal()
	case 2, 3, 4:
		return g.pick(makers...) + "(" + g.list(4, ", ", g.expression) + ")"
	case 5, 6:
		return g.pick(everyFunction...) + "(" + g.list(4, ", ", g.expression) + ")"
	case 7:
		return "(" + g.expression() + g.pick("+", "-", "*", "/", " div ", " mod ", "=", "<", " like ", " regexp ",
			" and ", " or ", " is not null and ", "<<", "|", "<=>") + g.expression() + ")"
	case 8:
		return "CAST(" + g.expression() + " AS " + g.pick("char", "binary", "signed", "decimal(65,30)", "json",
			"datetime", "binary(1000000)", "char(100000000)", "unsigned", "time", "year") + ")"
	case 9:
		return "(" + g.choose() + ")"
	case 10:
		return g.pick("CASE "+g.expression()+" WHEN 1 THEN "+g.expression()+" END", "EXISTS ("+g.choose()+")",
			g.expression()+" IN ("+g.list(5, ",", g.expression)+")", "(now() + INTERVAL "+g.expression()+" DAY)",
			"@v", "(NOT "+g.expression()+")", "(- "+g.expression()+")", "(BINARY "+g.expression()+")",
			"("+g.choose()+") IN ("+g.choose()+")", "(@v := "+g.expression()+")",
			"INTERVAL("+g.expression()+", "+g.list(4, ", ", g.expression)+", 1)",
			"("+g.expression()+g.pick(" > ALL (", " <= SOME (", " <> ANY (", " = ALL (")+g.choose()+"))")
	}
	return g.pick("i", "s", "u", "t", "j", "n", "a.i", "b.j")
}

func (g *wild) literal() string {
	s := g.pick("1", "0", "-1", "2", "100", "100000", "2000000000", "9223372036854775807", "18446744073709551615",
		"1e308", "0.5", "'x'", "'飛脚'", "''", "NULL", "'%'", `'{"a":[1,{"b":2}]}'`, "'$.a'", "'[1,2,3]'", "x'00ff'",
		"true",
		"'2026-01-02 03:04:05'", "'(a+)+$'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'", "'utf8mb4'", "'a'", "@v", "@w",
		"@x", "'"+strings.Repeat(g.pick("a", "'' ", "<a>", "(", "1,", "0"), g.one(300))+"'",
		strings.Repeat("9", 1+g.one(70)), "'%W %M %Y'", "'-'", "99999999999999999999999.5")
	g.made += len(s) + 8
	return s
}
