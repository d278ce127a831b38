//go:build linux

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/internal/rows/rowstest"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
)

// blockOf are rows of a number each, for a table of one column.
func blockOf(table *rows.Table, mode rows.Mode, numbers ...int64) *rows.Block {
	b := &rows.Block{Table: table, Mode: mode, Columns: table.Columns[:1]}
	for _, n := range numbers {
		b.Values = append(b.Values, rows.IntOf(n))
	}
	return b
}

// faults wants what Judge says of an error.
func faults(t *testing.T, d rows.Driver, err error, want rows.Fault) {
	t.Helper()
	if err == nil {
		t.Fatal("there was no error")
	}
	if got := d.Judge(err); got != want {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

func TestALostAnswerToACommitIsLookedUp(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n int8)")
	proxy, through := proxied(t, url)
	for i := range 3 {
		_, s := open(t, through)
		lost := proxy.LoseAnswer()
		if err := s.Write(t.Context(), blockOf(described(t, s, "t"), rows.Insert, int64(i))); err != nil {
			t.Fatal(err)
		}
		if !lost() {
			t.Fatal("the answer was not lost")
		}
	}
	if got := ask(t, url, "SELECT count(*), count(DISTINCT n) FROM t"); got != "3|3" {
		t.Error(got)
	}
}

func TestATransactionThatWasAskedToCommitAndHadToWaitIsUndoneBeforeItIsTriedAgain(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n int8 PRIMARY KEY)")
	other, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer other.Close(context.WithoutCancel(t.Context()))
	_, err = other.Exec(t.Context(), "BEGIN; INSERT INTO t VALUES (2)")
	must(t, err)
	d, s := open(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	table := described(t, s, "t")
	written := make(chan error)
	go func() { written <- s.Write(ctx, blockOf(table, rows.Insert, 1, 2)) }()
	for ask(t, url, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hikyaku' AND wait_event_type = "+
		"'Lock'") != "1" {
	}
	cancel()
	faults(t, d, <-written, rows.Fault{Class: rows.Away, Row: -1, Broken: true})
	_, err = other.Exec(t.Context(), "ROLLBACK")
	must(t, err)
	_, s = open(t, url)
	must(t, s.Write(t.Context(), blockOf(table, rows.Insert, 1, 2)))
	if got := ask(t, url, "SELECT count(*) FROM t"); got != "2" {
		t.Error(got)
	}
}

// TestWithoutAnIDNothingIsDoubledUnlessTheServerCrashes writes while sessions are ended, connections are cut in the
// middle and answers are lost.
func TestWithoutAnIDNothingIsDoubledUnlessTheServerCrashes(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n int8 NOT NULL)")
	proxy, through := proxied(t, url)
	s := started(t, through)
	const senders, batches, size = 3, 50, 20
	rowstest.Storm(rowstest.Numbered(t, s, senders, batches, size), func(int) {
		tell(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hikyaku'")
	}, func(i int) { proxy.CutAfter(i * 1237 % 5000) }, func(int) { proxy.LoseAnswer() })
	if got, want := ask(t, url, "SELECT count(*), count(DISTINCT n) FROM t"),
		fmt.Sprintf("%[1]d|%[1]d", senders*batches*size); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if n := s.Counts()["maybe_doubled"]; n != 0 {
		t.Errorf("%d rows may be there twice", n)
	}
	must(t, s.Close())
}

func TestACrashOfTheServerLosesNothingAndWhatMayBeDoubledIsCounted(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n int8 NOT NULL)")
	rowstest.Crashing(t, server, func(query string) string { return ask(t, url, query) }, started(t, url))
}

// started is a sink over table t.
func started(t *testing.T, url string) *Sink {
	t.Helper()
	made, err := New(Config{Database: url, Config: rows.Config{Table: []string{"t"}}}, component.Env{})
	must(t, err)
	s, ok := made.(*Sink)
	if !ok {
		t.Fatalf("made a %T", made)
	}
	must(t, s.Start(t.Context()))
	return s
}

// TestTLSKnowsTheServer reaches the server by its certificate, and no other.
func TestTLSKnowsTheServer(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n int8)")
	for _, c := range []struct {
		tls     secure.TLS
		refused bool
	}{{secure.TLS{CAFile: server.CAFile()}, false}, {secure.TLS{ServerName: "localhost"}, true},
		{secure.TLS{CAFile: server.CAFile(), ServerName: "elsewhere"}, true}} {
		made, err := New(Config{Database: url, TLS: c.tls, Config: rows.Config{Table: []string{"t"}}}, component.Env{})
		must(t, err)
		if err := made.(*Sink).Start(t.Context()); c.refused != (err != nil &&
			strings.Contains(err.Error(), "certificate")) {
			t.Errorf("%+v: %v", c.tls, err)
		}
		must(t, made.Close())
	}
}

