//go:build linux

package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/internal/rows/rowstest"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
)

// blockOf are rows of a number each, for the first column of a table.
func blockOf(table *rows.Table, mode rows.Mode, numbers ...int64) *rows.Block {
	b := &rows.Block{Table: table, Mode: mode, Columns: table.Columns[:1]}
	for _, n := range numbers {
		b.Values = append(b.Values, rows.IntOf(n))
	}
	return b
}

// wholeOf are rows of all columns of a table.
func wholeOf(table *rows.Table, mode rows.Mode, values ...rows.Value) *rows.Block {
	return &rows.Block{Table: table, Mode: mode, Columns: table.Columns, Values: values}
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

func numbersTo(n int) (numbers []int64) {
	for i := range n {
		numbers = append(numbers, int64(i))
	}
	return numbers
}

func TestBlocksOfAnySizeAreWrittenWholeOrNotAtAll(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n bigint PRIMARY KEY CHECK (n <> 5000))")
	d, s := open(t, url, false)
	table := described(t, s, "t")
	for _, n := range []int{1, 2, 3, mostRows - 1, mostRows, mostRows + 1, 3*mostRows + 7} {
		must(t, s.Write(t.Context(), blockOf(table, rows.Insert, numbersTo(n)...)))
		if got := ask(t, url, "SELECT count(*) FROM t"); got != fmt.Sprint(n) {
			t.Errorf("%s rows of %d", got, n)
		}
		bad := append(numbersTo(n + mostRows)[n:], 5000)
		faults(t, d, s.Write(t.Context(), blockOf(table, rows.Insert, bad...)),
			rows.Fault{Class: rows.BadRow, Row: mostRows})
		if got := ask(t, url, "SELECT count(*) FROM t"); got != fmt.Sprint(n) {
			t.Errorf("%s rows of %d, after a block that failed", got, n)
		}
		tell(t, url, "TRUNCATE t")
	}
}

func TestWhatIsRefusedIsSaidWithItsRow(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n tinyint PRIMARY KEY, v varchar(3), d date)")
	d, s := open(t, url, false)
	table := described(t, s, "t")
	text, none := rows.TextOf, rows.Value{}
	b := blockOf(table, rows.Insert, 1, 2, 300)
	faults(t, d, s.Write(t.Context(), b), rows.Fault{Class: rows.BadRow, Row: 2, Column: "n"})
	faults(t, d, s.Write(t.Context(), wholeOf(table, rows.Insert, rows.IntOf(1), text("at row 1"), none, rows.IntOf(2),
		text("a"), none)), rows.Fault{Class: rows.BadRow, Row: 0, Column: "v"})
	faults(t, d, s.Write(t.Context(), wholeOf(table, rows.Insert, rows.IntOf(1), text("a"), none, rows.IntOf(2),
		text("abcd"), none)), rows.Fault{Class: rows.BadRow, Row: 1, Column: "v"})
	err := s.Write(t.Context(), blockOf(table, rows.Insert, 7, 7))
	faults(t, d, err, rows.Fault{Class: rows.BadRow, Row: -1})
	if !strings.Contains(err.Error(), "Duplicate entry '7' for key 'PRIMARY'") {
		t.Error(err)
	}
	faults(t, d, s.Write(t.Context(), wholeOf(table, rows.Insert, rows.IntOf(1), none, rows.DateOf(-1<<40))),
		rows.Fault{Class: rows.BadRow, Column: "d"})
	if got := ask(t, url, "SELECT count(*) FROM t"); got != "0" {
		t.Error(got)
	}
	must(t, s.Write(t.Context(), blockOf(table, rows.Insert, 1, 2)))
}

