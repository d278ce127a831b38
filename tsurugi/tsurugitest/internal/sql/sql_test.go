package sql_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/sql"
)

var comparable = cmp.Comparer(func(a, b value.Value) bool { return a == b })

func lit(v value.Value) sql.Expr { return sql.Literal{Value: v} }

func TestStatementsAreParsed(t *testing.T) {
	for text, want := range map[string]sql.Statement{
		"CREATE TABLE T (id INT PRIMARY KEY, \"Na me\" VARCHAR(20) NOT NULL, d decimal(10,2), x double precision)": &sql.CreateTable{Name: "t", Key: []string{"id"}, Columns: []sql.ColumnDef{
			{Name: "id", Type: value.Int4, Key: true}, {Name: "Na me", Type: value.Character, Varying: true, Length: 20,
				NotNull: true},
			{Name: "d", Type: value.Decimal, Precision: 10, Scale: 2}, {Name: "x", Type: value.Float8},
		}},
		"create table if not exists t (a timestamp with time zone, b char, c varbinary(*), primary key (a, b));": &sql.CreateTable{Name: "t", IfNotExists: true, Key: []string{"a", "b"}, Columns: []sql.ColumnDef{
			{Name: "a", Type: value.TimePointWithTimeZone}, {Name: "b", Type: value.Character, Length: 1},
			{Name: "c", Type: value.Octet, Varying: true},
		}},
		"DROP TABLE IF EXISTS t -- gone": &sql.DropTable{Name: "t", IfExists: true},
		"INSERT OR REPLACE INTO t (a, b) VALUES (1, 'it''s'), (:x, NULL)": &sql.Insert{Table: "t", Mode: sql.Replace,
			Columns: []string{"a", "b"}, Rows: [][]sql.Expr{
				{lit(value.OfInt8(1)), lit(value.OfText("it's"))}, {sql.Param{Name: "x"}, lit(value.Value{})},
			}},
		"INSERT OR IGNORE INTO t VALUES (-1.50, -2e3, X'00ff', DATE '1970-01-02')": &sql.Insert{Table: "t",
			Mode: sql.Ignore, Rows: [][]sql.Expr{
				{lit(value.OfDecimal(-150, -2)), lit(value.OfFloat8(-2000)), lit(value.OfBytes([]byte{0, 255})),
					lit(value.OfDays(1))},
			}},
		"SELECT *, count(*) AS n FROM t WHERE a = 1 AND NOT b IS NULL OR c <> :x ORDER BY a DESC, b LIMIT 5": &sql.Select{
			Table: "t", Items: []sql.Item{{Star: true}, {Expr: &sql.Aggregate{Name: "COUNT"}, Name: "n"}},
			Where: &sql.Binary{Op: "OR",
				X: &sql.Binary{Op: "AND", X: &sql.Binary{Op: "=", X: sql.Column{Name: "a"}, Y: lit(value.OfInt8(1))},
					Y: &sql.Unary{Op: "NOT", X: &sql.Unary{Op: "IS NULL", X: sql.Column{Name: "b"}}}},
				Y: &sql.Binary{Op: "<>", X: sql.Column{Name: "c"}, Y: sql.Param{Name: "x"}}},
			Order: []sql.Order{{Column: "a", Desc: true}, {Column: "b"}}, Limit: 5,
		},
		"UPDATE t SET n = n + 1, m = -n /* both */ WHERE (id >= 3)": &sql.Update{Table: "t", Sets: []sql.Set{
			{Column: "n", Expr: &sql.Binary{Op: "+", X: sql.Column{Name: "n"}, Y: lit(value.OfInt8(1))}},
			{Column: "m", Expr: &sql.Unary{Op: "-", X: sql.Column{Name: "n"}}},
		}, Where: &sql.Binary{Op: ">=", X: sql.Column{Name: "id"}, Y: lit(value.OfInt8(3))}},
		"DELETE FROM t": &sql.Delete{Table: "t"},
	} {
		got, err := sql.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := cmp.Diff(want, got, comparable); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

func TestWhatIsNotUnderstoodIsRefusedWithItsPlace(t *testing.T) {
	for text, offset := range map[string]int{
		"": 0, "TRUNCATE t": 0, "SELECT": 6, "SELECT * FROM": 13, "SELECT * FROM t WHERE": 21,
		"CREATE TABLE t (a BOOLEAN)": 18, "CREATE TABLE t (a SMALLINT)": 18,
		"CREATE TABLE t (a INT": 21, "CREATE TABLE t (a DECIMAL(39))": 28, "INSERT INTO t VALUES (1": 23,
		"INSERT INTO t VALUES ('x)": 22, "DELETE FROM t; DELETE FROM t": 15,
		"SELECT a FROM t LIMIT x": 22, "SELECT : FROM t": 7, "SELECT ä\xff FROM t": 9, "SELECT X'0' FROM t": 8,
		"SELECT DATE 'x' FROM t": 12,
	} {
		_, err := sql.Parse(text)
		var syntax *sql.SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	for _, deep := range []string{"(", "NOT ", "- "} {
		if _, err := sql.Parse("SELECT a FROM t WHERE " + strings.Repeat(deep, 100_000) + "a"); err == nil {
			t.Errorf("%q without end is taken", deep)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"CREATE TABLE t (a INT PRIMARY KEY, b DECIMAL(5,2) NOT NULL, c TIME WITH TIME ZONE, PRIMARY KEY (a))",
		"DROP TABLE IF EXISTS \"a b\"",
		"INSERT OR IGNORE INTO t (a, b) VALUES (:a, -1.5e-3), ('x''y', NULL)", "SELECT *, sum(a) FROM t WHERE a = 1 " +
			"AND (b <> 'x' OR NOT c IS NULL) ORDER BY a DESC LIMIT 3",
		"UPDATE t SET a = a + 1 WHERE b || 'x' = 'y'", "DELETE FROM t WHERE ts < TIMESTAMP '2026-01-01 00:00:00Z' -- x",
		"/* x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := sql.Parse(text)
		var syntax *sql.SyntaxError
		switch {
		case err == nil && s == nil:
			t.Fatal("neither a statement nor an error")
		case err != nil && !errors.As(err, &syntax):
			t.Fatal(err)
		case err != nil && (syntax.Offset < 0 || syntax.Offset > len(text)):
			t.Fatalf("an error at %d of %d", syntax.Offset, len(text))
		}
	})
}