func TestAColumnOfAnotherTypeOfTheSameSizeTakesNoGarbage(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n int8)")
	d, s := open(t, url)
	table := described(t, s, "t")
	must(t, s.Write(t.Context(), blockOf(table, rows.Insert, 7)))
	tell(t, url, "ALTER TABLE t ALTER COLUMN n TYPE timestamp USING NULL")
	faults(t, d, s.Write(t.Context(), blockOf(table, rows.Insert, 8)), rows.Fault{Class: rows.Drift, Row: -1})
	tell(t, url, "DROP TABLE t", "CREATE TABLE t (n float8)")
	faults(t, d, s.Write(t.Context(), blockOf(table, rows.Insert, 8)), rows.Fault{Class: rows.Drift, Row: -1})
	tell(t, url, "DROP TABLE t", "CREATE TABLE t (m int8)")
	faults(t, d, s.Write(t.Context(), blockOf(table, rows.Insert, 8)), rows.Fault{Class: rows.Drift, Row: -1})
	tell(t, url, "DROP TABLE t")
	faults(t, d, s.Write(t.Context(), blockOf(table, rows.Insert, 8)), rows.Fault{Class: rows.NoTable, Row: -1})
	tell(t, url, "CREATE TABLE t (n int8)")
	must(t, s.Write(t.Context(), blockOf(table, rows.Insert, 8)))
	if got := ask(t, url, "SELECT n FROM t"); got != "8" {
		t.Error(got)
	}
}

func TestADeadlockIsAConflict(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n int8 PRIMARY KEY, v int8)", "INSERT INTO t VALUES (1, 0), (2, 0)")
	other, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer other.Close(context.WithoutCancel(t.Context()))
	_, err = other.Exec(t.Context(), "SET deadlock_timeout = '1min'") // so that it is not the one to give way
	must(t, err)
	_, err = other.Exec(t.Context(), "BEGIN; UPDATE t SET v = 1 WHERE n = 1")
	must(t, err)
	d, s := open(t, url+"&deadlock_timeout=20ms")
	table := described(t, s, "t")
	b := &rows.Block{Table: table, Mode: rows.Upsert, Columns: table.Columns,
		Values: []rows.Value{rows.IntOf(2), rows.IntOf(5), rows.IntOf(1), rows.IntOf(5)}}
	written := make(chan error)
	go func() { written <- s.Write(t.Context(), b) }()
	updated := make(chan error)
	go func() {
		_, err := other.Exec(t.Context(), "UPDATE t SET v = 1 WHERE n = 2; COMMIT")
		updated <- err
	}()
	// Whether ours had its first row by then is up to the scheduler: if not, it waits for the other, and writes after
	// it.
	err = <-written
	must(t, <-updated)
	if err != nil {
		faults(t, d, err, rows.Fault{Class: rows.Conflict, Row: -1})
		must(t, s.Write(t.Context(), b))
	}
	if got := ask(t, url, "SELECT v FROM t"); got != "5\n5" {
		t.Error(got)
	}
}

func TestATableWithoutRoomIsAwayUntilThereIsSome(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n int8, b bytea)", "ALTER TABLE t ALTER COLUMN b SET STORAGE PLAIN")
	d, s := open(t, url)
	table := described(t, s, "t")
	b := &rows.Block{Table: table, Mode: rows.Insert, Columns: table.Columns}
	for n := range 200 {
		b.Values = append(b.Values, rows.IntOf(int64(n)), rows.BytesOf(strings.Repeat("x", 7000)))
	}
	const room = 17 << 20 // more than a segment of the log, which has its size from the start
	must(t, server.LimitFiles(room))
	defer func() { must(t, server.LimitFiles(0)) }()
	written := 0
	for {
		err := s.Write(t.Context(), b)
		if err != nil {
			faults(t, d, err, rows.Fault{Class: rows.Away, Row: -1})
			break
		}
		if written++; written*200*7000 > 2*room {
			t.Fatal("there is room without end")
		}
	}
	must(t, server.LimitFiles(0))
	must(t, s.Write(t.Context(), b))
	if got, want := ask(t, url, "SELECT count(*) FROM t"), fmt.Sprint((written+1)*200); got != want {
		t.Errorf("%s rows, not %s", got, want)
	}
}

func TestTablesThatTakeNoCOPYAreInsertedInto(t *testing.T) {
	url := database(t)
	schema := url[strings.LastIndexByte(url, '=')+1:]
	user := "u" + schema
	tell(t, url, "CREATE ROLE "+user+" LOGIN", "GRANT USAGE ON SCHEMA "+schema+" TO "+user, "CREATE TABLE t (n int8)",
		"GRANT ALL ON t TO "+user,
		"ALTER TABLE t ENABLE ROW LEVEL SECURITY", "CREATE POLICY p ON t USING (true) WITH CHECK (n < 100)",
		"CREATE TABLE o (n int8)", "GRANT ALL ON o TO "+user,
		"CREATE VIEW v AS SELECT n FROM o", "GRANT ALL ON v TO "+user)
	d, s := open(t, strings.Replace(url, "postgres@", user+"@", 1))
	for _, name := range []string{"t", "v"} {
		table := described(t, s, name)
		for range 2 {
			must(t, s.Write(t.Context(), blockOf(table, rows.Insert, 1, 2)))
		}
	}
	faults(t, d, s.Write(t.Context(), blockOf(described(t, s, "t"), rows.Insert, 1, 100)),
		rows.Fault{Class: rows.BadRow, Row: -1})
	if got := ask(t, url, "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM v)"); got != "4|4" {
		t.Error(got)
	}
}

