package sqldriver_test

import (
	"bytes"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/sqldriver"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// objects opens a database that has a table with large objects.
func objects(t *testing.T, options string) *sql.DB {
	t.Helper()
	server := tsurugitest.Start(t, tsurugitest.Config{Relay: true})
	connector, err := sqldriver.Driver{}.OpenConnector(server.Endpoint() + options)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (id INT PRIMARY KEY, b BLOB, c CLOB)"); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestLargeObjectsAreBytesAndText(t *testing.T) {
	t.Parallel()
	db := objects(t, "?relay=true")
	const insert = "INSERT INTO t (id, b, c) VALUES (?, ?, ?)"
	big := bytes.Repeat([]byte{0, 0xff}, 2_000_000)
	for i, args := range [][]any{{1, big, strings.Repeat("é", 2_000_000)}, {2, []byte{}, []byte("c")}, {3, nil, nil}} {
		if _, err := db.ExecContext(t.Context(), insert, args...); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := db.ExecContext(t.Context(), insert, 4, nil, []byte{0xff}); err == nil {
		t.Error("bytes that are no text are a CLOB")
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "UPDATE t SET c = ? WHERE id = ?", "changed", 3); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.QueryContext(t.Context(), "SELECT b, c FROM t ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		b []byte
		c string
	}{{big, strings.Repeat("é", 2_000_000)}, {[]byte{}, "c"}, {nil, "changed"}}
	for rows.Next() {
		var b []byte
		var c any
		if err := rows.Scan(&b, &c); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, want[0].b) || (b == nil) != (want[0].b == nil) || c != want[0].c {
			t.Errorf("%d bytes and a %T instead of %d bytes", len(b), c, len(want[0].b))
		}
		want = want[1:]
	}
	if err := errors.Join(rows.Err(), rows.Close(), tx.Commit()); err != nil || len(want) > 0 {
		t.Error(err, len(want))
	}
}

func TestLargeObjectsNeedARelay(t *testing.T) {
	t.Parallel()
	db := objects(t, "")
	if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (?, ?, ?)", 1, []byte("x"), nil); !errors.Is(err,
		tsurugi.ErrNoRelay) {
		t.Error(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (?, ?, ?)", 1, tsurugi.BlobFile("/x"),
		nil); err != nil {
		t.Error(err)
	}
}
