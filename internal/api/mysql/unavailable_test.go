package mysql

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// broken is a store that cannot be asked at times, as one on another machine.
type broken struct {
	Store
	mu    sync.Mutex
	asked int   // since fail was called
	at    int   // which of what it is asked fails, from 1; 0: none
	after bool  // what it is asked afterwards fails, too
	err   error // with what
}

// fail lets what it is asked as the at-th from now on fail, and perhaps what comes after it.
func (b *broken) fail(at int, after bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked, b.at, b.after, b.err = 0, at, after, err
}

// count is how often it was asked since fail was called.
func (b *broken) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

func (b *broken) ask() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	if b.at > 0 && (b.asked == b.at || b.after && b.asked > b.at) {
		return b.err
	}
	return nil
}

func (b *broken) Definition(ctx context.Context, n queue.Name) (queue.Definition, uint64, error) {
	if err := b.ask(); err != nil {
		return queue.Definition{}, 0, err
	}
	return b.Store.Definition(ctx, n)
}

func (b *broken) Queues(ctx context.Context) ([]queue.Name, error) {
	if err := b.ask(); err != nil {
		return nil, err
	}
	return b.Store.Queues(ctx)
}

func (b *broken) Stats(ctx context.Context, n queue.Name) (queue.Stats, error) {
	if err := b.ask(); err != nil {
		return queue.Stats{}, err
	}
	return b.Store.Stats(ctx, n)
}

func (b *broken) Parse(ctx context.Context, n queue.Name, where string) (*condition.Expr, error) {
	if err := b.ask(); err != nil {
		return nil, err
	}
	return b.Store.Parse(ctx, n, where)
}

func (b *broken) Look(ctx context.Context, n queue.Name, sequence uint64) (queue.Peeked, error) {
	if err := b.ask(); err != nil {
		return queue.Peeked{}, err
	}
	return b.Store.Look(ctx, n, sequence)
}

func (b *broken) Peek(ctx context.Context, n queue.Name, r queue.PeekRequest) ([]queue.Peeked, error) {
	if err := b.ask(); err != nil {
		return nil, err
	}
	return b.Store.Peek(ctx, n, r)
}

func (b *broken) Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error) {
	if err := b.ask(); err != nil {
		return nil, nil, err
	}
	return b.Store.Commit(ctx, c)
}

func (b *broken) Claim(ctx context.Context, r queue.ClaimRequest) ([]queue.Claim, error) {
	if err := b.ask(); err != nil {
		return nil, err
	}
	return b.Store.Claim(ctx, r)
}

func (b *broken) Settle(ctx context.Context, ss []queue.Settlement) ([]error, error) {
	if err := b.ask(); err != nil {
		return nil, err
	}
	return b.Store.Settle(ctx, ss)
}

func (b *broken) Note(ctx context.Context, room, key string) ([]byte, bool, error) {
	if err := b.ask(); err != nil {
		return nil, false, err
	}
	return b.Store.Note(ctx, room, key)
}

func (b *broken) Notes(ctx context.Context, room string) ([]queue.Note, error) {
	if err := b.ask(); err != nil {
		return nil, err
	}
	return b.Store.Notes(ctx, room)
}

func (b *broken) NoteKeys(ctx context.Context, room, prefix string) ([]string, error) {
	if err := b.ask(); err != nil {
		return nil, err
	}
	return b.Store.NoteKeys(ctx, room, prefix)
}

// answerOf is what a statement answers, as text: its rows, or the number of its error. Figures that differ from one
// time to the next are left out.
func answerOf(t *testing.T, c *sql.Conn, statement string, prepared bool) string {
	t.Helper()
	number := func(err error) string {
		var known *driver.MySQLError
		if !errors.As(err, &known) {
			t.Fatalf("%s: %v", statement, err)
		}
		return fmt.Sprint("error ", known.Number)
	}
	query := func() (*sql.Rows, error) { return c.QueryContext(t.Context(), statement) }
	if prepared {
		stmt, err := c.PrepareContext(t.Context(), statement)
		if err != nil {
			return number(err)
		}
		defer stmt.Close()
		query = func() (*sql.Rows, error) { return stmt.QueryContext(t.Context()) }
	}
	rows, err := query()
	if err != nil {
		return number(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	answer := strings.Join(names, "|")
	for rows.Next() {
		values := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		answer += fmt.Sprint("\n", values)
	}
	if err := rows.Err(); err != nil {
		return number(err)
	}
	if strings.Contains(statement, "queue_stats") || strings.Contains(statement, "ENGINE") {
		answer = strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) || r == ' ' {
				return -1
			}
			return r
		}, answer)
	}
	return answer
}

