package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
)

// TestAnErrorBehindRowsIsTold: as with MySQL the client gets the rows that were made, then the error, and the
// connection goes on. The library would end it.
func TestAnErrorBehindRowsIsTold(t *testing.T) {
	r := newRig(t, Config{MaxJoinSize: 10_000}, nil)
	conn := r.connect("multiStatements=true")
	exec(t, conn, "set @mine = 7")
	const many = "with recursive r as (select 1 n union all select n + 1 from r where n < 900) " +
		"select a.n, 'x' from r a, r b"
	for name, c := range map[string]struct {
		statement string
		code      uint16
		args      []any
	}{
		"text":             {many, erTooBigSelect, nil},
		"prepared":         {many + " where a.n > ?", erTooBigSelect, []any{0}},
		"the first of two": {many + "; set @mine = 8", erTooBigSelect, nil},
		"a value": {"with recursive r as (select 1 n union all select n + 1 from r where n < 900) " +
			"select cast(n as json), json_extract(if(n = 800, '{', '{}'), '$.a') from r", 3141, nil},
	} {
		rows, err := conn.QueryContext(t.Context(), c.statement, c.args...)
		if err != nil {
			t.Errorf("%s: nothing came before %v", name, err)
			continue
		}
		n := 0
		for rows.Next() {
			n++
		}
		var known *driver.MySQLError
		if err := rows.Err(); n == 0 || !errors.As(err, &known) || known.Number != c.code {
			t.Errorf("%s: %d rows, then %v", name, n, err)
		}
		if rows.NextResultSet() {
			t.Errorf("%s: another result follows", name)
		}
		rows.Close()
		var mine int
		if err := conn.QueryRowContext(t.Context(), "select @mine").Scan(&mine); err != nil || mine != 7 {
			t.Fatalf("%s: the connection has %d: %v", name, mine, err)
		}
	}
}

// TestAKilledStatementIsToldSoBehindItsRows: KILL QUERY ends what the client reads, not its connection.
func TestAKilledStatementIsToldSoBehindItsRows(t *testing.T) {
	r := newRig(t, Config{}, nil)
	conn, other := r.connect(""), r.connect("")
	var id int
	if err := conn.QueryRowContext(t.Context(), "select connection_id()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rows, err := conn.QueryContext(ctx, "with recursive r as (select 1 n union all select n + 1 from r "+
		"where n < 900) select a.n, ? from r a, r b", strings.Repeat("x", 1000))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; rows.Next(); n++ {
		if n == 0 {
			if _, err := other.ExecContext(t.Context(), fmt.Sprint("kill query ", id)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var known *driver.MySQLError
	if err := rows.Err(); !errors.As(err, &known) || known.Number != erInterrupted {
		t.Errorf("%d rows, then %v", n, err)
	}
	rows.Close()
	if err := conn.PingContext(t.Context()); err != nil {
		t.Error(err)
	}
}
