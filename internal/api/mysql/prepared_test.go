package mysql

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/sampletest"
)

// ways are how a statement may be sent and answered.
var ways = []struct {
	name, args string
	noShort    bool
}{
	{"prepared, short", "parseTime=true", false},
	{"prepared, long", "parseTime=true", true},
	{"text, short", "parseTime=true&interpolateParams=true", false},
	{"text, long", "parseTime=true&interpolateParams=true", true},
}

// TestBoundValuesComeBackAsTheyWere binds values of every kind and reads them back.
func TestBoundValuesComeBackAsTheyWere(t *testing.T) {
	at := time.Date(2026, 11, 22, 1, 2, 3, 456789000, time.UTC)
	columns := []struct {
		typ  string
		in   any
		back any
	}{
		{"tinyint", -5, int64(-5)},
		{"int unsigned", uint32(4294967295), int64(4294967295)},
		{"bigint", int64(-1 << 62), int64(-1 << 62)},
		{"bigint unsigned", uint64(1<<64 - 1), uint64(1<<64 - 1)},
		{"bool", true, int64(1)},
		{"double", 0.1, 0.1},
		{"decimal(10,3)", "1234.567", "1234.567"},
		{"varchar(20)", "it's \"飛脚\" \\ \x00 🐎", "it's \"飛脚\" \\ \x00 🐎"},
		{"char(5)", "ab", "ab"},
		{"text", "", ""},
		{"varbinary(10)", []byte{0, 1, 0xff, 0x80}, "\x00\x01\xff\x80"},
		{"binary(3)", []byte{1}, "\x01\x00\x00"},
		{"blob", []byte{}, ""},
		{"longblob", "text", "text"},
		{"datetime(6)", at, at},
		{"datetime", at.Truncate(time.Second), at.Truncate(time.Second)},
		{"date", "2026-11-22", time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)},
		{"time(3)", "-12:34:56.789", "-12:34:56.789"},
		{"year", 2026, int64(2026)},
		{"int", "77", int64(77)},
		{"int", nil, nil},
		{"text", nil, nil},
		{"datetime", nil, nil},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			r := newRig(t, Config{}, nil)
			r.door.noShort = way.noShort
			c := r.connect(way.args)
			var defs, marks []string
			var in []any
			for i, col := range columns {
				defs, marks, in = append(defs, fmt.Sprintf("c%d %s", i, col.typ)), append(marks, "?"),
					append(in, col.in)
			}
			exec(t, c, "CREATE TABLE v ("+strings.Join(defs, ", ")+") ENGINE=QUEUE")
			if n := exec(t, c, "INSERT INTO v VALUES ("+strings.Join(marks, ", ")+")", in...); n != 1 {
				t.Errorf("%d rows affected", n)
			}
			one(t, c, int64(1), "SELECT queue_wait(?, ?)", "v", 5)
			into := make([]any, len(columns))
			for i := range into {
				into[i] = new(any)
			}
			rows, err := c.QueryContext(t.Context(), "SELECT * FROM v WHERE ? = 1 OR 1", 1)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			if !rows.Next() {
				t.Fatal("no row", rows.Err())
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			for i, col := range columns {
				got := *into[i].(*any)
				if b, ok := got.([]byte); ok {
					got = string(b)
				}
				if strings.HasPrefix(way.name, "text") { // the driver makes a text of numbers
					got = fmt.Sprint(got)
					col.back = fmt.Sprint(col.back)
				}
				if got != col.back && fmt.Sprint(got) != fmt.Sprint(col.back) {
					t.Errorf("%s: %v came back as %T %v", col.typ, col.in, got, got)
				}
			}
		})
	}
}

func exec(t *testing.T, c *sql.Conn, statement string, args ...any) int64 {
	t.Helper()
	result, err := c.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatalf("%.100s: %v", statement, err)
	}
	n, _ := result.RowsAffected()
	return n
}

// one wants a statement to answer with one value.
func one[T comparable](t *testing.T, c *sql.Conn, want T, statement string, args ...any) {
	t.Helper()
	var got T
	if err := c.QueryRowContext(t.Context(), statement, args...).Scan(&got); err != nil || got != want {
		t.Errorf("%.100s: got %v, %v, want %v", statement, got, err, want)
	}
}