// onlyReading are statements that leave everything as it is.
var onlyReading = []string{
	"SHOW TABLES",
	"SHOW DATABASES",
	"SHOW TABLE STATUS",
	"SHOW CREATE TABLE clock",
	"SHOW FULL COLUMNS FROM clock",
	"SHOW STATUS LIKE 'Open_tables'",
	"SHOW ENGINE QUEUE STATUS",
	"DESCRIBE clock",
	"DESCRIBE clock at",
	"DESCRIBE missing",
	"SELECT * FROM clock",
	"SELECT * FROM CLOCK WHERE id > 0 ORDER BY at",
	"SELECT at, day FROM Clock",
	"SELECT CONCAT(at, '') FROM clock",
	"SELECT TIMEDIFF(at, at), ADDTIME(at, at) FROM clock",
	"SELECT a.id FROM clock a JOIN clock b ON a.id = b.id",
	"SELECT COUNT(*) FROM clock UNION SELECT COUNT(*) FROM bare",
	"SELECT * FROM missing",
	"SELECT (SELECT MAX(id) FROM clock)",
	"EXPLAIN SELECT * FROM clock",
	"EXPLAIN FORMAT=TREE SELECT * FROM clock",
	"CHECKSUM TABLE clock, missing",
	"CHECK TABLE clock, missing",
	"ANALYZE TABLE clock UPDATE HISTOGRAM ON id",
	"INSERT INTO missing VALUES (2)",
	"CREATE TABLE clock (id int)",
	"CREATE TABLE IF NOT EXISTS clock (id int)",
	"CREATE TABLE IF NOT EXISTS clock SELECT 1 AS id",
	"CREATE DATABASE IF NOT EXISTS test",
	"DROP DATABASE IF EXISTS nothing",
	"DROP TABLE IF EXISTS missing",
	"SELECT queue_stats('clock')",
	"SELECT queue_stats('missing')",
	"SELECT queue_compact('clock')",
	"SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema = 'test'",
	"SELECT table_name, column_name, column_type, privileges FROM information_schema.columns " +
		"WHERE table_schema = 'test'",
	"SELECT schema_name FROM information_schema.schemata",
	"SELECT * FROM information_schema.statistics",
	"SELECT * FROM information_schema.key_column_usage",
	"SELECT COUNT(*) FROM information_schema.columns_extensions",
}

// changing are statements that change something, each behind what is to be done before it.
var changing = [][]string{
	{"INSERT INTO clock VALUES (2, '10:11:12', '2020-01-01')"},
	{"INSERT INTO clock VALUES (1 + 1, '1 1:00:00', NULL)"},
	{"INSERT INTO clock SELECT id, at, day FROM clock"},
	{"SELECT queue_set_srcid(1, 'w', 7)", "INSERT INTO clock VALUES (2, NULL, NULL)"},
	{"SELECT queue_set_srcid(1, 'w', 7)", "INSERT INTO clock VALUES (2, NULL, NULL)",
		"SELECT queue_set_srcid(1, 'a', 7)", "INSERT INTO clock VALUES (2, NULL, NULL)"},
	{"DELETE FROM clock"},
	{"TRUNCATE clock"},
	{"CREATE TABLE new (id int)"},
	{"CREATE TABLE new SELECT id FROM clock"},
	{"CREATE TABLE new (id int)", "DROP TABLE new"},
	{"CREATE TABLE new (id int)", "ALTER TABLE new ADD n int"},
	{"CREATE TABLE new (id int)", "ALTER TABLE new ADD n int, DROP COLUMN id"},
	{"CREATE TABLE new (id int)", "RENAME TABLE new TO newer"},
	{"CREATE DATABASE more"},
	{"CREATE DATABASE more", "DROP DATABASE more"},
	{"SELECT queue_wait('clock', 0)"},
	{"SELECT queue_wait('clock:id > 0', 'bare', 0)"},
	{"SELECT queue_wait('clock:id =', 0)"},
	{"SELECT queue_wait('missing', 0)"},
	{"DO queue_wait('clock', 0)", "SELECT * FROM clock"},
	{"DO queue_wait('clock', 0)", "SELECT at FROM clock WHERE id = 1"},
	{"DO queue_wait('clock', 0)", "SELECT queue_wait('clock', 0)"},
	{"DO queue_wait('clock', 0)", "SELECT queue_abort()"},
	{"DO queue_wait('clock', 0)", "SELECT queue_end()"},
}

// begin makes everything as it was.
var begin = []string{
	"DO queue_end()", "DO queue_set_srcid(1, 'a', 0)", "DROP TABLE IF EXISTS new, newer",
	"DROP DATABASE IF EXISTS more", "TRUNCATE clock",
	"INSERT INTO clock VALUES (1, '10:11:12.5', '2020-01-02 3:04:05')",
}

