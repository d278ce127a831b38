package tsurugi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi"
)

func TestATableIsDescribed(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id BIGINT, name VARCHAR(20) NOT NULL, price DECIMAL(10,2), code CHAR(3), data VARBINARY(*), "+
		"PRIMARY KEY (id, code)")
	table, err := s.DescribeTable(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if table.Name != name || !slices.Equal(table.PrimaryKey, []string{"id", "code"}) || len(table.Columns) != 5 {
		t.Fatalf("%+v", table)
	}
	c := table.Columns
	if c[0].Type != tsurugi.Int8Type || c[0].Nullable || !c[0].HasNullable {
		t.Errorf("id: %+v", c[0])
	}
	if c[1].Type != tsurugi.CharacterType || c[1].Length != 20 || !c[1].Varying || c[1].Nullable {
		t.Errorf("name: %+v", c[1])
	}
	if c[2].Type != tsurugi.DecimalType || c[2].Precision != 10 || c[2].Scale != 2 || !c[2].Nullable {
		t.Errorf("price: %+v", c[2])
	}
	if c[3].Length != 3 || c[3].Varying {
		t.Errorf("code: %+v", c[3])
	}
	if c[4].Type != tsurugi.OctetType || !c[4].Varying {
		t.Errorf("data: %+v", c[4])
	}
	all, err := s.Tables(t.Context())
	if err != nil || !slices.ContainsFunc(all, func(n string) bool { return strings.HasSuffix(n, name) }) {
		t.Errorf("it is not among %q (%v)", all, err)
	}
}

func TestATableThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	_, err := s.DescribeTable(t.Context(), "hikyaku_nowhere")
	var e *tsurugi.Error
	if !errors.As(err, &e) || e.Code != tsurugi.CodeTargetNotFound {
		t.Error(err)
	}
}

func TestPlansAreExplained(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY")
	plan, err := s.Explain(t.Context(), "SELECT * FROM "+name)
	if err != nil || plan.Contents == "" || plan.Format == "" {
		t.Errorf("%+v, %v", plan, err)
	}
	st := prepare(t, s, "SELECT * FROM "+name+" WHERE id = :id", holder("id", tsurugi.Int4Type))
	if plan, err = st.Explain(t.Context(), tsurugi.Int4(1)); err != nil || plan.Contents == "" {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestNamesCannotInject(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	for _, name := range []string{"hikyaku Quoted Table", `hikyaku"; DROP TABLE x; --`, "hikyaku_表"} {
		quoted := tsurugi.QuoteName(name)
		_ = tryRun(t, s, "DROP TABLE "+quoted) // it may be there from the last time
		run(t, s, "CREATE TABLE "+quoted+` ("select" INT PRIMARY KEY, "a "" b" VARCHAR(10))`)
		columns := []tsurugi.Column{{Name: "select", Type: tsurugi.Int4Type},
			{Name: `a " b`, Type: tsurugi.CharacterType}}
		insert, err := tsurugi.NewInsert(name, columns, 2, tsurugi.InsertOnly)
		if err != nil {
			t.Fatal(err)
		}
		st := prepare(t, s, insert.SQL, insert.Placeholders...)
		tx := begin(t, s, tsurugi.TxOptions{})
		if _, err := tx.Send(t.Context(), st, tsurugi.Int4(1), tsurugi.Text("'"), tsurugi.Int4(2),
			tsurugi.Text("');--")); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := query(t, s, `SELECT "a "" b" FROM `+quoted); !slices.Contains(got, "'") || len(got) != 2 {
			t.Errorf("%s: found %q", name, got)
		}
		run(t, s, "DROP TABLE "+quoted)
	}
}

func TestAnInsertOfManyRowsIsOneStatement(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY, x DOUBLE")
	columns := []tsurugi.Column{{Name: "id", Type: tsurugi.Int4Type}, {Name: "x", Type: tsurugi.Float8Type}}
	const rows = 300
	for mode, want := range map[tsurugi.InsertMode]string{tsurugi.InsertOnly: "1", tsurugi.InsertOrReplace: "2",
		tsurugi.InsertOrIgnore: "1"} {
		run(t, s, "DELETE FROM "+name, "INSERT INTO "+name+" VALUES (1000, 1)")
		if mode != tsurugi.InsertOnly {
			run(t, s, "INSERT INTO "+name+" VALUES (0, 1)")
		}
		insert, err := tsurugi.NewInsert(name, columns, rows, mode)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time it is in the cache
			st, err := s.Cached(t.Context(), insert.SQL, insert.Placeholders...)
			if err != nil {
				t.Fatal(err)
			}
			var values []tsurugi.Value
			for i := range rows {
				values = append(values, tsurugi.Int4(int32(i)), tsurugi.Float8(2))
			}
			tx := begin(t, s, tsurugi.TxOptions{})
			if _, err := tx.ExecPrepared(t.Context(), st, values...); err != nil && mode != tsurugi.InsertOnly {
				t.Fatal(err)
			}
			if err := tx.Commit(t.Context()); err != nil && mode != tsurugi.InsertOnly {
				t.Fatal(err)
			}
		}
		if got := query(t, s, "SELECT count(*) FROM "+name); got[0] != "301" {
			t.Errorf("mode %d: %s rows", mode, got)
		}
		if got := query(t, s, "SELECT x FROM "+name+" WHERE id = 0"); mode != tsurugi.InsertOnly && got[0] != want {
			t.Errorf("mode %d: the row that was there has %s", mode, got)
		}
	}
	for _, n := range []int{0, tsurugi.MaxRows + 1} {
		if _, err := tsurugi.NewInsert(name, columns, n, tsurugi.InsertOnly); err == nil {
			t.Errorf("an INSERT of %d rows is made", n)
		}
	}
	if _, err := tsurugi.NewInsert(name, nil, 1, tsurugi.InsertOnly); err == nil {
		t.Error("an INSERT of no columns is made")
	}
}

func TestStatementsThatWereNotUsedForLongestLeaveTheCache(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{Statements: 2})
	name := table(t, s, "id INT PRIMARY KEY")
	get := func(column string) *tsurugi.Statement {
		st, err := s.Cached(t.Context(), "SELECT id AS "+column+" FROM "+name)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	a, b := get("a"), get("b")
	if get("a") != a || get("b") != b || get("a") != a {
		t.Error("a statement was prepared again")
	}
	get("c")
	if get("a") != a {
		t.Error("the statement used last was forgotten")
	}
	if get("b") == b {
		t.Error("the statement that was not used for longest is still there")
	}
}
