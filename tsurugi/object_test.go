package tsurugi_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// relayed opens a session with a relay, on a table for large objects.
func relayed(t *testing.T) (*tsurugi.Session, *tsurugi.Statement) {
	t.Helper()
	server := tsurugitest.Start(t, tsurugitest.Config{Relay: true})
	s := connect(t, server.Endpoint(), tsurugi.Config{Relay: true})
	run(t, s, "CREATE TABLE t (id INT PRIMARY KEY, b BLOB, c CLOB)")
	return s, prepare(t, s, "INSERT INTO t VALUES (:id, :b, :c)", holder("id", tsurugi.Int4Type),
		holder("b", tsurugi.BlobType), holder("c", tsurugi.ClobType))
}

func put(t *testing.T, s *tsurugi.Session, typ tsurugi.Type, r io.Reader) tsurugi.Value {
	t.Helper()
	v, err := s.PutObject(t.Context(), typ, r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func read(t *testing.T, tx *tsurugi.Tx, v tsurugi.Value) string {
	t.Helper()
	r, err := tx.OpenObject(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return string(b)
}

func TestLargeObjectsGoThroughTheRelay(t *testing.T) {
	t.Parallel()
	s, insert := relayed(t)
	big := strings.Repeat("0123456789", 300_000)
	for i, text := range []string{"", "é", big} {
		tx := begin(t, s, tsurugi.TxOptions{})
		b := put(t, s, tsurugi.BlobType, iotest.HalfReader(strings.NewReader(text)))
		c := put(t, s, tsurugi.ClobType, strings.NewReader(text+"!"))
		if _, err := tx.ExecPrepared(t.Context(), insert, tsurugi.Int4(int32(i)), b, c); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tx := begin(t, s, tsurugi.TxOptions{})
	defer func() {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	rows, err := tx.Query(t.Context(), "SELECT b, c FROM t ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "é", big} {
		if !rows.Next(t.Context()) {
			t.Fatal(rows.Err())
		}
		v := rows.Values()
		if b, c := read(t, tx, v[0]), read(t, tx, v[1]); b != text || c != text+"!" {
			t.Errorf("%d and %d bytes instead of %d", len(b), len(c), len(text))
		}
	}
	if err := rows.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnUploadIsForOneStatement(t *testing.T) {
	t.Parallel()
	s, insert := relayed(t)
	b := put(t, s, tsurugi.BlobType, strings.NewReader("x"))
	tx := begin(t, s, tsurugi.TxOptions{})
	if _, err := tx.ExecPrepared(t.Context(), insert, tsurugi.Int4(1), b, tsurugi.Null()); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecPrepared(t.Context(), insert, tsurugi.Int4(2), b, tsurugi.Null()); err == nil {
		t.Error("an upload is used twice")
	}
	if _, err := tx.ExecPrepared(t.Context(), insert, tsurugi.Int4(3), tsurugi.BlobFile("/x"),
		tsurugi.Null()); err == nil {
		t.Error("a session with a relay takes a file")
	}
	if err := tx.Commit(t.Context()); err == nil {
		t.Error("what was refused is committed")
	}
}

// An object that was not read to its end leaves the session as it was, and another transaction may not have it.
func TestAnObjectBelongsToItsTransaction(t *testing.T) {
	t.Parallel()
	s, insert := relayed(t)
	tx := begin(t, s, tsurugi.TxOptions{})
	b := put(t, s, tsurugi.BlobType, bytes.NewReader(make([]byte, 1<<20)))
	if _, err := tx.ExecPrepared(t.Context(), insert, tsurugi.Int4(1), b, tsurugi.Null()); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(t.Context(), "SELECT b FROM t")
	if err != nil || !rows.Next(t.Context()) {
		t.Fatal(err, rows.Err())
	}
	object := rows.Values()[0]
	if err := rows.Close(t.Context()); err != nil {
		t.Error(err)
	}
	r, err := tx.OpenObject(t.Context(), object)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if n := len(read(t, tx, object)); n != 1<<20 {
		t.Errorf("%d bytes", n)
	}
	var e *tsurugi.RelayError
	other := begin(t, s, tsurugi.TxOptions{})
	if _, err := other.OpenObject(t.Context(), object); !errors.As(err, &e) || e.Code != 7 {
		t.Errorf("another transaction: %v", err)
	}
	for _, tx := range []*tsurugi.Tx{tx, other} {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAnUploadThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	s, _ := relayed(t)
	want := errors.New("the tape is torn")
	source := io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<16)), iotest.ErrReader(want))
	if _, err := s.PutObject(t.Context(), tsurugi.BlobType, source); !errors.Is(err, want) {
		t.Error(err)
	}
	// an end that comes too early is no end
	source = io.MultiReader(strings.NewReader("x"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := s.PutObject(t.Context(), tsurugi.BlobType, source); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	endless := readerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	})
	if _, err := s.PutObject(ctx, tsurugi.BlobType, endless); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.PutObject(t.Context(), tsurugi.OctetType, endless); !errors.Is(err, tsurugi.ErrParams) {
		t.Error(err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestASessionWithoutARelayHasNone(t *testing.T) {
	t.Parallel()
	old := tsurugitest.Start(t, tsurugitest.Config{})
	if s, err := tsurugi.Connect(t.Context(), old.Endpoint(), tsurugi.Config{Relay: true}); err == nil {
		t.Error("a server of 1.9 gives a relay", s.Close(t.Context()))
	}
	newest := tsurugitest.Start(t, tsurugitest.Config{Newest: true})
	if s, err := tsurugi.Connect(t.Context(), newest.Endpoint(), tsurugi.Config{Relay: true}); err == nil {
		t.Error("a server that has none gives a relay", s.Close(t.Context()))
	}
	s := connect(t, old.Endpoint(), tsurugi.Config{})
	if _, err := s.PutObject(t.Context(), tsurugi.BlobType, strings.NewReader("")); !errors.Is(err,
		tsurugi.ErrNoRelay) {
		t.Error(err)
	}
	both := tsurugitest.Start(t, tsurugitest.Config{Relay: true})
	if s, err := tsurugi.Connect(t.Context(), both.Endpoint(), tsurugi.Config{Relay: true,
		RelayEndpoint: "nowhere"}); err == nil {
		t.Error("an endpoint without a port", s.Close(t.Context()))
	}
}
