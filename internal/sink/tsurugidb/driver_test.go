package tsurugidb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// fresh is a server with an empty table t of a key and a number, a driver for it, a session and the table.
func fresh(t *testing.T, cfg tsurugitest.Config, typ tsurugi.TxType) (*tsurugitest.Server, *driver, rows.Session,
	*rows.Table) {
	t.Helper()
	server := tsurugitest.Start(t, cfg)
	do(t, server, doubles("t", 1))
	d := newDriver(server.Endpoint(), typ)
	s := open(t, d)
	return server, d, s, describeTable(t, s, "t")
}

func TestAnyNumberOfRowsIsWritten(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 3, 50, 5000} {
		server, _, s, table := fresh(t, tsurugitest.Config{MaxRows: most}, tsurugi.OCC)
		total := 0
		for _, n := range []int{1, 2, 3, 4, 5, 63, 64, 65, 599, 600, 601, 1234} {
			if err := s.Write(t.Context(), numbered(table, rows.Insert, total, n)); err != nil {
				t.Fatalf("%d rows to a server that takes %d: %v", n, most, err)
			}
			if total += n; server.Count("t") != total {
				t.Fatalf("after %d rows to a server that takes %d there are %d, not %d", n, most, server.Count("t"),
					total)
			}
		}
		if err := s.Write(t.Context(), numbered(table, rows.Insert, 0, 0)); err != nil {
			t.Errorf("no rows: %v", err)
		}
	}
}

func TestWhereLongStatementsAreRefusedShorterOnesArePipelined(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 50} {
		server, d, s, table := fresh(t, tsurugitest.Config{MaxRows: most}, tsurugi.OCC)
		if err := s.Write(t.Context(), numbered(table, rows.Insert, 0, 1000)); err != nil {
			t.Fatal(err)
		}
		// What was learned holds for every session.
		other := open(t, d)
		before := server.Stats()
		for i := range 10 {
			if err := other.Write(t.Context(), numbered(table, rows.Insert, 1000+i*1000, 1000)); err != nil {
				t.Fatal(err)
			}
		}
		after := server.Stats()
		if n := int(after.Rows - before.Rows); n != 10_000 {
			t.Errorf("%d rows were written", n)
		}
		if n := int(after.Statements - before.Statements); n > 10_000*3/most && most > 1 {
			t.Errorf("10,000 rows to a server that takes %d took %d statements", most, n)
		}
		if n := after.Commits - before.Commits; n != 10 {
			t.Errorf("%d commits", n)
		}
		if waits := after.Waits - before.Waits; waits > 10_000/4 {
			t.Errorf("the server waited %d times for the next of %d statements", waits,
				after.Statements-before.Statements)
		}
	}
}

func TestAShortStatementThatIsRefusedDoesNotMakeOthersShort(t *testing.T) {
	t.Parallel()
	server, d, s, table := fresh(t, tsurugitest.Config{}, tsurugi.OCC)
	server.On(func(r tsurugitest.Request) tsurugitest.Action {
		if r.Kind == tsurugitest.Prepare {
			return tsurugitest.Fail(int(tsurugi.CodeSyntax), "the test does not like it")
		}
		return tsurugitest.Action{}
	})
	err := s.Write(t.Context(), numbered(table, rows.Insert, 0, 1000))
	if f := d.Judge(err); f.Class != rows.Refused {
		t.Errorf("it is %v: %v", f, err)
	}
	server.On(nil)
	before := server.Stats().Statements
	if err := s.Write(t.Context(), numbered(table, rows.Insert, 0, 600)); err != nil {
		t.Fatal(err)
	}
	if n := server.Stats().Statements - before; n != 1 {
		t.Errorf("600 rows took %d statements", n)
	}
}

func TestTheRowThatIsToBlameIsNamed(t *testing.T) {
	t.Parallel()
	for _, typ := range []tsurugi.TxType{tsurugi.OCC, tsurugi.LTX} {
		server, d, s, table := fresh(t, tsurugitest.Config{}, typ)
		if err := s.Write(t.Context(), numbered(table, rows.Insert, 5000, 1)); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []int{0, 1, 599, 600, 998, 999} {
			err := s.Write(t.Context(), numbered(table, rows.Insert, 5000-bad, 1000))
			f := d.Judge(err)
			if f.Class != rows.BadRow || f.Row != bad || f.Broken ||
				!strings.Contains(err.Error(), "Unique constraint violation") {
				t.Errorf("row %d of 1,000: %+v: %v", bad, f, err)
			}
		}
		// A key that stands twice within the block, far apart.
		twice := numbered(table, rows.Insert, 0, 1000)
		twice.Values[2*900] = rows.IntOf(3)
		if f := d.Judge(s.Write(t.Context(), twice)); f.Class != rows.BadRow || f.Row != 900 {
			t.Errorf("a key that is there twice: %+v", f)
		}
		if n := server.Count("t"); n != 1 {
			t.Errorf("%d rows", n)
		}
	}
}