func TestWhatIsRefusedIsSaidWithItsRow(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE p (n int8 PRIMARY KEY)", "CREATE TABLE t (n int8 PRIMARY KEY CHECK (n <> 4), w int8 "+
		"REFERENCES p)",
		"CREATE TABLE loud (n int8)", "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.n = "+
			"3 THEN RAISE EXCEPTION 'not three'; END IF; RETURN NEW; END $$",
		"CREATE TRIGGER no BEFORE INSERT ON loud FOR EACH ROW EXECUTE FUNCTION no()")
	d, s := open(t, url)
	table := described(t, s, "t")
	for want, numbers := range map[int][]int64{1: {1, 4, 5}, 2: {1, 2, 2, 3}} {
		faults(t, d, s.Write(t.Context(), blockOf(table, rows.Insert, numbers...)),
			rows.Fault{Class: rows.BadRow, Row: want})
	}
	b := &rows.Block{Table: table, Mode: rows.Insert, Columns: table.Columns,
		Values: []rows.Value{rows.IntOf(1), rows.IntOf(9)}}
	err := s.Write(t.Context(), b)
	faults(t, d, err, rows.Fault{Class: rows.BadRow, Row: -1})
	if !strings.Contains(err.Error(), `Key (w)=(9) is not present in table "p"`) {
		t.Error(err)
	}
	err = s.Write(t.Context(), blockOf(described(t, s, "loud"), rows.Insert, 1, 2, 3))
	faults(t, d, err, rows.Fault{Class: rows.BadRow, Row: 2})
	if !strings.Contains(err.Error(), "not three") {
		t.Error(err)
	}
}

func TestOnceMeetsRowsThatAreThereAndOnesThatAreTwice(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n int8 PRIMARY KEY, m int8 UNIQUE)")
	d, opened := open(t, url)
	s := opened.(*session)
	table := described(t, s, "t")
	must(t, s.Write(t.Context(), blockOf(table, rows.Once, 1, 2)))
	for range wariness + 2 {
		must(t, s.Write(t.Context(), blockOf(table, rows.Once, 2, 3, 3)))
	}
	if got := ask(t, url, "SELECT count(*) FROM t"); got != "3" {
		t.Error(got)
	}
	// The other key is none of those that a message may come again by.
	b := &rows.Block{Table: table, Mode: rows.Once, Columns: table.Columns,
		Values: []rows.Value{rows.IntOf(8), rows.IntOf(1), rows.IntOf(9), rows.IntOf(1)}}
	faults(t, d, s.Write(t.Context(), b), rows.Fault{Class: rows.BadRow, Row: -1})
}

func TestWhoIsNotLetInIsTold(t *testing.T) {
	url := database(t)
	schema := url[strings.LastIndexByte(url, '=')+1:]
	tell(t, url, "CREATE ROLE r"+schema+" LOGIN PASSWORD 'hush'", "GRANT USAGE ON SCHEMA "+schema+" TO r"+schema,
		"CREATE TABLE t (n int8)", "GRANT SELECT ON t TO r"+schema)
	as := func(user string) string { return strings.Replace(url, "postgres@", user+":hush@", 1) }
	d, s := open(t, as("r"+schema))
	faults(t, d, s.Write(t.Context(), blockOf(described(t, s, "t"), rows.Insert, 1)),
		rows.Fault{Class: rows.Refused, Row: -1})
	for _, wrong := range []string{as("nobody"), strings.Replace(url, "/postgres?", "/nowhere?", 1)} {
		d, err := newDriver(Config{Database: wrong})
		must(t, err)
		_, err = d.Open(t.Context())
		faults(t, d, err, rows.Fault{Class: rows.Refused, Row: -1})
		if strings.Contains(err.Error(), "hush") {
			t.Error("the password is shown")
		}
	}
}

func TestSettingsThatCannotBeAreRefusedWithoutShowingThem(t *testing.T) {
	for _, c := range []Config{
		{}, {Database: "postgres://me:hush@host:port/db"}, {Database: "mysql://me:hush@host/db"},
		{Database: "postgres://me:hush@host/db?sslmode=perhaps"},
	} {
		c.Table = []string{"t"}
		_, err := New(c, component.Env{})
		var setting *component.SettingError
		if !errors.As(err, &setting) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
