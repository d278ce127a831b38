package sqldriver_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/sqldriver"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// open opens a database on the server that TSURUGI_ENDPOINT names, or on one for tests, with a table of the test's own.
func open(t *testing.T, table, columns string) *sql.DB {
	t.Helper()
	endpoint := os.Getenv("TSURUGI_ENDPOINT")
	if endpoint == "" {
		endpoint = tsurugitest.Start(t, tsurugitest.Config{}).Endpoint()
	}
	connector, err := sqldriver.NewConnector(endpoint, tsurugi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, statement := range []string{"DROP TABLE IF EXISTS " + table,
		"CREATE TABLE " + table + " (" + columns + ")"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func TestStatementsAndQueriesTakeArguments(t *testing.T) {
	t.Parallel()
	db := open(t, "hikyaku_sql_arguments", "id BIGINT PRIMARY KEY, name VARCHAR(20), level DOUBLE, price "+
		"DECIMAL(10,2), data VARBINARY(10), moment TIMESTAMP WITH TIME ZONE, born DATE")
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	price, err := tsurugi.ParseDecimal("12.50")
	if err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO hikyaku_sql_arguments VALUES (?, ?, ?, ?, ?, ?, ?)"
	res, err := db.ExecContext(t.Context(), insert, 1, "o'ne?", 0.5, price, []byte{1, 2}, at, tsurugi.Date(at))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); n != 1 || err != nil {
		t.Error(n, err)
	}
	if _, err := db.ExecContext(t.Context(), insert, 2, nil, nil, nil, nil, nil, sql.NullTime{}); err != nil {
		t.Fatal(err)
	}
	var (
		id       int64
		name     string
		level    float64
		decimal  string
		data     []byte
		got, day time.Time
	)
	row := db.QueryRowContext(t.Context(), "SELECT * FROM hikyaku_sql_arguments WHERE id = :id AND name <> '?'",
		sql.Named("id", 1))
	if err := row.Scan(&id, &name, &level, &decimal, &data, &got, &day); err != nil {
		t.Fatal(err)
	}
	if id != 1 || name != "o'ne?" || level != 0.5 || decimal != "12.50" || !slices.Equal(data, []byte{1, 2}) ||
		!got.Equal(at) || day.Format(time.DateOnly) != "2026-01-02" {
		t.Error(id, name, level, decimal, data, got, day)
	}
	var nothing sql.NullString
	if err := db.QueryRowContext(t.Context(), "SELECT name FROM hikyaku_sql_arguments WHERE id = ?",
		2).Scan(&nothing); err != nil || nothing.Valid {
		t.Error(nothing, err)
	}
	if err := db.QueryRowContext(t.Context(), "SELECT name FROM hikyaku_sql_arguments WHERE id = ?",
		3).Scan(&nothing); !errors.Is(err, sql.ErrNoRows) {
		t.Error(err)
	}
}

func TestTransactionsCommitAndRollBack(t *testing.T) {
	t.Parallel()
	db := open(t, "hikyaku_sql_transactions", "id BIGINT PRIMARY KEY")
	for id, end := range map[int]func(*sql.Tx) error{1: (*sql.Tx).Commit, 2: (*sql.Tx).Rollback} {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		st, err := tx.PrepareContext(t.Context(), "INSERT INTO hikyaku_sql_transactions VALUES (?)")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if _, err := st.ExecContext(t.Context(), id*100+i); err != nil {
				t.Fatal(err)
			}
		}
		var n int
		if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM hikyaku_sql_transactions WHERE id >= ?",
			id*100).Scan(&n); err != nil || n != 10 {
			t.Errorf("the transaction sees %d rows of its own (%v)", n, err)
		}
		if err := end(tx); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM hikyaku_sql_transactions").Scan(&n); err != nil ||
		n != 10 {
		t.Errorf("%d rows (%v)", n, err)
	}
	readOnly, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelSerializable})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readOnly.ExecContext(t.Context(), "DELETE FROM hikyaku_sql_transactions"); err == nil {
		t.Error("a read-only transaction writes")
	}
	if err := readOnly.Rollback(); err != nil {
		t.Error(err)
	}
	if _, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelLinearizable}); err == nil {
		t.Error("an isolation level that there is not")
	}
}

func TestAServerThatWasRestartedIsFoundAgain(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	connector, err := sqldriver.NewConnector(server.Endpoint(), tsurugi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for range 3 {
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended := sessionOf(t, db)
		server.KillSessions()
		<-ended
	}
}

// sessionOf is closed when the session that the database uses has ended.
func sessionOf(t *testing.T, db *sql.DB) <-chan struct{} {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var ended <-chan struct{}
	err = c.Raw(func(conn any) error {
		ended = conn.(interface{ Done() <-chan struct{} }).Done()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

func TestErrorsAreTheClients(t *testing.T) {
	t.Parallel()
	db := open(t, "hikyaku_sql_errors", "id BIGINT PRIMARY KEY")
	const insert = "INSERT INTO hikyaku_sql_errors VALUES (?)"
	if _, err := db.ExecContext(t.Context(), insert, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), insert, 1); !tsurugi.IsConstraint(err) {
		t.Error(err)
	}
	if _, err := db.ExecContext(t.Context(), insert); err == nil {
		t.Error("a placeholder without a value")
	}
	if _, err := db.ExecContext(t.Context(), insert, struct{}{}); err == nil {
		t.Error("a value that is none")
	}
	if _, err := db.QueryContext(t.Context(), "SELECT x FROM hikyaku_sql_errors"); err == nil {
		t.Error("a column that is not there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.ExecContext(ctx, insert, 2); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDataSourceNamesAreRead(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{Users: map[string]string{"me": "secret"},
		Tokens: map[string]string{"t": "robot"}})
	var d sqldriver.Driver
	for _, name := range []string{"tcp://me:secret@" + server.Address() +
		"?label=x&application=y&timeout=5s&keepalive=1m", server.Endpoint() + "?token=t"} {
		c, err := d.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if !c.(driver.Validator).IsValid() {
			t.Error("a session that is not valid")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"postgres://x", "tcp://", "tcp://x?colour=red", "tcp://x?timeout=soon", "tcp://%"} {
		if _, err := d.OpenConnector(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if _, err := d.Open("tcp://me:wrong@" + server.Address()); err == nil {
		t.Error("another password lets in")
	}
}