func TestModesSayWhatBecomesOfAKeyThatIsThere(t *testing.T) {
	t.Parallel()
	server, d, s, table := fresh(t, tsurugitest.Config{}, tsurugi.OCC)
	do(t, server, "INSERT INTO t VALUES (2, 100)")
	for _, c := range []struct {
		mode rows.Mode
		want string
	}{{rows.Once, "100"}, {rows.Upsert, "0.2857142857142857"}} {
		b := numbered(table, c.mode, 0, 5)
		b.Key = table.Columns[:1]
		if err := s.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if found := query(t, server, "SELECT value1 FROM t WHERE id = 2"); len(found) != 1 || found[0] != c.want ||
			server.Count("t") != 5 {
			t.Errorf("%v: %q", c.mode, found)
		}
	}
	if f := d.Judge(s.Write(t.Context(), numbered(table, rows.Insert, 0, 5))); f.Class != rows.BadRow || f.Row != 0 {
		t.Errorf("insert: %+v", f)
	}
}

func TestManyShapesAreBounded(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	do(t, server, doubles("t", 40))
	d := newDriver(server.Endpoint(), tsurugi.OCC)
	s := open(t, d)
	table := describeTable(t, s, "t")
	for round := range 3 {
		for c := range 40 {
			columns := table.Columns[:c+1]
			b := &rows.Block{Table: table, Columns: columns, Mode: rows.Once}
			for k := range columns {
				if k == 0 {
					b.Values = append(b.Values, rows.IntOf(int64(round*40+c)))
					continue
				}
				b.Values = append(b.Values, rows.FloatOf(1))
			}
			if err := s.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(s.(*session).shapes.list); n > mostShapes {
		t.Errorf("%d shapes are kept", n)
	}
	if n := server.Count("t"); n != 120 {
		t.Errorf("%d rows", n)
	}
}

func TestATableOfAnotherShapeIsDrift(t *testing.T) {
	t.Parallel()
	server, d, s, table := fresh(t, tsurugitest.Config{}, tsurugi.OCC)
	write := func() rows.Fault {
		t.Helper()
		err := s.Write(t.Context(), numbered(table, rows.Once, 0, 10))
		if err == nil {
			return rows.Fault{Class: rows.Class(255)}
		}
		return d.Judge(err)
	}
	if f := write(); f.Class != 255 {
		t.Fatalf("%+v", f)
	}
	for _, change := range []string{"CREATE TABLE t (id BIGINT PRIMARY KEY, other DOUBLE)",
		"CREATE TABLE t (id BIGINT PRIMARY KEY, value1 VARCHAR(10))"} {
		do(t, server, "DROP TABLE t", change)
		if f := write(); f.Class != rows.Drift || f.Broken {
			t.Errorf("%s: %+v", change, f)
		}
	}
	do(t, server, "DROP TABLE t")
	if f := write(); f.Class != rows.Drift && f.Class != rows.NoTable {
		t.Errorf("dropped: %+v", f)
	}
	_, err := s.Describe(t.Context(), table.Name)
	if f := d.Judge(err); f.Class != rows.NoTable || f.Broken {
		t.Errorf("describing it: %+v", f)
	}
	do(t, server, doubles("t", 1))
	table = describeTable(t, s, "t")
	if f := write(); f.Class != 255 {
		t.Errorf("made anew: %+v", f)
	}
}

func TestATableIsMadeOfWhatAPersonWroteOrOfKinds(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	d := newDriver(server.Endpoint(), tsurugi.LTX)
	s := open(t, d)
	written := &rows.Table{Name: rows.Name{`odd "name"; DROP`}, Columns: []rows.Column{
		{Name: "id", Native: "bigint primary key", Key: true}, {Name: "a.b", Native: "varchar(10) not null"},
		{Name: "select", Native: "decimal(10, 2)", Nullable: true},
	}}
	kinds := &rows.Table{Name: rows.Name{"public", "kinds"}}
	for k := rows.Bool; k <= rows.JSON; k++ {
		kinds.Columns = append(kinds.Columns, rows.Column{Name: "C " + k.String(), Kind: k, Nullable: true})
	}
	kinds.Columns = append(kinds.Columns, rows.Column{Name: "k", Kind: rows.Text, Key: true},
		rows.Column{Name: "n", Kind: rows.Uint, Bits: 32})
	for table, want := range map[*rows.Table]string{
		written: `id BIGINT key; a.b VARCHAR(10) not null; select DECIMAL(10, 2)`,
		kinds: `C bool INT; C integer BIGINT; C unsigned integer DECIMAL(20, 0); C float DOUBLE; C decimal DECIMAL(38, 0); C text VARCHAR(*); C bytes VARBINARY(*); C date DATE; C time of day TIME; ` +
			`C timestamp TIMESTAMP; C timestamp with time zone TIMESTAMP WITH TIME ZONE; C uuid VARCHAR(36); C json VARCHAR(*); k VARCHAR(1024) key; n BIGINT not null`,
	} {
		for range 2 { // it is no error if it is there
			if err := s.Create(t.Context(), table); err != nil {
				t.Fatal(err)
			}
		}
		made, err := s.Describe(t.Context(), table.Name)
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, c := range made.Columns {
			text := c.Name + " " + c.Native
			switch {
			case c.Key:
				text += " key"
			case !c.Nullable:
				text += " not null"
			}
			parts = append(parts, text)
		}
		if got := strings.Join(parts, "; "); got != want {
			t.Errorf("%v is\n%s\nnot\n%s", table.Name, got, want)
		}
	}
	broken := &rows.Table{Name: rows.Name{"x"}, Columns: []rows.Column{{Name: "a", Native: "nonsense"}}}
	if err := s.Create(t.Context(), broken); d.Judge(err).Class != rows.Refused {
		t.Errorf("a type that there is not: %v", err)
	}
}

// TestWhatAnErrorMeans asks about errors that a server for tests does not give by itself.
func TestWhatAnErrorMeans(t *testing.T) {
	t.Parallel()
	d := newDriver("tcp://nowhere", tsurugi.OCC)
	server := func(c tsurugi.Code) error { return fmt.Errorf("while writing: %w", &tsurugi.Error{Code: c}) }
	for _, c := range []struct {
		err    error
		class  rows.Class
		broken bool
	}{
		{server(tsurugi.CodeOCCRead), rows.Conflict, false},
		{server(tsurugi.CodeBlockedByHighPriorityTransaction), rows.Conflict, false},
		{server(tsurugi.CodeInactiveTransaction), rows.Conflict, false},
		{server(tsurugi.CodeValueTooLong), rows.BadRow, false},
		{server(tsurugi.CodeSQLLimitReached), rows.BadRow, false},
		{server(tsurugi.CodeStatementNotFound), rows.Drift, false},
		{server(tsurugi.CodePermissionError), rows.Refused, false},
		{server(tsurugi.CodeLTXWriteOperationWithoutWritePreserve), rows.Refused, false},
		{server(tsurugi.CodeIOError), rows.Away, false},
		{server(tsurugi.CodeOutOfMemory), rows.Away, false},
		{server(tsurugi.CodeTransactionExceededLimit), rows.Away, false},
		{server(tsurugi.CodeSQLExecution), rows.Away, false},
		{server(tsurugi.CodeSessionExpired), rows.Away, true},
		{&tsurugi.CommitUnknownError{Err: errors.New("lost")}, rows.Unknown, true},
		{&tsurugi.CommitUnknownError{Err: server(tsurugi.CodeSessionClosed)}, rows.Unknown, true},
		{&tsurugi.LostError{Err: errors.New("lost")}, rows.Away, true},
		{fmt.Errorf("%w: text", tsurugi.ErrParams), rows.BadRow, false},
		{tsurugi.ErrMalformed, rows.Away, true},
		{context.DeadlineExceeded, rows.Away, true},
		{&failure{err: server(tsurugi.CodeValueTooLong), row: 7, broken: true}, rows.BadRow, true},
	} {
		f := d.Judge(c.err)
		want := -1
		if c.class == rows.BadRow && c.broken {
			want = 7
		}
		if f.Class != c.class || f.Broken != c.broken || f.Row != want {
			t.Errorf("%v is %+v", c.err, f)
		}
	}
}