// TestAStoreThatCannotBeAskedIsNoAnswer: whichever of the things that a statement asks of the store is not answered,
// once or from then on, the statement ends with the error that says so, or as it would have without: no table is
// missing for it, and no list empty.
func TestAStoreThatCannotBeAskedIsNoAnswer(t *testing.T) {
	type way struct {
		name          string
		long, prepare bool
	}
	for _, how := range share(t, 3, way{"as text", false, false}, way{"the long way", true, false},
		way{"prepared", false, true}) {
		t.Run(how.name, func(t *testing.T) {
			s, stop := openStore(t, t.TempDir())
			t.Cleanup(stop)
			b := &broken{Store: s}
			r := newRigServed(t, Config{}, Options{Store: b}, s)
			r.door.noShort = how.long
			c := r.connect("")
			exec(t, c, "CREATE TABLE bare (id int) ENGINE=QUEUE")
			exec(t, c, "CREATE TABLE clock (id int, at time(3), day datetime(2)) ENGINE=QUEUE")
			again := func(then ...string) {
				for _, statement := range slices.Concat(begin, then) {
					exec(t, c, statement)
				}
			}
			again()
			for _, statement := range onlyReading {
				b.failEach(t, c, func() {}, statement, how.prepare)
			}
			for _, of := range changing {
				last := len(of) - 1
				b.failEach(t, c, func() { again(of[:last]...) }, of[last], how.prepare)
			}
		})
	}
}

// failEach runs a statement as often as it asks something, and each time another of its questions fails.
func (b *broken) failEach(t *testing.T, c *sql.Conn, before func(), statement string, prepared bool) {
	t.Helper()
	run := func(at int, after bool, why error) (answer string, asked int, left string) {
		before()
		b.fail(at, after, why)
		answer, asked = answerOf(t, c, statement, prepared), b.count()
		b.fail(0, false, nil)
		return answer, asked, answerOf(t, c, "SELECT COUNT(*) FROM clock", false)
	}
	want, asked, wantLeft := run(0, false, nil)
	if asked == 0 && want != "error 1295" { // not every statement can be prepared
		t.Errorf("%s asks nothing", statement)
	}
	for at := 1; at <= asked; at++ {
		for _, after := range []bool{false, true} {
			why, number := queue.ErrUnavailable, "error 1053"
			if at%2 == 0 {
				why, number = context.DeadlineExceeded, "error 1317"
			}
			got, _, left := run(at, after, fmt.Errorf("asked in vain: %w", why))
			if got != number && (got != want || left != wantLeft || after && at == 1) {
				t.Errorf("%s, when question %d of %d fails (what follows: %t): %s and leaves %s, want %s, or %s and %s",
					statement, at, asked, after, got, left, number, want, wantLeft)
			}
		}
	}
}

// unlisted is a store that cannot say which queues there are.
type unlisted struct{ Store }

func (unlisted) Queues(context.Context) ([]queue.Name, error) { return nil, queue.ErrUnavailable }

// TestAStatementThatNamesItsTableListsNone: there may be very many.
func TestAStatementThatNamesItsTableListsNone(t *testing.T) {
	s, stop := openStore(t, t.TempDir())
	t.Cleanup(stop)
	r := newRigServed(t, Config{}, Options{Store: unlisted{s}}, s)
	r.door.noShort = true
	r.makeJobs(2)
	c := r.connect("")
	one(t, c, int64(2), "SELECT COUNT(*) FROM jobs")
	exec(t, c, "INSERT INTO jobs SELECT v + 2 FROM jobs")
	one(t, c, int64(4), "SELECT MAX(a.v) FROM jobs a JOIN jobs b ON a.v = b.v")
	one(t, c, int64(1), "SELECT queue_wait('jobs:v > 3', 0)")
	one(t, c, int64(1), "SELECT queue_end()")
	exec(t, c, "DELETE FROM jobs WHERE v = 1")
	one(t, c, int64(2), "SELECT COUNT(*) FROM jobs WHERE v > ?", 1)
}

// TestTheLineOfMysqladminNeedsTheStore: COM_STATISTICS is answered with the error, and the connection goes on.
func TestTheLineOfMysqladminNeedsTheStore(t *testing.T) {
	s, stop := openStore(t, t.TempDir())
	t.Cleanup(stop)
	b := &broken{Store: s}
	c := newRigServed(t, Config{}, Options{Store: b}, s).dialRaw()
	b.fail(1, true, queue.ErrUnavailable)
	c.write(0, []byte{0x09})
	if p := c.must(); p[0] != 0xff || binary.LittleEndian.Uint16(p[1:]) != erShutdown {
		t.Errorf("COM_STATISTICS: %q", p)
	}
	b.fail(0, false, nil)
	c.want("SELECT 'on'", "on")
}
