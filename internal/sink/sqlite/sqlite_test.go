package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// open makes a sink over table t of a file, and starts it.
func open(t testing.TB, file string, c rows.Config) (*rows.Sink, error) {
	t.Helper()
	if c.Table == nil {
		c.Table = []string{"t"}
	}
	made, err := New(Config{Database: file, Config: c}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	})
	s, ok := made.(*rows.Sink)
	if !ok {
		t.Fatalf("%T", made)
	}
	return s, s.Start(t.Context())
}

func mustOpen(t testing.TB, file string, c rows.Config) *rows.Sink {
	t.Helper()
	s, err := open(t, file, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func send(t testing.TB, s *rows.Sink, bodies ...string) []component.Outcome {
	t.Helper()
	var batch []*message.Message
	for _, b := range bodies {
		batch = append(batch, &message.Message{ID: message.NewID(), Body: []byte(b)})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	outcomes, err := s.Send(ctx, batch)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// want looks at the verdict of an outcome and for a text in its reason.
func want(t *testing.T, o component.Outcome, v component.Verdict, says string) {
	t.Helper()
	if o.Verdict != v || says != "" && (o.Reason == nil || !strings.Contains(o.Reason.Error(), says)) {
		t.Errorf("%v because %v; not %v because of %q", o.Verdict, o.Reason, v, says)
	}
}

func TestStrictTablesAndRowNumbers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	db := other(t, file)
	run(t, db, `create table t (n integer primary key, i int not null, r real, s text, b blob, a any, twice int generated always as (i * 2)) strict`)
	s := mustOpen(t, file, rows.Config{})
	outcomes := send(t, s, `{"i":1,"r":2,"s":"x","b":"AAE=","a":"y"}`, `{"n":7,"i":2}`, `{"i":"x"}`,
		`{"i":3,"twice":6}`, `{"r":1}`)
	want(t, outcomes[0], component.Delivered, "")
	want(t, outcomes[1], component.Delivered, "")
	want(t, outcomes[2], component.Rejected, "integer")
	want(t, outcomes[3], component.Rejected, "twice")
	want(t, outcomes[4], component.Rejected, "column i")
	got := read(t, db, "select n, i, twice, typeof(r), typeof(b), typeof(a) from t order by i", 6)
	if fmt.Sprint(got) != "[[1 1 2 real blob text] [7 2 4 null null null]]" {
		t.Error(got)
	}
}

func TestConstraintsOfEveryKindRefuseOneRow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	db := other(t, file)
	run(t, db, `create table parent (id integer primary key); insert into parent values (1);
		create table t (id text primary key, n int check (n < 10), p int references parent deferrable initially deferred) without rowid;
		create trigger no before insert on t when new.n = 5 begin select raise(abort, 'five is not for us'); end`)
	outcomes := send(t, mustOpen(t, file, rows.Config{}), `{"id":"a","n":1,"p":1}`, `{"id":"b","n":11}`,
		`{"id":"c","n":5}`, `{"id":"d","p":2}`, `{"id":"e"}`, `{"n":1}`, `{"id":"a"}`)
	for i, says := range []string{"", "CHECK constraint failed", "five is not for us", "FOREIGN KEY constraint failed",
		"", "column id", "UNIQUE constraint failed"} {
		v := component.Delivered
		if says != "" {
			v = component.Rejected
		}
		want(t, outcomes[i], v, says)
	}
	if got := read(t, db, "select group_concat(id) from t", 1); fmt.Sprint(got) != "[[a,e]]" {
		t.Error(got)
	}
}

func TestTheOneUniqueIndexIsTheKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	db := other(t, file)
	run(t, db, `create table t (a int, b int, v text); create unique index ab on t (a, b); create unique index some on t (v) where a > 100`)
	s := mustOpen(t, file, rows.Config{Mode: "upsert"})
	want(t, send(t, s, `{"a":1,"b":1,"v":"x"}`)[0], component.Delivered, "")
	want(t, send(t, s, `{"a":1,"b":1,"v":"y"}`)[0], component.Delivered, "")
	want(t, send(t, s, `{"a":1,"v":"z"}`)[0], component.Rejected, "belongs to the key")
	if got := read(t, db, "select a, b, v from t", 3); fmt.Sprint(got) != "[[1 1 y]]" {
		t.Error(got)
	}
	run(t, db, "drop index ab; create unique index ab on t (abs(a))")
	if _, err := open(t, file, rows.Config{Mode: "once"}); err == nil ||
		!strings.Contains(err.Error(), "no primary key") {
		t.Error(err)
	}
}

func TestAFileThatCannotBeUsedStopsTheStart(t *testing.T) {
	dir := t.TempDir()
	if _, err := open(t, filepath.Join(dir, "not there.db"), rows.Config{}); err == nil ||
		!strings.Contains(err.Error(), "unable to open") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "not there.db")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file was made that nobody asked for")
	}
	if err := os.WriteFile(filepath.Join(dir, "letter.txt"), []byte(strings.Repeat("no database ", 100)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, filepath.Join(dir, "letter.txt"), rows.Config{}); err == nil ||
		!strings.Contains(err.Error(), "not a database") {
		t.Error(err)
	}
}

func TestAViewIsNotWrittenAndNothingIsLost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	db := other(t, file)
	run(t, db, "create table real (a int); create view t as select a from real")
	o := send(t, mustOpen(t, file, rows.Config{}), `{"a":1}`)[0]
	want(t, o, component.Retry, "view")
	if !o.Held {
		t.Error("it is counted as a try of the message")
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for setting, c := range map[string]Config{
		"database":    {},
		"synchronous": {Database: "x", Synchronous: "extra"},
		"pool_size":   {Database: "x", Config: rows.Config{PoolSize: 2}},
		"table":       {Database: "x"},
		"mode":        {Database: "x", Config: rows.Config{Table: []string{"t"}, Mode: "replace"}},
	} {
		_, err := New(c, component.Env{})
		var e *component.SettingError
		if !errors.As(err, &e) || e.Setting != setting {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := New(Config{Database: ":memory:", Config: rows.Config{Table: []string{"t"}}},
		component.Env{}); err == nil {
		t.Error("rows in memory would be lost")
	}
}

func TestAFileThatCannotBeOpenedIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nobody made this folder", "x.db")
	if _, err := open(t, file, rows.Config{Create: true}); err == nil ||
		!strings.Contains(err.Error(), "open "+file+": ") {
		t.Errorf("the start says: %v", err)
	}
}

func TestAFileThatIsMadeIsForItsOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // modes say nothing there
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "made.db")
	s := mustOpen(t, file, rows.Config{Create: "body text"})
	if o := send(t, s, `{"body":"a"}`); o[0].Verdict != component.Delivered {
		t.Fatalf("%+v", o)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 2 { // the log of SQLite is beside it
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
	said := func(s component.Sink) []string { return s.(interface{ Notices() []string }).Notices() }
	if all := said(s); len(all) != 0 {
		t.Errorf("of a closed file it is said %q", all)
	}
	group := filepath.Join(dir, "group.db")
	if err := os.WriteFile(group, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, group, rows.Config{Create: "body text"})
	send(t, s, `{"body":"a"}`)
	if all := said(s); len(all) != 1 || !strings.Contains(all[0], group+" has mode 0640: other accounts") {
		t.Errorf("of an open file it is said %q", all)
	}
	if info, err := os.Stat(group); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("a file that was there has mode %v, %v", info.Mode(), err)
	}
}
