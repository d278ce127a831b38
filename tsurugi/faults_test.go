package tsurugi_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// What the real server cannot be made to do on demand is tried with the one for tests.

func faulty(t *testing.T, cfg tsurugi.Config) (*tsurugitest.Server, *tsurugi.Session) {
	t.Helper()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	s := connect(t, server.Endpoint(), cfg)
	run(t, s, "CREATE TABLE t (id INT PRIMARY KEY)")
	return server, s
}

func TestACommitWhoseAnswerIsLostIsUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		action tsurugitest.Action
		rows   int
	}{
		"done":     {tsurugitest.DoAndDrop, 1},
		"not done": {tsurugitest.Drop, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, s := faulty(t, tsurugi.Config{})
			server.On(tsurugitest.Once(tsurugitest.Commit, c.action))
			err := tryRun(t, s, "INSERT INTO t VALUES (1)")
			var unknown *tsurugi.CommitUnknownError
			if !errors.As(err, &unknown) || tsurugi.SafeToRetry(err) {
				t.Errorf("the commit's error is %v", err)
			}
			if got := server.Count("t"); got != c.rows {
				t.Errorf("%d rows", got)
			}
			if s.Err() == nil {
				t.Error("the session is still taken for a good one")
			}
		})
	}
}

func TestASessionThatIsLostBeforeTheCommitIsSafeToRetry(t *testing.T) {
	t.Parallel()
	server, s := faulty(t, tsurugi.Config{})
	server.On(tsurugitest.Once(tsurugitest.Execute, tsurugitest.DoAndDrop))
	err := tryRun(t, s, "INSERT INTO t VALUES (1)")
	var lost *tsurugi.LostError
	if !errors.As(err, &lost) || !tsurugi.SafeToRetry(err) {
		t.Errorf("the error is %v", err)
	}
	err = tryRun(t, s, "INSERT INTO t VALUES (1)")
	if !errors.As(err, &lost) || lost.Sent {
		t.Errorf("on a session that has ended: %v", err)
	}
	if got := server.Count("t"); got != 0 {
		t.Errorf("%d rows", got)
	}
}

func TestAServerThatHangsIsFoundOut(t *testing.T) {
	t.Parallel()
	server, s := faulty(t, tsurugi.Config{KeepAlive: 10 * time.Millisecond, Timeout: 2 * time.Second})
	server.On(tsurugitest.Once(tsurugitest.Execute, tsurugitest.Hang))
	err := tryRun(t, s, "INSERT INTO t VALUES (1)")
	if !errors.Is(err, tsurugi.ErrSilent) || !tsurugi.SafeToRetry(err) {
		t.Errorf("the error is %v", err)
	}
	<-s.Done()
	if !errors.Is(s.Err(), tsurugi.ErrSilent) {
		t.Errorf("the session ended because of %v", s.Err())
	}
}

func TestAContextEndsTheWaitingForAnAnswer(t *testing.T) {
	t.Parallel()
	server, s := faulty(t, tsurugi.Config{})
	server.On(tsurugitest.Once(tsurugitest.Execute, tsurugitest.Hang))
	tx := begin(t, s, tsurugi.TxOptions{})
	p, err := tx.SendText(t.Context(), "INSERT INTO t VALUES (1)")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	// The server was told, and answers that it has given the statement up.
	_, err = p.Wait(t.Context())
	var e *tsurugi.Error
	if !errors.As(err, &e) || e.Code != tsurugi.CodeOperationCanceled {
		t.Errorf("the statement's own error is %v", err)
	}
	server.KillSessions()
	<-s.Done()
}

func TestASessionThatExpiredEnds(t *testing.T) {
	t.Parallel()
	server, s := faulty(t, tsurugi.Config{})
	tx := begin(t, s, tsurugi.TxOptions{})
	if _, err := tx.Exec(t.Context(), "INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	server.ExpireSessions()
	_, err := tx.Exec(t.Context(), "INSERT INTO t VALUES (2)")
	var e *tsurugi.Error
	if !errors.As(err, &e) || e.Code != tsurugi.CodeSessionClosed || !tsurugi.SafeToRetry(err) {
		t.Errorf("the error is %v", err)
	}
	<-s.Done()
	if server.Count("t") != 0 {
		t.Error("the transaction was committed")
	}
}

func TestASessionIsRenewedBeforeItExpires(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{SessionLife: 3 * time.Second})
	var renewals atomic.Int64
	server.On(func(r tsurugitest.Request) tsurugitest.Action {
		if r.Kind == tsurugitest.Renewal {
			renewals.Add(1)
		}
		return tsurugitest.Action{}
	})
	s := connect(t, server.Endpoint(), tsurugi.Config{KeepAlive: 20 * time.Millisecond})
	idle := connect(t, server.Endpoint(), tsurugi.Config{KeepAlive: -1})
	<-idle.Done() // nobody renewed it, though it is younger
	if err := s.Ping(t.Context()); err != nil || renewals.Load() == 0 {
		t.Errorf("%v after %d renewals", err, renewals.Load())
	}
}

