package tsurugi_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi"
)

func TestStatementsArePipelined(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{InFlight: 64})
	name := table(t, s, "id INT PRIMARY KEY, x DOUBLE")
	insert := prepare(t, s, "INSERT INTO "+name+" VALUES (:id, :x)", holder("id", tsurugi.Int4Type),
		holder("x", tsurugi.Float8Type))
	tx := begin(t, s, tsurugi.TxOptions{Label: "pipelined"})
	var pending []*tsurugi.Pending
	for i := range 1_000 {
		p, err := tx.Send(t.Context(), insert, tsurugi.Int4(int32(i)), tsurugi.Float8(float64(i)/4))
		if err != nil {
			t.Fatal(err)
		}
		pending = append(pending, p)
	}
	for _, p := range pending {
		if r, err := p.Wait(t.Context()); err != nil || r.Inserted != 1 || r.Rows() != 1 {
			t.Fatal(r, err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, s, "SELECT count(*) FROM "+name); got[0] != "1000" {
		t.Errorf("%s rows", got)
	}
}

func TestManyGoroutinesShareASession(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{InFlight: 8, ResultSets: 2})
	name := table(t, s, "id INT PRIMARY KEY")
	insert := prepare(t, s, "INSERT INTO "+name+" VALUES (:id)", holder("id", tsurugi.Int4Type))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				tx, err := s.Begin(t.Context(), tsurugi.TxOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := tx.Send(t.Context(), insert, tsurugi.Int4(int32(g*20+i))); err != nil {
					t.Error(err)
				}
				rows, err := tx.Query(t.Context(), "SELECT id FROM "+name+" WHERE id = "+strconv.Itoa(g*20+i))
				if err != nil {
					t.Error(err)
					return
				}
				if !rows.Next(t.Context()) || rows.Next(t.Context()) || rows.Err() != nil {
					t.Error("the row is not there", rows.Err())
				}
				if err := tx.Commit(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := query(t, s, "SELECT count(*) FROM "+name); got[0] != "160" {
		t.Errorf("%s rows", got)
	}
}

func TestAStatementThatFailsEndsTheTransaction(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY")
	insert := prepare(t, s, "INSERT INTO "+name+" VALUES (:id)", holder("id", tsurugi.Int4Type))
	tx := begin(t, s, tsurugi.TxOptions{})
	for _, id := range []int32{1, 2, 1, 3} {
		if _, err := tx.Send(t.Context(), insert, tsurugi.Int4(id)); err != nil {
			t.Fatal(err)
		}
	}
	err := tx.Commit(t.Context())
	var e *tsurugi.Error
	if !errors.As(err, &e) || e.Code != tsurugi.CodeUniqueConstraintViolation {
		t.Errorf("the commit's error is %v, not that of the statement that failed first", err)
	}
	if tsurugi.SafeToRetry(err) || !tsurugi.IsConstraint(err) || tsurugi.IsConflict(err) {
		t.Errorf("%v is taken for what it is not", err)
	}
	if got := query(t, s, "SELECT count(*) FROM "+name); got[0] != "0" {
		t.Errorf("%s rows", got)
	}
}

func TestTheServerKeepsWhatEndedATransaction(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY")
	tx := begin(t, s, tsurugi.TxOptions{})
	if cause, err := tx.Cause(t.Context()); cause != nil || err != nil {
		t.Errorf("a cause before anything happened: %v, %v", cause, err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO "+name+" VALUES (1), (1)"); err == nil {
		t.Fatal("two rows with one key")
	}
	if cause, err := tx.Cause(t.Context()); err != nil || cause == nil ||
		cause.Code != tsurugi.CodeUniqueConstraintViolation {
		t.Errorf("the cause is %v, %v", cause, err)
	}
	_, err := tx.Exec(t.Context(), "INSERT INTO "+name+" VALUES (2)")
	var e *tsurugi.Error
	if !errors.As(err, &e) || e.Code != tsurugi.CodeInactiveTransaction {
		t.Errorf("a statement afterwards: %v", err)
	}
}

func TestATransactionIsOverOnce(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY")
	tx := begin(t, s, tsurugi.TxOptions{})
	if _, err := tx.SendText(t.Context(), "INSERT INTO "+name+" VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Errorf("a second rollback: %v", err)
	}
	if err := tx.Commit(t.Context()); !errors.Is(err, tsurugi.ErrTxDone) {
		t.Errorf("a commit after the rollback: %v", err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO "+name+" VALUES (2)"); !errors.Is(err, tsurugi.ErrTxDone) {
		t.Errorf("a statement after the rollback: %v", err)
	}
	if _, err := tx.Query(t.Context(), "SELECT * FROM "+name); !errors.Is(err, tsurugi.ErrTxDone) {
		t.Errorf("a query after the rollback: %v", err)
	}
	if got := query(t, s, "SELECT id FROM "+name); len(got) != 0 {
		t.Errorf("found %q", got)
	}
}

func TestALostUpdateIsRefusedAndSafeToRetry(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY, n BIGINT")
	run(t, s, "INSERT INTO "+name+" VALUES (1, 0)")
	a, b := begin(t, s, tsurugi.TxOptions{}), begin(t, s, tsurugi.TxOptions{})
	var failed error
	for _, tx := range []*tsurugi.Tx{a, b} {
		if _, err := tx.Exec(t.Context(), "UPDATE "+name+" SET n = n + 1 WHERE id = 1"); err != nil {
			failed = err
		}
	}
	for _, tx := range []*tsurugi.Tx{a, b} {
		if err := tx.Commit(t.Context()); err != nil {
			failed = err
		}
	}
	if !tsurugi.IsConflict(failed) || !tsurugi.SafeToRetry(failed) {
		t.Errorf("the conflict's error is %v", failed)
	}
	if got := query(t, s, "SELECT n FROM "+name); !slices.Equal(got, []string{"1"}) {
		t.Errorf("found %q", got)
	}
}

func TestLongTransactionsAnnounceWhatTheyWrite(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY")
	tx := begin(t, s, tsurugi.TxOptions{Type: tsurugi.LTX, WritePreserve: []string{name}, Durability: tsurugi.Stored})
	if _, err := tx.Exec(t.Context(), "INSERT INTO "+name+" VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	tx = begin(t, s, tsurugi.TxOptions{Type: tsurugi.LTX})
	_, err := tx.Exec(t.Context(), "INSERT INTO "+name+" VALUES (2)")
	var e *tsurugi.Error
	if !errors.As(err, &e) || e.Code != tsurugi.CodeLTXWriteOperationWithoutWritePreserve {
		t.Errorf("a write that was not announced: %v", err)
	}
}

func TestReadOnlyTransactionsWriteNothing(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY")
	tx := begin(t, s, tsurugi.TxOptions{Type: tsurugi.ReadOnly})
	_, err := tx.Exec(t.Context(), "INSERT INTO "+name+" VALUES (1)")
	var e *tsurugi.Error
	if !errors.As(err, &e) || e.Code != tsurugi.CodeWriteOperationByRTX {
		t.Errorf("a write: %v", err)
	}
}

func TestEveryDurabilityCommits(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY")
	for _, d := range []tsurugi.Durability{tsurugi.DefaultDurability, tsurugi.Accepted, tsurugi.Available,
		tsurugi.Stored} {
		tx := begin(t, s, tsurugi.TxOptions{Durability: d})
		if _, err := tx.Exec(t.Context(), "INSERT INTO "+name+" VALUES ("+strconv.Itoa(int(d))+")"); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Errorf("durability %d: %v", d, err)
		}
	}
}

func TestTheCauseOfAFailedCommitIsKnown(t *testing.T) {
	t.Parallel()
	server := endpoint(t)
	s, other := connect(t, server, tsurugi.Config{}), connect(t, server, tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY, n INT")
	run(t, s, "INSERT INTO "+name+" VALUES (1, 1)")
	tx := begin(t, s, tsurugi.TxOptions{})
	if _, err := tx.Exec(t.Context(), "UPDATE "+name+" SET n = n + 1 WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	run(t, other, "UPDATE "+name+" SET n = n + 1 WHERE id = 1")
	err := tx.Commit(t.Context())
	if cause, why := tx.Cause(t.Context()); !tsurugi.IsConflict(err) || cause == nil || !cause.Code.Conflict() {
		t.Errorf("%v; its cause: %v, %v", err, cause, why)
	}
	for end, finish := range map[string]func(*tsurugi.Tx) error{
		"commit":   func(tx *tsurugi.Tx) error { return tx.Commit(t.Context()) },
		"rollback": func(tx *tsurugi.Tx) error { return tx.Rollback(t.Context()) },
	} {
		tx := begin(t, s, tsurugi.TxOptions{})
		if _, err := tx.SendText(t.Context(), "INSERT INTO "+name+" VALUES (1, 1)"); err != nil {
			t.Fatal(err)
		}
		err := finish(tx)
		if cause, why := tx.Cause(t.Context()); cause == nil || !cause.Code.Constraint() {
			t.Errorf("%s: %v; its cause: %v, %v", end, err, cause, why)
		}
	}
	tx = begin(t, s, tsurugi.TxOptions{})
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if cause, err := tx.Cause(t.Context()); cause != nil || err != nil {
		t.Errorf("a transaction that was rolled back: %v, %v", cause, err)
	}
}
