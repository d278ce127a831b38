package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/store"
)

// run runs one statement in a transaction and returns its rows as text, or what it changed.
func run(tx *store.Tx, db *store.DB, text string) (string, error) {
	st, err := db.Prepare(text, nil)
	if err != nil {
		return "", err
	}
	res, err := tx.Execute(st, message.Params{})
	if err != nil {
		return "", err
	}
	if !st.Query() {
		return fmt.Sprintf("+%d ~%d =%d -%d", res.Inserted, res.Updated, res.Merged, res.Deleted), nil
	}
	var rows []string
	for _, r := range res.Rows {
		var parts []string
		for _, v := range r {
			parts = append(parts, v.String())
		}
		rows = append(rows, strings.Join(parts, ","))
	}
	return strings.Join(rows, " "), nil
}

func begin(t *testing.T, db *store.DB, o message.Options) *store.Tx {
	t.Helper()
	tx, err := db.Begin(o)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func must(t *testing.T, tx *store.Tx, db *store.DB, text string) string {
	t.Helper()
	got, err := run(tx, db, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return got
}

func code(err error) uint64 {
	var e *store.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func TestStatementsDoWhatTheySay(t *testing.T) {
	db := store.New(100)
	tx := begin(t, db, message.Options{})
	for _, c := range [][2]string{
		{"CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(10), n DECIMAL(6,2), c CHAR(3), x DOUBLE)", ""},
		{"CREATE TABLE IF NOT EXISTS t (id INT)", "+0 ~0 =0 -0"},
		{"INSERT INTO t (id, name, n, c) VALUES (2, 'two', 2.5, 'a'), (1, 'one', 1, 'abc')", "+2 ~0 =0 -0"},
		{"SELECT * FROM t", "1,one,1.00,abc,NULL 2,two,2.50,a  ,NULL"},
		{"SELECT name FROM t WHERE id = 2 AND name = 'two'", "two"},
		{"SELECT name FROM t WHERE id = 2 AND name = 'one'", ""},
		{"SELECT id FROM t WHERE n > 1.5 OR name IS NULL", "2"},
		{"SELECT id FROM t WHERE NOT n > 1.5", "1"},
		{"SELECT id FROM t WHERE x = 1", ""},
		{"SELECT id FROM t WHERE x IS NULL ORDER BY id DESC LIMIT 1", "2"},
		{"SELECT name || '!' FROM t WHERE id = 1", "one!"},
		{"UPDATE t SET n = n + 0.25, x = n WHERE id = 1", "+0 ~1 =0 -0"},
		{"SELECT n, x FROM t WHERE id = 1", "1.25,1"},
		{"SELECT count(*), sum(n), min(name), max(id), count(x) FROM t",
			"2,3.75000000000000000000000000000000000000,one,2,1"},
		{"INSERT OR REPLACE INTO t (id, name) VALUES (1, 'uno'), (3, 'tre')", "+0 ~0 =2 -0"},
		{"INSERT OR IGNORE INTO t (id, name) VALUES (1, 'eins'), (4, 'vier')", "+1 ~0 =0 -0"},
		{"SELECT id, name FROM t ORDER BY name", "3,tre 2,two 1,uno 4,vier"},
		{"UPDATE t SET id = id + 10 WHERE id >= 3", "+0 ~2 =0 -0"},
		{"DELETE FROM t WHERE id = 2", "+0 ~0 =0 -1"},
		{"SELECT id FROM t", "1 13 14"},
		{"DROP TABLE IF EXISTS nowhere", ""},
	} {
		got := must(t, tx, db, c[0])
		if c[1] != "" && got != c[1] {
			t.Errorf("%s: got %q, wanted %q", c[0], got, c[1])
		}
	}
	if got := must(t, tx, db, "SELECT id FROM t WHERE id = 1"); got != "1" {
		t.Error(got)
	}
	if err := tx.Commit(); err != nil || db.Count("t") != 3 {
		t.Errorf("%v, %d rows", err, db.Count("t"))
	}
}

func TestWhatBreaksARuleHasItsCodeAndAborts(t *testing.T) {
	db := store.New(3)
	setup := begin(t, db, message.Options{})
	must(t, setup, db, "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(3), n DECIMAL(4,1))")
	must(t, setup, db, "INSERT INTO t VALUES (1, 'x', 1)")
	if err := setup.Commit(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]uint64{
		"INSERT INTO t VALUES (1, 'y', 1)":                             4,
		"INSERT INTO t VALUES (2, 'y', 1), (2, 'z', 1)":                4,
		"INSERT INTO t (name) VALUES ('y')":                            5,
		"INSERT INTO t VALUES (2, 'long', 1)":                          40,
		"INSERT INTO t VALUES (3000000000, 'y', 1)":                    39,
		"INSERT INTO t VALUES (2, 'y', 1000)":                          39,
		"INSERT INTO t VALUES (2, 3, 1)":                               104,
		"INSERT INTO t VALUES (2, 'y')":                                104,
		"INSERT INTO t VALUES (2,'a',1),(3,'b',1),(4,'c',1),(5,'d',1)": 27,
		"INSERT INTO t (id, nothing) VALUES (2, 1)":                    105,
		"INSERT INTO t VALUES (id, 'y', 1)":                            105,
		"SELECT nothing FROM t":                                        105,
		"SELECT id FROM t ORDER BY nothing":                            105,
		"SELECT id FROM t WHERE name = 1":                              104,
		"SELECT id, count(*) FROM t":                                   104,
		"DELETE FROM nowhere":                                          105,
		"DROP TABLE nowhere":                                           105,
		"CREATE TABLE t (id INT)":                                      12,
		"CREATE TABLE u (id INT, id INT)":                              105,
		"CREATE TABLE u (id INT, PRIMARY KEY (x))":                     105,
		"SELECT :x FROM t":                                             21,
		"UPDATE t SET id = 'x'":                                        104,
		"gibberish":                                                    102,
	} {
		tx := begin(t, db, message.Options{})
		_, err := run(tx, db, text)
		if code(err) != want {
			t.Errorf("%s: code %d (%v), wanted %d", text, code(err), err, want)
		}
		tx.Abort(nil)
	}
	tx := begin(t, db, message.Options{})
	if _, err := run(tx, db, "INSERT INTO t VALUES (1, 'y', 1)"); code(err) != 4 {
		t.Fatal(err)
	}
	if _, err := run(tx, db, "SELECT id FROM t"); code(err) != 19 {
		t.Errorf("after an error: %v", err)
	}
	if state, cause := tx.State(); state != store.Aborted || code(cause) != 4 {
		t.Errorf("%v because of %v", state, cause)
	}
}

func TestATransactionSeesItselfAndNobodyElseDoes(t *testing.T) {
	db := store.New(100)
	a, b := begin(t, db, message.Options{}), begin(t, db, message.Options{})
	must(t, a, db, "CREATE TABLE t (id INT PRIMARY KEY)")
	must(t, a, db, "INSERT INTO t VALUES (1)")
	if got := must(t, a, db, "SELECT id FROM t"); got != "1" {
		t.Errorf("it sees %q of its own", got)
	}
	if got := must(t, b, db, "SELECT id FROM t"); got != "" {
		t.Errorf("another one sees %q", got)
	}
	a.Abort(nil)
	if db.Count("t") != 0 {
		t.Error("what was undone is there")
	}
}

func TestConflictsAreFoundAtTheCommit(t *testing.T) {
	for name, c := range map[string]struct {
		first, second string
		want          uint64
	}{
		"the same row":             {"UPDATE t SET n = 1 WHERE id = 1", "UPDATE t SET n = 2 WHERE id = 1", 203},
		"different rows":           {"UPDATE t SET n = 1 WHERE id = 1", "UPDATE t SET n = 2 WHERE id = 2", 0},
		"the same new row":         {"INSERT INTO t VALUES (9, 0)", "INSERT INTO t VALUES (9, 1)", 203},
		"different new rows":       {"INSERT INTO t VALUES (9, 0)", "INSERT INTO t VALUES (10, 1)", 0},
		"a scan and a new row":     {"INSERT INTO t VALUES (9, 0)", "UPDATE t SET n = 2 WHERE n = 0", 203},
		"a reader that writes not": {"UPDATE t SET n = 1 WHERE id = 1", "SELECT n FROM t", 0},
	} {
		t.Run(name, func(t *testing.T) {
			db := store.New(100)
			setup := begin(t, db, message.Options{})
			must(t, setup, db, "CREATE TABLE t (id INT PRIMARY KEY, n INT)")
			must(t, setup, db, "INSERT INTO t VALUES (1, 0), (2, 0)")
			if err := setup.Commit(); err != nil {
				t.Fatal(err)
			}
			a, b := begin(t, db, message.Options{}), begin(t, db, message.Options{})
			must(t, a, db, c.first)
			must(t, b, db, c.second)
			if err := a.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := b.Commit(); code(err) != c.want {
				t.Errorf("got %v, wanted code %d", err, c.want)
			}
		})
	}
}

func TestLongTransactionsKeepOthersOff(t *testing.T) {
	db := store.New(100)
	setup := begin(t, db, message.Options{})
	must(t, setup, db, "CREATE TABLE t (id INT PRIMARY KEY)")
	must(t, setup, db, "CREATE TABLE u (id INT PRIMARY KEY)")
	if _, err := db.Begin(message.Options{Type: 2, Preserve: []string{"nowhere"}}); code(err) != 11 {
		t.Errorf("a table that is not there: %v", err)
	}
	long := begin(t, db, message.Options{Type: 2, Preserve: []string{"t"}})
	short := begin(t, db, message.Options{})
	if _, err := run(short, db, "INSERT INTO t VALUES (1)"); code(err) != 204 {
		t.Errorf("a short one: %v", err)
	}
	must(t, long, db, "INSERT INTO t VALUES (1)")
	if err := long.Commit(); err != nil {
		t.Fatal(err)
	}
	long = begin(t, db, message.Options{Type: 2, Preserve: []string{"t"}})
	if _, err := run(long, db, "INSERT INTO u VALUES (1)"); code(err) != 17 {
		t.Errorf("a table that was not announced: %v", err)
	}
	short = begin(t, db, message.Options{}) // the long one is over
	must(t, short, db, "INSERT INTO t VALUES (2)")
	reader := begin(t, db, message.Options{Type: 3})
	if _, err := run(reader, db, "INSERT INTO t VALUES (3)"); code(err) != 16 {
		t.Errorf("a reader: %v", err)
	}
}

func TestTablesWithoutAKeyTakeEqualRows(t *testing.T) {
	db := store.New(100)
	tx := begin(t, db, message.Options{})
	must(t, tx, db, "CREATE TABLE t (x DOUBLE)")
	must(t, tx, db, "INSERT INTO t VALUES (1), (1), (1)")
	must(t, tx, db, "UPDATE t SET x = x + 1")
	if got := must(t, tx, db, "SELECT x FROM t"); got != "2 2 2" {
		t.Error(got)
	}
	if err := tx.Commit(); err != nil || db.Count("t") != 3 {
		t.Error(err)
	}
}

func TestParametersOfUnknownTypeAreNull(t *testing.T) {
	db := store.New(100)
	tx := begin(t, db, message.Options{})
	must(t, tx, db, "CREATE TABLE t (id INT PRIMARY KEY, x DOUBLE)")
	holders := []message.Placeholder{{Name: "id", Type: value.Int8}, {Name: "x", Type: value.Unknown}}
	st, err := db.Prepare("INSERT INTO t VALUES (:id, :x)", holders)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Execute(st,
		message.Params{Holders: holders, Values: []value.Value{value.OfInt8(1), {}}}); err != nil {
		t.Fatal(err)
	}
	if got := must(t, tx, db, "SELECT x FROM t"); got != "NULL" {
		t.Error(got)
	}
}
