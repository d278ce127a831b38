package mysql

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	driver "github.com/go-sql-driver/mysql"
)

// errorNumber is MySQL's number of an error; 0: none.
func errorNumber(err error) int {
	var known *driver.MySQLError
	if errors.As(err, &known) {
		return int(known.Number)
	}
	return 0
}

// ask asks for all rows and returns the error's number, and the first value of the last row.
func ask(t *testing.T, c *sql.Conn, statement string) (number int, value any) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), statement)
	if err != nil {
		if errorNumber(err) == 0 {
			t.Fatalf("%.100s: %v", statement, err)
		}
		return errorNumber(err), nil
	}
	defer rows.Close()
	for rows.Next() {
		columns, _ := rows.Columns()
		into := make([]any, len(columns))
		for i := range into {
			into[i] = new(any)
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		value = *into[0].(*any)
	}
	if err := rows.Err(); err != nil && errorNumber(err) == 0 {
		t.Fatalf("%.100s: %v", statement, err)
	}
	return errorNumber(rows.Err()), value
}

// TestNoStatementEndsTheProcessOrEatsTheMachine sends what did: chains that overflowed the stack, values of gigabytes,
// joins without an end. Each is answered with MySQL's error, or with NULL where MySQL does, within a little memory, and
// the connection goes on.
func TestNoStatementEndsTheProcessOrEatsTheMachine(t *testing.T) {
	r := newRig(t, Config{MaxPacketBytes: 4 << 20, StatementBytes: 8 << 20, MaxJoinSize: 100_000,
		StatementTimeout: 20 * time.Second}, users(t))
	many := strings.Repeat
	hundred := "(SELECT 1 a" + many(" UNION ALL SELECT 1", 9) + ")"
	cross := func(n int) string {
		from := hundred + " t0"
		for i := range n - 1 {
			from += fmt.Sprintf(", (SELECT 1 b%d UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) t%d", i+1,
				i+1)
		}
		return from
	}
	boss := driver.NewConfig()
	boss.User, boss.Passwd, boss.Net, boss.Addr, boss.DBName = "boss", "boss-secret", "tcp", r.addr, "test"
	exec(t, r.connectTo(boss), "CREATE TABLE days (d datetime) ENGINE=QUEUE")
	type tooMuch struct {
		name, statement string
		boss, nobody    int // errors; 0: NULL or what fits
	}
	for _, c := range share(t, 4, []tooMuch{
		{"a sum", "SELECT 1" + many("+1", 300_000), 1436, 1436},
		{"not", "SELECT " + many("not ", 300_000) + "1", 1436, 1436},
		{"or", "SELECT 1" + many(" OR 1", 300_000), 1436, 1436},
		{"parentheses", "SELECT " + many("(", 300_000) + "1" + many(")", 300_000), 1436, 1436},
		{"unions", "SELECT 1" + many(" UNION SELECT 1", 30_000), 1473, 1473},
		{"tables", "SELECT 1 FROM t0" + many(", t0", 300_000), 1116, 1116},
		{"case", "SELECT CASE" + many(" WHEN 1 THEN 2", 100_000) + " END", 1436, 1436},
		{"a regular expression", "SELECT 'x' REGEXP '" + many("a{900}", 2000) + "'", 3700, 3700},
		{"one that is made", "SELECT (SELECT 'x' REGEXP repeat('a{900}', 2000))", 3700, 3700},
		{"one of many groups", "SELECT repeat('%', 1024) REGEXP repeat('(a*)*', 1200)", 3700, 3700},
		{"one of many steps, with a long text", "SELECT length(regexp_replace(repeat('x', 100000), repeat('a?', " +
			"2000), ''))", 3700, 0},
		{"one of many stars, with a text", "SELECT repeat('a', 12000) RLIKE repeat('.*', 1500)", 3700, 3700},
		{"a usual one, with a long text", "SELECT nullif(repeat('x', 1000000) REGEXP '^(GET|POST) " +
			"/[a-z]+/([0-9]+)$', 0)", 0, 0},
		{"one of a function", "SELECT regexp_instr('x', concat(repeat('a{900}', 2000), rand()))", 3700, 3700},
		{"repeat", "SELECT length(repeat(repeat('x',100000),100000))", 0, 0},
		{"space", "SELECT length(space(2000000000))", 0, 0},
		{"as many as bytes are a number", "SELECT length(space(CAST(2000000000 AS binary)))", 0, 0},
		{"a text as often as bytes are a number", "SELECT length(repeat('x', CAST(2000000000 AS binary)))", 0, 0},
		{"padded to what bytes are as a number", "SELECT length(lpad('x', CAST(2000000000 AS binary), 'y'))", 0, 0},
		{"bytes that fit", "SELECT nullif(length(space(x'00ff')), 255)", 0, 0},
		{"spaces that fit", "SELECT nullif(length(space(40000)), 40000)", 0, 0},
		{"as many as a time has seconds", "SELECT length(repeat('x', now()))", 0, 0},
		{"a date of many digits", "SELECT nullif(year(repeat('1', 20000)), 1111)", 0, 0},
		{"one that is cast", "SELECT nullif(year(CAST(repeat('1', 20000) AS DATETIME)), 1111)", 0, 0},
		{"one that is compared", "SELECT nullif(repeat('1', 20000) < now(), 1)", 0, 0},
		{"one in a list", "SELECT nullif(now() IN (1, repeat('1', 20000)), 0)", 0, 0},
		{"one of a case", "SELECT CASE now() WHEN repeat('1', 20000) THEN 1 END", 0, 0},
		{"one for a column", "INSERT INTO test.days VALUES (repeat('1', 20000))", 1366, 1146},
		{"one that is the answer, too", "SELECT nullif(repeat('1', 20000), now())", 1292, 1292},
		{"one that is compared with a subquery", "SELECT nullif(repeat('1', 20000) IN (SELECT now()), 0)", 0, 0},
		{"one of a subquery", "SELECT now() IN (SELECT repeat('1', 20000))", 1235, 1235},
		{"one that is joined with", "SELECT 1 FROM (SELECT now() a) t JOIN (SELECT repeat('1', 20000) b) u ON a = b", 0,
			0},
		{"what is evaluated twice", "SELECT " + many("nullif(", 60) + "1" + many(", 2)", 60), 1436, 1436},
		{"lpad", "SELECT length(lpad('x', 2000000000, 'y'))", 0, 0},
		{"rpad", "SELECT length(rpad('x', 2000000000, 'y'))", 0, 0},
		{"concat", "SELECT length(concat(repeat('x', 3000000), repeat('x', 3000000)))", 0, 0},
		{"replace", "SELECT length(replace(repeat('x', 60000), 'x', repeat('y', 60000)))", 0, 0},
		{"regexp_replace", "SELECT length(regexp_replace(repeat('x', 60000), 'x', repeat('y', 60000)))", 0, 0},
		{"hex", "SELECT length(hex(repeat('x', 4000000)))", 0, 0},
		{"a cast", "SELECT length(CAST('x' AS BINARY(2000000000)))", 3170, 3170},
		{"many values in a row", "SELECT repeat('x', 3000000)" + many(", repeat('x', 3000000)", 200), 3170, 0},
		{"a join", "SELECT count(*) FROM " + cross(12), 1104, 1473},
		{"a sort", "SELECT repeat('x', 100000) v FROM " + cross(4) + " ORDER BY v", 3170, 1473},
		{"group_concat", "SELECT length(group_concat(repeat('x', 100000))) FROM " + cross(4), 3170, 1473},
		{"a long value in many columns", "SELECT s" + many(", s", 100) + " FROM (SELECT repeat('x', 1000000) s) t",
			1153, 0},
		{"casts of a long value", "SELECT 1" + many(" + length(CAST(s AS BINARY))", 100) +
			" FROM (SELECT repeat('x', 4000000) s) t", 3170, 0},
		{"json_arrayagg", "SELECT nullif(length(json_arrayagg(CAST(b1 AS BINARY(500000)))), 0) FROM " + cross(4), 3170,
			3170},
		{"json_arrayagg by groups", "SELECT nullif(length(json_arrayagg(CAST(b1 AS BINARY(500000)))), 0) FROM " +
			cross(4) + " GROUP BY b2", 3170, 3170},
		{"json_objectagg", "SELECT nullif(length(json_objectagg(rand(), CAST(b1 AS BINARY(500000)))), 0) FROM " +
			cross(4), 3170, 3170},
		{"group_concat of casts", "SELECT length(group_concat(CAST(b1 AS BINARY(500000)) ORDER BY a)) FROM " + cross(4),
			3170, 3170},
		{"windows that grow", "SELECT length(json_arrayagg(b1) OVER (ORDER BY rand())) FROM " + cross(5), 3170, 1473},
		{"windows of long values", "SELECT max(CAST(b1 AS BINARY(500000))) OVER (PARTITION BY rand()) FROM " + cross(4),
			3170, 3170},
		{"text of JSON", "SELECT nullif(CAST(json_array(repeat(char(1), 900000)) AS CHAR), '[null]')", 3170, 0},
		{"JSON that is parsed", "SELECT json_valid(concat('[', repeat('[],', 100000), '1]'))", 3170, 0},
		{"JSON that is cast", "SELECT length(CAST(concat('[', repeat('[],', 100000), '1]') AS JSON))", 3170, 0},
		{"a table of JSON", "SELECT nullif(count(*), 0) FROM json_table(concat('[', repeat('[],', 100000), '1]'), " +
			"'$[*]' COLUMNS (x INT PATH '$')) t", 3170, 0},
		{"what is split", "SELECT find_in_set('q', repeat('x,', 1000000))", 3170, 0},
		{"distinct", "SELECT count(*) FROM (SELECT DISTINCT concat(a, b1, b2, b3, b4, b5, rand()) FROM " + cross(8) +
			") x", 3170, 1473},
	}...) {
		for user, want := range map[string]int{"boss": c.boss, "nobody": c.nobody} {
			config := driver.NewConfig()
			config.User, config.Passwd, config.Net, config.Addr = user, user+"-secret", "tcp", r.addr
			config.MaxAllowedPacket = 64 << 20
			conn := r.connectTo(config)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if len(c.statement) > 64<<10 && user == "nobody" {
				want = 1153
			}
			number, value := ask(t, conn, c.statement)
			runtime.ReadMemStats(&after)
			if number != want || want == 0 && value != nil {
				t.Errorf("%s: %s is answered with error %d and %.40s, want error %d", user, c.name, number,
					fmt.Sprint(value), want)
			}
			if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 256 {
				t.Errorf("%s: %s took %d MiB", user, c.name, made)
			}
			if want != 1153 {
				if _, one := ask(t, conn, "SELECT 1"); fmt.Sprint(one) != "1" {
					t.Errorf("%s: after %s the connection answers %v", user, c.name, one)
				}
				if _, err := conn.PrepareContext(t.Context(), c.statement); want == 1436 && errorNumber(err) != want {
					t.Errorf("%s: %s is prepared: %v", user, c.name, err)
				}
			}
			conn.Close()
		}
	}
}