// TestTheServersOwnSettingsDoNotMatter makes the server's defaults lenient, and of another zone and language.
func TestTheServersOwnSettingsDoNotMatter(t *testing.T) {
	url := database(t)
	tell(t, url, "SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'", "SET GLOBAL time_zone = '+09:00'",
		"SET GLOBAL lc_messages = 'de_DE'", "SET GLOBAL character_set_server = 'latin1'",
		"CREATE TABLE t (n tinyint, v varchar(20) CHARSET utf8mb4, at timestamp NULL)")
	defer tell(t, url, "SET GLOBAL sql_mode = DEFAULT", "SET GLOBAL time_zone = 'SYSTEM'",
		"SET GLOBAL lc_messages = DEFAULT", "SET GLOBAL character_set_server = DEFAULT")
	for _, load := range []bool{false, true} {
		d, s := open(t, url, load)
		table := described(t, s, "t")
		at := rows.InstantOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		must(t, s.Write(t.Context(), wholeOf(table, rows.Insert, rows.IntOf(1), rows.TextOf(`飛\n'"`), at)))
		faults(t, d, s.Write(t.Context(), blockOf(table, rows.Insert, 1, 200)),
			rows.Fault{Class: rows.BadRow, Row: 1, Column: "n"})
		if got := ask(t, url, "SELECT n, v, at FROM t"); got != `1|飛\n'"|2026-01-02 03:04:05` {
			t.Error(got)
		}
		tell(t, url, "DELETE FROM t")
	}
}

func TestARowThatIsFoundByAnotherKeyIsNoneOfOurs(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n bigint PRIMARY KEY, mail varchar(20) UNIQUE, v int)",
		"INSERT INTO t VALUES (1, 'a', 0), (2, 'b', 0)")
	d, s := open(t, url, false)
	table := described(t, s, "t")
	for _, mode := range []rows.Mode{rows.Once, rows.Upsert} {
		must(t, s.Write(t.Context(), wholeOf(table, mode, rows.IntOf(1), rows.TextOf("a"), rows.IntOf(1), rows.IntOf(3),
			rows.TextOf("c"), rows.IntOf(1))))
		err := s.Write(t.Context(), wholeOf(table, mode, rows.IntOf(9), rows.TextOf("b"), rows.IntOf(7)))
		if err == nil || d.Judge(err).Class != rows.BadRow || !strings.Contains(err.Error(), "another unique key") {
			t.Errorf("%v: %v", mode, err)
		}
	}
	if got := ask(t, url, "SELECT n, mail, v FROM t ORDER BY n"); got != "1|a|1\n2|b|0\n3|c|1" {
		t.Error(got)
	}
}

func TestLoadDataThatWouldChangeOrLeaveOutARowIsUndone(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n tinyint PRIMARY KEY, v varchar(3), p bigint NOT NULL DEFAULT 0)",
		"INSERT INTO t VALUES (5, '', 0)")
	d, s := open(t, url, true)
	table := described(t, s, "t")
	row := func(n int64, v string) []rows.Value {
		return []rows.Value{rows.IntOf(n), rows.TextOf(v), rows.IntOf(0)}
	}
	for i, c := range []struct {
		values []rows.Value
		row    int
	}{
		{append(row(1, "a"), row(1, "b")...), -1},
		{append(row(1, "a"), row(5, "b")...), -1},
		{append(row(1, "a"), row(2, "abcd")...), 1},
		{append(row(1, "a"), row(300, "a")...), 1},
	} {
		err := s.Write(t.Context(), wholeOf(table, rows.Insert, c.values...))
		if err == nil || d.Judge(err).Class != rows.BadRow || d.Judge(err).Row != c.row {
			t.Errorf("%d: %v", i, err)
		}
		if d.undone.Load() != uint64(i+1) {
			t.Errorf("%d: %d were undone", i, d.undone.Load())
		}
	}
	must(t, s.Write(t.Context(), wholeOf(table, rows.Insert, row(1, "a\tb")...)))
	if got := ask(t, url, "SELECT n, v FROM t ORDER BY n"); got != "1|a\tb\n5|" {
		t.Errorf("%q", got)
	}
}

func TestWhereLoadDataIsNotAllowedRowsAreInserted(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n bigint PRIMARY KEY)", "SET GLOBAL local_infile = 0")
	defer tell(t, url, "SET GLOBAL local_infile = 1")
	d, s := open(t, url, true)
	table := described(t, s, "t")
	for n := range 3 {
		must(t, s.Write(t.Context(), blockOf(table, rows.Insert, int64(n))))
	}
	if got := ask(t, url, "SELECT count(*) FROM t"); got != "3" || d.denied.Load() != 1 {
		t.Errorf("%s rows, refused %d times", got, d.denied.Load())
	}
}

