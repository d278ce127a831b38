package tsurugi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi"
)

// fill puts n rows into a table, with bodies of up to 500 bytes.
func fill(t testing.TB, s *tsurugi.Session, name string, n int) {
	t.Helper()
	const most = 500
	for from := 0; from < n; from += most {
		var values []string
		for i := from; i < min(n, from+most); i++ {
			values = append(values, fmt.Sprintf("(%d, '%s')", i, strings.Repeat("v", i%most)))
		}
		run(t, s, "INSERT INTO "+name+" VALUES "+strings.Join(values, ", "))
	}
}

func TestALargeResultSetArrivesWhole(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{ResultBuffer: 16 << 10})
	name := table(t, s, "id INT PRIMARY KEY, body VARCHAR(1000)")
	fill(t, s, name, 3_000)
	rows, err := begin(t, s, tsurugi.TxOptions{}).Query(t.Context(), "SELECT id, body FROM "+name)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[int64]bool)
	for rows.Next(t.Context()) {
		id, body := rows.Values()[0].Int(), rows.Values()[1].Text()
		if len(body) != int(id%500) || seen[id] {
			t.Fatalf("row %d has %d bytes, or comes twice", id, len(body))
		}
		seen[id] = true
	}
	if err := rows.Err(); err != nil || len(seen) != 3_000 {
		t.Errorf("%d rows, %v", len(seen), err)
	}
}

func TestResultSetsThatAreClosedEarlyGiveTheirSlotsBack(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{ResultSets: 3, ResultBuffer: 4 << 10})
	name := table(t, s, "id INT PRIMARY KEY, body VARCHAR(1000)")
	fill(t, s, name, 1_000)
	tx := begin(t, s, tsurugi.TxOptions{})
	for range 20 {
		rows, err := tx.Query(t.Context(), "SELECT * FROM "+name)
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next(t.Context()) {
			t.Fatal(rows.Err())
		}
		if err := rows.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if rows.Next(t.Context()) {
			t.Fatal("a row after the close")
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAQueryThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{ResultSets: 1})
	for range 3 {
		_, err := begin(t, s, tsurugi.TxOptions{}).Query(t.Context(), "SELECT * FROM hikyaku_nowhere")
		var e *tsurugi.Error
		if !errors.As(err, &e) || e.Code != tsurugi.CodeSymbolAnalyze {
			t.Fatal(err)
		}
	}
}

func TestAPreparedQueryTakesValues(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY, body VARCHAR(1000)")
	fill(t, s, name, 10)
	st := prepare(t, s, "SELECT id, body FROM "+name+" WHERE id = :id", holder("id", tsurugi.Int4Type))
	if !st.Query() {
		t.Error("a query is not taken for one")
	}
	tx := begin(t, s, tsurugi.TxOptions{})
	rows, err := tx.QueryPrepared(t.Context(), st, tsurugi.Int4(7))
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next(t.Context()) || rows.Values()[1].Text() != "vvvvvvv" || rows.Next(t.Context()) {
		t.Error("not the row")
	}
	if rows.Columns()[0].Name != "id" || rows.Columns()[1].Type != tsurugi.CharacterType {
		t.Errorf("the columns are %v", rows.Columns())
	}
	st.Close()
}

func TestAContextEndsTheWaitingForRows(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{ResultBuffer: 1 << 10})
	name := table(t, s, "id INT PRIMARY KEY, body VARCHAR(1000)")
	fill(t, s, name, 500)
	rows, err := begin(t, s, tsurugi.TxOptions{}).Query(t.Context(), "SELECT * FROM "+name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for rows.Next(ctx) { // what is there can be read
	}
	if err := rows.Err(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := query(t, s, "SELECT count(*) FROM "+name); got[0] != "500" {
		t.Errorf("the session cannot be used any more: %s", got)
	}
}
