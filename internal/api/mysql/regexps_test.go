package mysql

import (
	"database/sql"
	"testing"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// TestRegularExpressionsAnswerAsMySQLDoes: places are those of characters, replacements have groups, and what is wrong
// has MySQL's number.
func TestRegularExpressionsAnswerAsMySQLDoes(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(3)
	c := r.connect("")
	for _, q := range []struct{ want, statement string }{
		{"2", "SELECT REGEXP_INSTR('飛脚b', '脚')"},
		{"3", "SELECT REGEXP_INSTR('飛脚b', 'b', 2)"},
		{"4", "SELECT REGEXP_INSTR('飛脚b', 'b', 2, 1, 1)"},
		{"9", "SELECT REGEXP_INSTR('dog cat dog', 'dog', 2)"},
		{"5", "SELECT REGEXP_INSTR('aa aaa aaaa', 'a{2}', 1, 2) + 1"},
		{"8", "SELECT REGEXP_INSTR('aa aaa aaaa', 'a{4}')"},
		{"0", "SELECT REGEXP_INSTR('aa', 'b')"},
		{"ghi", "SELECT REGEXP_SUBSTR('abc def ghi', '[a-z]+', 1, 3)"},
		{"", "SELECT REGEXP_SUBSTR('abc', '[a-z]+', 1, 2)"},
		{"a X c", "SELECT REGEXP_REPLACE('a b c', 'b', 'X')"},
		{"abc def X", "SELECT REGEXP_REPLACE('abc def ghi', '[a-z]+', 'X', 1, 3)"},
		{"aX X X", "SELECT REGEXP_REPLACE('abc def ghi', '[a-z]+', 'X', 2, 0)"},
		{"飛b脚", "SELECT REGEXP_REPLACE('飛脚b', '(脚)(b)', '$2${1}')"},
		{"飛XX", "SELECT REGEXP_REPLACE('飛脚b', '.', 'X', 2)"},
		{"a0-b0-", "SELECT REGEXP_REPLACE('ab', '(.)', '$10-')"},
		{"$1\\", "SELECT REGEXP_REPLACE('a', '(.)', '\\\\$1\\\\\\\\')"},
		{"a", "SELECT REGEXP_REPLACE('a', 'b', '$x')"},
		{"1000", "SELECT LENGTH(REGEXP_REPLACE(REPEAT('x', 1000), '(y?)x', CONCAT(REPEAT('$1', 1000), 'z')))"},
		{"1", "SELECT ('aBc' REGEXP '^A') = 0 AND REGEXP_LIKE('aBc', '^A', 'i')"},
		{"0", "SELECT REGEXP_LIKE('aBc', '^A', 'ic')"},
		{"1", "SELECT REGEXP_LIKE('a\\nb', 'a.b', 'n') AND NOT REGEXP_LIKE('a\\nb', 'a.b')"},
		{"1", "SELECT 'a' NOT REGEXP 'b' AND 'a' RLIKE 'a' AND (NULL REGEXP 'a') IS NULL AND ('a' REGEXP NULL) IS NULL"},
		{"3", "SELECT count(*) FROM jobs WHERE v REGEXP concat('^', v, '$')"},
		{"2", "SELECT sum(v) FROM jobs WHERE v REGEXP '2'"},
	} {
		var got sql.NullString
		if err := c.QueryRowContext(t.Context(), q.statement).Scan(&got); err != nil || got.String != q.want {
			t.Errorf("%s: %q, %v, want %q", q.statement, got.String, err, q.want)
		}
	}
	for statement, number := range map[string]uint16{
		"SELECT 'a' REGEXP ''": 3685, "SELECT 'a' REGEXP '('": 3691, "SELECT 'a' REGEXP 'a)'": 3691,
		"SELECT 'a' REGEXP '[a'": 3696, "SELECT 'a' REGEXP 'a{2,1}'": 3692, "SELECT 'a' REGEXP '*'": 3688,
		"SELECT 'a' REGEXP '[b-a]'": 3697, "SELECT 'a' REGEXP '(?=a)'": 3690,
		"SELECT REGEXP_LIKE('a', 'a', 'x')": 1210, "SELECT REGEXP_INSTR('a', 'a', 3)": 3686,
		"SELECT REGEXP_INSTR('a', 'a', 1, 1, 2)": 1210, "SELECT REGEXP_REPLACE('a', 'a', '$1')": 3686,
		"SELECT REGEXP_REPLACE('a', 'a', '$x')": 3887, "SELECT REGEXP_REPLACE('a', 'a', 'b', 0)": 3686,
	} {
		_, err := c.ExecContext(t.Context(), statement)
		failsWith(t, err, number, "HY000", statement)
	}
}

// TestARegularExpressionIsCompiledOnce: also that of a REGEXP_REPLACE, whose function is made anew by planners.
func TestARegularExpressionIsCompiledOnce(t *testing.T) {
	ctx := gms.NewEmptyContext()
	text := func(s string) gms.Expression { return expression.NewLiteral(s, types.LongText) }
	field := expression.NewGetField(0, types.LongText, "f", true)
	replace, err := function.NewRegexpReplace(ctx, field, text("a"), text("b"))
	if err != nil {
		t.Fatal(err)
	}
	r, ok := regexpsOf(ctx, replace)
	if !ok {
		t.Fatal("it is none")
	}
	for i, row := range []gms.Row{{"xa"}, {"aa"}} {
		want := []string{"xb", "bb"}[i]
		before := r.last.Load()
		if v, err := r.Eval(ctx, row); err != nil || v != want {
			t.Errorf("%v, %v, want %q", v, err, want)
		}
		if i > 0 && r.last.Load() != before {
			t.Error("it is compiled again")
		}
	}
	other, err := r.WithChildren(ctx, r.Children()...)
	if err != nil || other.(*regexps).last != r.last {
		t.Errorf("what is made of it compiles anew: %v", err)
	}
}