func TestADeadlockIsAConflict(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n bigint PRIMARY KEY, v int)", "CREATE TABLE heavy (n int)",
		"INSERT INTO t VALUES (1, 0), (2, 0)")
	d, s := open(t, url, false)
	table := described(t, s, "t")
	db := connect(t, url)
	defer db.Close()
	other, err := db.Conn(t.Context())
	must(t, err)
	defer other.Close()
	tells := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := other.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	// The one that has changed less gives way.
	tells("START TRANSACTION", "INSERT INTO heavy VALUES (1), (2), (3), (4), (5), (6), (7), (8)",
		"UPDATE t SET v = 1 WHERE n = 1")
	written := make(chan error)
	b := wholeOf(table, rows.Upsert, rows.IntOf(2), rows.IntOf(5), rows.IntOf(1), rows.IntOf(5))
	go func() { written <- s.Write(t.Context(), b) }()
	// the server looks at its transactions only if nobody has asked for a tenth of a second
	const renewed = 150 * time.Millisecond
	for ask(t, url, "SELECT count(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'") != "1" {
		<-time.After(renewed)
	}
	tells("UPDATE t SET v = 1 WHERE n = 2", "COMMIT")
	faults(t, d, <-written, rows.Fault{Class: rows.Conflict, Row: -1})
	must(t, s.Write(t.Context(), b))
	if got := ask(t, url, "SELECT v FROM t"); got != "5\n5" {
		t.Error(got)
	}
}

func TestARowThatIsTooLargeForTheServerIsRefusedAlone(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n bigint PRIMARY KEY, v longblob)", "SET GLOBAL max_allowed_packet = 1048576")
	defer tell(t, url, "SET GLOBAL max_allowed_packet = DEFAULT")
	made, err := New(Config{Database: url, Config: rows.Config{Table: []string{"t"}}}, component.Env{})
	must(t, err)
	defer func() { must(t, made.Close()) }()
	var batch []*message.Message
	for n := range 20 {
		size := 100_000
		if n == 11 {
			size = 3_000_000
		}
		batch = append(batch, &message.Message{ID: message.NewID(),
			Body: fmt.Appendf(nil, `{"n":%d,"v":"%s"}`, n, strings.Repeat("AAAA", size/4))})
	}
	for len(batch) > 1 {
		outcomes, err := made.Send(t.Context(), batch)
		must(t, err)
		var again []*message.Message
		for i, o := range outcomes {
			switch o.Verdict {
			case component.Retry:
				again = append(again, batch[i])
			case component.Rejected:
				if !strings.Contains(string(batch[i].Body[:10]), `"n":11`) {
					t.Errorf("%s: %v", batch[i].Body[:10], o.Reason)
				}
			}
		}
		batch = again
	}
	if got := ask(t, url, "SELECT count(*) FROM t"); got != "19" {
		t.Error(got)
	}
}

func TestATableThatIsChangedDroppedOrForbiddenIsTold(t *testing.T) {
	url := database(t)
	name := url[strings.LastIndexByte(url, '/')+1:]
	tell(t, url, "CREATE TABLE t (n bigint)", "CREATE USER "+name+" IDENTIFIED BY 'hush'", "GRANT SELECT ON t TO "+name)
	d, s := open(t, url, false)
	table := described(t, s, "t")
	must(t, s.Write(t.Context(), blockOf(table, rows.Insert, 1)))
	tell(t, url, "ALTER TABLE t CHANGE n m bigint")
	faults(t, d, s.Write(t.Context(), blockOf(table, rows.Insert, 1)), rows.Fault{Class: rows.Drift, Row: -1})
	tell(t, url, "DROP TABLE t")
	faults(t, d, s.Write(t.Context(), blockOf(table, rows.Insert, 1)), rows.Fault{Class: rows.NoTable, Row: -1})
	tell(t, url, "CREATE TABLE t (n bigint)")
	must(t, s.Write(t.Context(), blockOf(table, rows.Insert, 1)))

	as := strings.Replace(url, "root@", name+":hush@", 1)
	d, s = open(t, as, false)
	faults(t, d, s.Write(t.Context(), blockOf(described(t, s, "t"), rows.Insert, 1)),
		rows.Fault{Class: rows.Refused, Row: -1})
	for _, wrong := range []string{strings.Replace(as, ":hush", ":hushhush", 1),
		strings.Replace(url, name, "nowhere", 1)} {
		d, err := newDriver(Config{Database: wrong})
		must(t, err)
		_, err = d.Open(t.Context())
		faults(t, d, err, rows.Fault{Class: rows.Refused, Row: -1})
		if strings.Contains(err.Error(), "hush") {
			t.Error("the password is shown")
		}
	}
}