// TestRowsOfTheLargestSize puts and takes rows of nearly 64 MB, as values beside the statement and within it, and one
// beyond.
func TestRowsOfTheLargestSize(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("maxAllowedPacket=0")
	exec(t, c, "CREATE TABLE big (v longblob) ENGINE=QUEUE")
	body := bytes.Repeat([]byte("0123456789abcde\x00"), (64<<20-1024)/16)
	for _, way := range sampletest.Of(t, amount(2, 1), "beside", "within") {
		if way == "beside" {
			exec(t, c, "INSERT INTO big VALUES (?)", body)
			one(t, c, int64(1), "SELECT queue_wait('big', 0)")
			var got []byte
			err := c.QueryRowContext(t.Context(), "SELECT * FROM big").Scan(&got)
			if err != nil || !bytes.Equal(got, body) {
				t.Errorf("%d bytes came back of %d: %v", len(got), len(body), err)
			}
			one(t, c, int64(1), "SELECT queue_end()")
			continue
		}
		text := r.connect("maxAllowedPacket=0&interpolateParams=true")
		exec(t, text, "INSERT INTO big VALUES (?)", body)
		one(t, text, int64(len(body)), "SELECT length(v) FROM big")
		exec(t, text, "DELETE FROM big")
	}
	_, err := c.ExecContext(t.Context(), "INSERT INTO big VALUES (?)", make([]byte, 64<<20+1))
	var refused *driver.MySQLError
	if !errors.As(err, &refused) || refused.Number != erTooBigRow {
		t.Errorf("a row beyond: %v", err)
	}
	one(t, c, int64(0), "SELECT COUNT(*) FROM big")
}

func TestInsertsOfManyRowsAreOneGroup(t *testing.T) {
	for _, noShort := range []bool{false, true} {
		r := newRig(t, Config{}, nil)
		r.door.noShort = noShort
		r.makeJobs(0)
		c := r.connect("")
		values := "(1)" + strings.Repeat(", (2)", 9_999)
		if n := exec(t, c, "INSERT INTO jobs VALUES "+values); n != 10_000 {
			t.Errorf("%d rows affected", n)
		}
		_, err := c.ExecContext(t.Context(), "INSERT INTO jobs VALUES "+values+", (3)")
		var refused *driver.MySQLError
		if !errors.As(err, &refused) || refused.Number != erTooBigRow {
			t.Errorf("10,001 rows: %v", err)
		}
		if st := r.stats(); st.TotalPut != 10_000 {
			t.Errorf("%d rows were put", st.TotalPut)
		}
	}
}

// TestPreparedStatementsAreBounded prepares and forgets to close.
func TestPreparedStatementsAreBounded(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.dialRaw()
	prepare := func() error {
		c.write(0, []byte("\x16SELECT queue_end()"))
		first, err := c.read()
		if err != nil {
			t.Fatal(err)
		}
		if first[0] == 0xff {
			return fmt.Errorf("error %d: %s", binary.LittleEndian.Uint16(first[1:]), first[9:])
		}
		for range binary.LittleEndian.Uint16(first[5:]) + 1 { // the columns, and the end of them
			if _, err := c.read(); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	}
	for i := range maxPrepared {
		if err := prepare(); err != nil {
			t.Fatalf("statement %d: %v", i+1, err)
		}
	}
	for range 2 {
		if err := prepare(); err == nil || !strings.Contains(err.Error(), "1461") {
			t.Errorf("one more: %v", err)
		}
	}
	c.write(0, []byte("\x19\x01\x00\x00\x00")) // COM_STMT_CLOSE of the first one
	if err := prepare(); err != nil {
		t.Error(err)
	}
	c.want("SELECT 1", "1")
}

func TestMarksOfSourcesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	for start := range 3 {
		s, stop := openStore(t, dir)
		r := newRigOver(t, Config{}, nil, s)
		c := r.connect("")
		exec(t, c, "CREATE TABLE IF NOT EXISTS relayed (v int) ENGINE=QUEUE")
		for id := 1; id <= 10+start; id++ { // a relay that starts again sends all it has
			one(t, c, int64(1), "SELECT queue_set_srcid(7, 'a', ?)", id)
			exec(t, c, "INSERT INTO relayed VALUES (?)", id)
		}
		one(t, c, int64(10+start), "SELECT COUNT(*) FROM relayed")
		r.close()
		stop()
	}
}