// endless is a join that takes longer than any test, of rows that no table of ours has.
var endless = func() string {
	q := "SELECT count(*) FROM (SELECT 1 a UNION ALL SELECT 2) t0"
	for i := range 40 {
		q += fmt.Sprintf(", (SELECT 1 b%d UNION ALL SELECT 2) t%d", i+1, i+1)
	}
	return q
}()

func TestAStatementEndsWithItsClient(t *testing.T) {
	r := newRig(t, Config{MaxJoinSize: 1 << 60}, nil)
	c := r.dialRaw()
	c.write(0, append([]byte{3}, endless...))
	running := func() bool {
		for _, p := range r.door.processes.Processes() {
			if p.Command == gms.ProcessCommandQuery {
				return true
			}
		}
		return false
	}
	r.until("it runs", running)
	c.conn.Close()
	r.until("it has ended", func() bool { return !running() })
}

func TestAStatementEndsWhenItsTimeIsOver(t *testing.T) {
	r := newRig(t, Config{MaxJoinSize: 1 << 60, StatementTimeout: 300 * time.Millisecond}, nil)
	r.makeJobs(0)
	c := r.connect("")
	if number, _ := ask(t, c, endless); number != 3024 {
		t.Errorf("error %d", number)
	}
	if number, _ := ask(t, c, "SELECT sleep(3600)"); number != 3024 {
		t.Errorf("sleep: error %d", number)
	}
	// A wait for a row has a time-out of its own, on both paths.
	for _, wait := range []string{"SELECT queue_wait('jobs', 1)", "SELECT queue_wait('jobs', 1) + 0"} {
		if number, value := ask(t, c, wait); number != 0 || fmt.Sprint(value) != "0" {
			t.Errorf("%s: error %d, %v", wait, number, value)
		}
	}
	own := newRig(t, Config{MaxJoinSize: 1 << 60}, nil).connect("")
	exec(t, own, "SET max_execution_time = 300")
	if number, _ := ask(t, own, endless); number != 3024 {
		t.Errorf("max_execution_time of the connection: error %d", number)
	}
}