// TestWithAnIDNothingIsDoubled writes while sessions are killed, connections are cut in the middle and answers are
// lost.
func TestWithAnIDNothingIsDoubled(t *testing.T) {
	url := database(t)
	schema := url[strings.LastIndexByte(url, '/')+1:]
	tell(t, url, "CREATE TABLE t (id varchar(40) PRIMARY KEY, n bigint NOT NULL)")
	proxy, through := proxied(t, url)
	s := started(t, Config{Database: through, Config: rows.Config{Table: []string{"t"}, IDColumn: "id"}})
	const senders, batches, size = 3, 50, 20
	rowstest.Storm(rowstest.Numbered(t, s, senders, batches, size), func(int) { killAll(t, url, schema) },
		func(i int) { proxy.CutAfter(i * 1237 % 5000) }, func(int) { proxy.LoseAnswer() })
	if got, want := ask(t, url, "SELECT count(*), count(DISTINCT n) FROM t"),
		fmt.Sprintf("%[1]d|%[1]d", senders*batches*size); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	must(t, s.Close())
}

func TestACrashOfTheServerLosesNothingAndWhatMayBeDoubledIsCounted(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n bigint NOT NULL)")
	rowstest.Crashing(t, server, func(query string) string { return ask(t, url, query) },
		started(t, Config{Database: url, Config: rows.Config{Table: []string{"t"}}}))
}

// started is a sink over a table that is there.
func started(t *testing.T, c Config) *Sink {
	t.Helper()
	made, err := New(c, component.Env{})
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
	tell(t, url, "CREATE TABLE t (n bigint)")
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

// killAll ends the sessions with a database, but for our own.
func killAll(t testing.TB, url, schema string) {
	t.Helper()
	db := connect(t, strings.Replace(url, "/"+schema, "/mysql", 1))
	defer db.Close()
	for _, id := range strings.Fields(ask(t, url, "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '"+schema+
		"' AND ID <> CONNECTION_ID()")) {
		_, _ = db.ExecContext(context.WithoutCancel(t.Context()), "KILL "+id) // it may have ended by itself
	}
}

func TestATableWithoutRoomIsAwayUntilThereIsSome(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (n bigint, b longblob)")
	d, s := open(t, url, false)
	table := described(t, s, "t")
	b := &rows.Block{Table: table, Mode: rows.Insert, Columns: table.Columns}
	for n := range 200 {
		b.Values = append(b.Values, rows.IntOf(int64(n)), rows.BytesOf(strings.Repeat("x", 7000)))
	}
	const room = 24 << 20 // more than the log, which has its size from the start
	must(t, server.LimitFiles(room))
	defer func() { must(t, server.LimitFiles(0)) }()
	written := 0
	for {
		err := s.Write(t.Context(), b)
		if err != nil {
			faults(t, d, err, rows.Fault{Class: rows.Away, Row: -1})
			break
		}
		if written++; written*200*7000 > 3*room {
			t.Fatal("there is room without end")
		}
	}
	must(t, server.LimitFiles(0))
	must(t, s.Write(t.Context(), b))
	if got, want := ask(t, url, "SELECT count(*) FROM t"), fmt.Sprint((written+1)*200); got != want {
		t.Errorf("%s rows, not %s", got, want)
	}
}

func TestSettingsThatCannotBeAreRefusedWithoutShowingThem(t *testing.T) {
	for _, database := range []string{"", "mysql://me:hush@", "mysql://me:hush@host:port/db",
		"postgres://me:hush@host/db", "mysql://me:hush@host", "mysql://me:hush@host/db?tls=perhaps", "me:hush@host"} {
		_, err := New(Config{Database: database, Config: rows.Config{Table: []string{"t"}}}, component.Env{})
		var setting *component.SettingError
		if !errors.As(err, &setting) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", database, err)
		}
	}
	for _, database := range []string{"mysql://me:hush@host/db", "mariadb://host:1/db?readTimeout=5s",
		"me:hu/sh@tcp(host:1)/db?tls=true", "me@unix(/tmp/s)/db"} {
		if _, err := New(Config{Database: database, Config: rows.Config{Table: []string{"t"}}},
			component.Env{}); err != nil {
			t.Errorf("%s: %v", database, err)
		}
	}
}
