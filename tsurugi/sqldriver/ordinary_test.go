package sqldriver_test

import (
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/sqldriver"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// The server refuses a placeholder whose type is not one that it converts to the column's: a TIMESTAMP WITH TIME ZONE
// for a TIMESTAMP, a DOUBLE for a DECIMAL. So the driver takes the column's.
func TestValuesOfGoGoIntoTheColumnsOfATable(t *testing.T) {
	t.Parallel()
	columns := "id INT PRIMARY KEY, stamp TIMESTAMP, zoned TIMESTAMP WITH TIME ZONE, born DATE, clock TIME, price " +
		"DECIMAL(10,2), level DOUBLE, small REAL, big BIGINT, name VARCHAR(40), data VARBINARY(40)"
	db := open(t, "hikyaku_sql_ordinary", columns)
	moment := time.Date(2026, 1, 2, 23, 4, 5, 600, time.FixedZone("", 9*60*60))
	const insert = "INSERT INTO hikyaku_sql_ordinary (id, stamp, zoned, born, clock, price, level, small, big, name, " +
		"data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	for i, args := range [][]any{
		{1, moment, moment, moment, moment, 12.5, 0.5, 0.1, 5, []byte("text"), []byte{1}},
		{2, "2026-01-02 23:04:05.0000006", "2026-01-02T23:04:05.0000006+09:00", "2026-01-02", "23:04:05.0000006",
			"12.50", "0.5", float32(0.1), "5", "text", "\x01"},
		{3, tsurugi.TimePoint(moment), moment, tsurugi.Date(moment), tsurugi.TimeOfDay(moment),
			tsurugi.Decimal(1250, -2), float32(0.5), 0.1, 5.0, "text", []byte{1}},
		{"4", nil, nil, nil, nil, nil, nil, nil, nil, nil, nil},
	} {
		if _, err := db.ExecContext(t.Context(), insert, args...); err != nil {
			t.Fatalf("row %d: %v", i+1, err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE hikyaku_sql_ordinary SET stamp = ?, price = ? WHERE id = ?",
		moment, 12.5, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT OR IGNORE INTO hikyaku_sql_ordinary VALUES (?, ?, ?, ?, ?, ?, "+
		"?, ?, ?, ?, ?)", 1, moment, moment, moment, moment, 1.5, 1, 1, 1, "x", "y"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE HIKYAKU_sql_ordinary SET Price = ? WHERE ID = ?", 12.5,
		"2"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		where string
		arg   any
	}{
		{"stamp = ?", moment},
		{"? <= stamp", moment},
		{"stamp = ?", "2026-01-02T23:04:05.0000006"},
		{"zoned = ?", moment.UTC()},
		{"born = ?", moment},
		{"clock = ?", moment},
		{"price = ?", 12.5},
		{"price = ?", "12.5"},
		{"level = ?", "0.5"},
		{"small = ?", 0.1},
		{"name = ?", []byte("text")},
	} {
		rows, err := db.QueryContext(t.Context(), "SELECT id FROM hikyaku_sql_ordinary WHERE "+c.where+" ORDER BY id",
			c.arg)
		if err != nil {
			t.Errorf("%s of a %T: %v", c.where, c.arg, err)
			continue
		}
		var ids []int
		for rows.Next() {
			var id int
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		if err := rows.Close(); err != nil || !slices.Equal(ids, []int{1, 2, 3}) {
			t.Errorf("%s of a %T: %v, %v", c.where, c.arg, ids, err)
		}
	}
	for _, args := range [][]any{
		{5, "soon", nil, nil, nil, nil, nil, nil, nil, nil, nil},
		{5, nil, "2026-01-02 03:04:05", nil, nil, nil, nil, nil, nil, nil, nil}, // whose clock?
		{5, nil, nil, nil, nil, "much", nil, nil, nil, nil, nil},
		{5, nil, nil, nil, nil, nil, nil, nil, nil, []byte{0xff}, nil},
	} {
		if _, err := db.ExecContext(t.Context(), insert, args...); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}

// A table that was made anew, by whomever, is written outside transactions without an error; in one the second try is.
func TestATableMadeAnewIsWritten(t *testing.T) {
	t.Parallel()
	db := open(t, "hikyaku_sql_anew", "id INT PRIMARY KEY, price DECIMAL(10,2)")
	db.SetMaxOpenConns(1)
	const insert = "INSERT INTO hikyaku_sql_anew VALUES (?, ?)"
	for _, columns := range []string{"id INT PRIMARY KEY, price DECIMAL(10,2)", "id INT PRIMARY KEY, price TIMESTAMP"} {
		var price any = 12.5
		if _, err := db.ExecContext(t.Context(), insert, 1, price); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{"DROP TABLE hikyaku_sql_anew",
			"CREATE TABLE hikyaku_sql_anew (" + columns + ")"} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := db.ExecContext(t.Context(), insert, 1, time.Now()); err != nil {
		t.Error(err)
	}
}

// Where the server does not take a column's type, it is asked with the argument's own, once.
func TestAnArgumentsOwnTypeIsTriedToo(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	connector, err := sqldriver.NewConnector(server.Endpoint(), tsurugi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE own (id INT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	refusal := tsurugitest.Fail(int(tsurugi.CodeTypeAnalyze), "as the test wants it")
	server.On(tsurugitest.Once(tsurugitest.Prepare, refusal))
	if _, err := db.ExecContext(t.Context(), "INSERT INTO own VALUES (?)", 1); err != nil {
		t.Error(err)
	}
	server.On(tsurugitest.Times(tsurugitest.Prepare, 3, refusal))
	var e *tsurugi.Error
	if _, err := db.ExecContext(t.Context(), "INSERT INTO own (id) VALUES (?)", 2); !errors.As(err, &e) {
		t.Error(err)
	}
	if n := server.Count("own"); n != 1 {
		t.Errorf("%d rows", n)
	}
}