// TestMaxAllowedPacketIsWhatItSays: the variable, and what is let in.
func TestMaxAllowedPacketIsWhatItSays(t *testing.T) {
	const limit = 1 << 20
	r := newRig(t, Config{MaxPacketBytes: limit}, nil)
	c := r.connect("maxAllowedPacket=67108864")
	one(t, c, int64(limit), "SELECT @@max_allowed_packet")
	head := "SELECT length('"
	fits := head + strings.Repeat("x", limit-1-len(head)-2) + "')" // a byte is the command
	if number, _ := ask(t, c, fits); number != 0 {
		t.Errorf("what fits: error %d", number)
	}
	exec(t, c, "SET @same = 1")
	if number, _ := ask(t, c, fits+" "); number != 1153 {
		t.Errorf("a byte more: error %d", number)
	}
	one(t, c, int64(1), "SELECT @same") // the connection goes on
	if _, err := c.PrepareContext(t.Context(), fits+" "); errorNumber(err) != 1153 {
		t.Errorf("a byte more, prepared: %v", err)
	}
	one(t, c, int64(1), "SELECT @same")
	if number, _ := ask(t, c, "SELECT '"+strings.Repeat("x", 20<<20)+"'"); number != 1153 { // of two packets
		t.Errorf("much more: error %d", number)
	}
	one(t, c, int64(1), "SELECT @same")
	r.until("all bytes are given back", func() bool { return r.door.budget.Used() == 0 })
}