func TestAServerThatIsNotThereIsSafeToRetry(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	server.Close()
	_, err := tsurugi.Connect(t.Context(), server.Endpoint(), tsurugi.Config{})
	var lost *tsurugi.LostError
	if !errors.As(err, &lost) || lost.Sent || !tsurugi.SafeToRetry(err) {
		t.Errorf("the error is %v", err)
	}
}

func TestAServerWithoutRoomIsSafeToRetry(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{Sessions: 1})
	connect(t, server.Endpoint(), tsurugi.Config{})
	_, err := tsurugi.Connect(t.Context(), server.Endpoint(), tsurugi.Config{})
	var e *tsurugi.Error
	if !errors.As(err, &e) || e.Code != tsurugi.CodeResourceLimitReached || !tsurugi.SafeToRetry(err) {
		t.Errorf("the error is %v", err)
	}
}

func TestCredentialsAreEncryptedAndChecked(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{Users: map[string]string{"tsurugi": `pass"word`},
		Tokens: map[string]string{"secret": "robot"}})
	for user, c := range map[string]tsurugi.Credential{"tsurugi": tsurugi.UserPassword("tsurugi", `pass"word`),
		"robot": tsurugi.Token("secret")} {
		if s := connect(t, server.Endpoint(), tsurugi.Config{Credential: c}); s.User() != user {
			t.Errorf("%s came in as %q", user, s.User())
		}
	}
	for what, c := range map[string]tsurugi.Credential{
		"none": {}, "another password": tsurugi.UserPassword("tsurugi", "x"),
		"another user": tsurugi.UserPassword("other", `pass"word`), "another token": tsurugi.Token("x"),
	} {
		_, err := tsurugi.Connect(t.Context(), server.Endpoint(), tsurugi.Config{Credential: c})
		var e *tsurugi.Error
		if !errors.As(err, &e) || e.Code != tsurugi.CodeAuthenticationError || tsurugi.SafeToRetry(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// A server that asks for none lets everybody in.
	open := tsurugitest.Start(t, tsurugitest.Config{})
	if s := connect(t, open.Endpoint(),
		tsurugi.Config{Credential: tsurugi.UserPassword("tsurugi", "x")}); s.User() != "" {
		t.Errorf("came in as %q", s.User())
	}
}

func TestConnectingIsBoundedByTheContextAndTheTimeout(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	server.On(tsurugitest.Once(tsurugitest.Handshake, tsurugitest.Hang))
	if _, err := tsurugi.Connect(t.Context(), server.Endpoint(),
		tsurugi.Config{Timeout: time.Second}); !tsurugi.SafeToRetry(err) {
		t.Errorf("a handshake that nobody answers: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tsurugi.Connect(ctx, server.Endpoint(), tsurugi.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

func TestClosingWaitsForAnswersAsLongAsTheContextAllows(t *testing.T) {
	t.Parallel()
	server, s := faulty(t, tsurugi.Config{})
	server.On(tsurugitest.Once(tsurugitest.Execute, tsurugitest.Hang))
	tx, err := s.Begin(t.Context(), tsurugi.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := tx.SendText(t.Context(), "INSERT INTO t VALUES (1)")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closing: %v", err)
	}
	if _, err := p.Wait(t.Context()); !errors.Is(err, tsurugi.ErrClosed) || tsurugi.SafeToRetry(err) {
		t.Errorf("the statement: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func TestEndpointsAreOfTheFormTCP(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "localhost:12345", "ipc:tsurugi", "http://localhost:12345", "tcp://",
		"tcp://localhost:12345/x", "tcp://local host:1"} {
		if _, err := tsurugi.Connect(t.Context(), bad, tsurugi.Config{}); err == nil || tsurugi.SafeToRetry(err) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The server hears of a cancel too late and works on: the client does not wait for that, and what comes in the end is
// no other request's answer.
func TestACancelledQueryThatWorksOnHarmsNoOther(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	s := connect(t, server.Endpoint(), tsurugi.Config{})
	run(t, s, "CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
	for range 3 {
		tx, other := begin(t, s, tsurugi.TxOptions{}), begin(t, s, tsurugi.TxOptions{})
		free := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		var once sync.Once
		server.On(func(r tsurugitest.Request) tsurugitest.Action {
			if r.Kind != tsurugitest.Query {
				return tsurugitest.Action{}
			}
			a := tsurugitest.Action{}
			once.Do(func() { cancel(); a = tsurugitest.WorkOn(free) })
			return a
		})
		if rows, err := tx.Query(ctx, "SELECT id FROM t"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", rows, err)
		}
		cancel()
		close(free)
		rows, err := other.Query(t.Context(), "SELECT id FROM t WHERE id = 1")
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next(t.Context()) || rows.Values()[0].Int() != 1 || rows.Next(t.Context()) || rows.Err() != nil {
			t.Errorf("%v, %v", rows.Values(), rows.Err())
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
