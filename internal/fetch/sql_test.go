package fetch

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"modernc.org/sqlite"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fill makes an SQLite file.
func fill(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a file?#%.db")
	db := sql.OpenDB(connector{driver: &sqlite.Driver{}, name: sqLiteAddress(path, "rwc")})
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func ask(t testing.TB, d *DB, p Params) ([]string, error) {
	t.Helper()
	var rows []string
	err := d.Ask(t.Context(), p, func(r Row) error {
		rows = append(rows, string(r.AppendJSON(nil)))
		return nil
	})
	return rows, err
}

func mustSQL(t testing.TB, c SQL) *DB {
	t.Helper()
	d, err := NewSQL(c, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestRowsOfSQLiteBecomeJSONInTheirOrder(t *testing.T) {
	path := fill(t, "create table t (id integer primary key, name text, price real, raw blob, doc json, at datetime, "+
		"none text)",
		`insert into t values (9007199254740993, '飛脚 "x" <b>', 1.5, x'00ff', '{"b": 1, "a": [2]}', '2026-01-02 03:04:05', null)`)
	d := mustSQL(t, SQL{Database: path, Query: "select name, id, price, raw, doc, at, none from t where id = :id"})
	if err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := ask(t, d, Params{"id": {message.Int(9007199254740993)}})
	want := `{"name":"飛脚 \"x\" <b>","id":9007199254740993,"price":1.5,"raw":"AP8=","doc":{"b":1,"a":[2]},"at":"2026-01-02T03:04:05Z","none":null}`
	if err != nil || len(rows) != 1 || rows[0] != want {
		t.Errorf("%v\n%s\nwant\n%s", err, rows, want)
	}
}

func TestParametersAreBoundAndNeverPartOfTheText(t *testing.T) {
	path := fill(t, "create table t (name text)", "insert into t values ('a'), ('b'' or 1=1 --')")
	d := mustSQL(t, SQL{Database: path, Query: "select name from t where name = :name"})
	for name, want := range map[string]int{"a": 1, "b' or 1=1 --": 1, "a' or 1=1 --": 0, "'; drop table t; --": 0} {
		if rows, err := ask(t, d, Params{"name": texts(name)}); err != nil || len(rows) != want {
			t.Errorf("%s: %q, %v", name, rows, err)
		}
	}
	many := mustSQL(t, SQL{Database: path, Query: "select name from t where name in (:keys)"})
	if rows, err := ask(t, many, Params{Keys: texts("a", "b' or 1=1 --", "c")}); err != nil || len(rows) != 2 {
		t.Errorf("%q, %v", rows, err)
	}
}

func TestALookAtADatabaseChangesNothingInIt(t *testing.T) {
	path := fill(t, "create table t (a)")
	d := mustSQL(t, SQL{Database: path, Query: "insert into t values (:a) returning a"})
	if rows, err := ask(t, d, Params{"a": texts("x")}); err == nil {
		t.Errorf("it was written: %q", rows)
	}
}

func TestAStartFindsWhatWillNeverWork(t *testing.T) {
	path := fill(t, "create table t (a)")
	for _, c := range []SQL{{Database: path, Query: "select b from t"}, {Database: path, Query: "selekt 1"},
		{Database: path + ".gone", Query: "select 1"}} {
		if err := mustSQL(t, c).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "SQLite") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	away := mustSQL(t, SQL{Database: "postgres://u@127.0.0.1:1/d", Query: "select 1"})
	if err := away.Start(t.Context()); err != nil {
		t.Errorf("a server that is away may come back: %v", err)
	}
}

func TestWhatMayPassIsARetryAndTheRestIsNot(t *testing.T) {
	path := fill(t, "create table t (a integer)", "insert into t values (1)")
	for _, c := range []struct {
		s     SQL
		again bool
	}{
		{SQL{Database: path, Query: "select nothing from t"}, false},
		{SQL{Database: path, Query: "select json_extract('x', '$') from t"}, false},
		{SQL{Database: path, Query: "select 1e999 from t"}, false}, // JSON knows no infinity
		{SQL{Database: path + ".gone", Query: "select 1"}, true},
		{SQL{Database: "postgres://u@127.0.0.1:1/d", Query: "select 1"}, true},
		{SQL{Database: "mysql://u@127.0.0.1:1/d", Query: "select 1"}, true},
	} {
		_, err := ask(t, mustSQL(t, c.s), Params{})
		if _, again := component.AsRetry(err); err == nil || again != c.again {
			t.Errorf("%s: %v", c.s.Query, err)
		}
	}
}

func TestAnEndedContextEndsAQuestionAndIsARetry(t *testing.T) {
	path := fill(t, "create table t (a integer)")
	// without end
	d := mustSQL(t, SQL{Database: path, Query: "with recursive n(i) as (select 1 union all select i + 1 from n) " +
		"select i from n where i < 0"})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := d.Ask(ctx, Params{}, func(Row) error { return nil })
	if _, again := component.AsRetry(err); !again || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if rows, err := ask(t, mustSQL(t, SQL{Database: path, Query: "select 1 as one"}), Params{}); err != nil ||
		len(rows) != 1 {
		t.Errorf("afterwards: %q, %v", rows, err)
	}
}

func TestWhoTakesTheRowsEndsTheAnswerWithAnErrorOfTheirOwn(t *testing.T) {
	d := mustSQL(t, SQL{Database: fill(t, "create table t (a)", "insert into t values (1), (2), (3)"),
		Query: "select a from t"})
	enough := errors.New("enough")
	n := 0
	err := d.Ask(t.Context(), Params{}, func(Row) error {
		if n++; n == 2 {
			return enough
		}
		return nil
	})
	if err != enough || n != 2 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestOneDatabaseServesManyAtOnce(t *testing.T) {
	d := mustSQL(t, SQL{Database: fill(t, "create table t (a integer primary key)", "with recursive n(i) as (select "+
		"1 union all select i + 1 from n where i < 1000) insert into t select i from n"),
		Query: "select a from t where a in (:keys)"})
	d.Want(8)
	var work sync.WaitGroup
	for w := range 8 {
		work.Go(func() {
			for i := range 50 {
				var keys []message.Value
				for k := range 1 + i%7 {
					keys = append(keys, message.Int(int64(1+w*100+k)))
				}
				n := 0
				err := d.Ask(t.Context(), Params{Keys: keys}, func(Row) error { n++; return nil })
				if err != nil || n != len(keys) {
					t.Error(fmt.Errorf("%d rows for %d keys, %w", n, len(keys), err))
				}
			}
		})
	}
	work.Wait()
}