// TestValuesSentInPiecesAreBounded: no answer tells a client that a piece arrived.
func TestValuesSentInPiecesAreBounded(t *testing.T) {
	r := newRig(t, Config{MaxPacketBytes: 1 << 20}, nil)
	c := r.dialRaw()
	c.write(0, []byte("\x16SELECT length(?)"))
	first, err := c.read()
	if err != nil || first[0] != 0 {
		t.Fatalf("prepare: %q, %v", first, err)
	}
	for range 4 { // the parameter, the column, and the ends of both
		if _, err := c.read(); err != nil {
			t.Fatal(err)
		}
	}
	piece := append([]byte{0x18, first[1], first[2], first[3], first[4], 0, 0}, make([]byte, 100<<10)...)
	for range 11 {
		c.write(0, piece)
	}
	execute := []byte{0x17, first[1], first[2], first[3], first[4], 0, 1, 0, 0, 0, 0, 1, 0xfc, 0}
	c.write(0, execute)
	if answer, err := c.read(); err != nil || answer[0] != 0xff || int(answer[1])|int(answer[2])<<8 != 1153 {
		t.Errorf("answered with %.60q, %v", answer, err)
	}
	c.want("SELECT 'on'", "on") // the connection goes on
	c.write(0, piece[:7+5])
	c.write(0, execute)
	if answer, err := c.read(); err != nil || answer[0] != 1 {
		t.Errorf("what fits is answered with %.60q, %v", answer, err)
	}
	for {
		row, err := c.read()
		if err != nil {
			t.Fatal(err)
		}
		// nothing of what was too much is left
		if row[0] == 0 && len(row) == 10 && binary.LittleEndian.Uint64(row[2:]) != 5 {
			t.Errorf("the value has %d bytes", binary.LittleEndian.Uint64(row[2:]))
		}
		if row[0] == 0 {
			break
		}
	}
	r.until("all bytes are given back", func() bool { return r.door.budget.Used() == 0 })
}

func TestVariablesOfAConnectionAreBounded(t *testing.T) {
	r := newRig(t, Config{MaxPacketBytes: 1 << 20}, nil)
	c := r.connect("")
	exec(t, c, "SET @a = repeat('x', 700000)")
	exec(t, c, "SET @A = repeat('y', 700000)") // in its place
	if _, err := c.ExecContext(t.Context(), "SET @b = repeat('x', 700000)"); errorNumber(err) != 3170 {
		t.Errorf("a second of the same size: %v", err)
	}
	one(t, c, int64(700000), "SELECT length(@a)")
	exec(t, c, "SET @a = NULL")
	exec(t, c, "SET @b = repeat('x', 700000)")
}
