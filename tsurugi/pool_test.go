package tsurugi_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

func newPool(t *testing.T, endpoint string, cfg tsurugi.PoolConfig) *tsurugi.Pool {
	t.Helper()
	p, err := tsurugi.NewPool(endpoint, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestAPoolHasNoMoreSessionsThanItMay(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{Sessions: 3})
	p := newPool(t, server.Endpoint(), tsurugi.PoolConfig{Sessions: 3})
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			for range 10 {
				s, err := p.Acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Ping(t.Context()); err != nil {
					t.Error(err)
				}
				p.Release(s)
			}
		})
	}
	wg.Wait()
	if st := p.Stats(); st.Opened > 3 || st.Used != 0 || st.Idle != int(st.Opened) || st.Lost != 0 {
		t.Errorf("%+v", st)
	}
}

func TestWaitingForASessionEndsWithTheContext(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	p := newPool(t, server.Endpoint(), tsurugi.PoolConfig{Sessions: 1})
	s, err := p.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := p.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closing a pool whose session is in use: %v", err)
	}
	p.Release(s)
	p.Release(s) // once is enough, twice does no harm
	if _, err := p.Acquire(t.Context()); !errors.Is(err, tsurugi.ErrPoolClosed) {
		t.Error(err)
	}
	<-s.Done()
}

func TestSessionsThatEndedAreReplaced(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	p := newPool(t, server.Endpoint(), tsurugi.PoolConfig{Sessions: 1})
	s, err := p.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.Release(s)
	server.KillSessions()
	<-s.Done()
	other, err := p.Acquire(t.Context())
	if err != nil || other == s {
		t.Fatal("the same session again", err)
	}
	defer p.Release(other)
	if st := p.Stats(); st.Opened != 2 || st.Lost != 1 {
		t.Errorf("%+v", st)
	}
}

func TestASessionOfDoubtfulHealthIsChecked(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	p := newPool(t, server.Endpoint(), tsurugi.PoolConfig{Sessions: 1, CheckAfter: time.Nanosecond})
	s, err := p.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.Release(s)
	server.ExpireSessions() // nobody has told the client yet
	other, err := p.Acquire(t.Context())
	if err != nil || other == s {
		t.Fatal("a session that has expired is given out", err)
	}
	p.Release(other)
}

func TestIdleSessionsAreClosed(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	p := newPool(t, server.Endpoint(), tsurugi.PoolConfig{Idle: 10 * time.Millisecond})
	s, err := p.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.Release(s)
	<-s.Done()
	if st := p.Stats(); st.Idle != 0 || st.Used != 0 {
		t.Errorf("%+v", st)
	}
}

func TestDoTriesAgainWhatIsSafe(t *testing.T) {
	t.Parallel()
	for name, hook := range map[string]tsurugitest.Hook{
		"conflicts":         tsurugitest.Times(tsurugitest.Commit, 3, tsurugitest.Conflict()),
		"a lost session":    tsurugitest.Times(tsurugitest.Execute, 2, tsurugitest.Drop),
		"a refused session": tsurugitest.Times(tsurugitest.Handshake, 2, tsurugitest.Drop),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := tsurugitest.Start(t, tsurugitest.Config{})
			run(t, connect(t, server.Endpoint(), tsurugi.Config{}), "CREATE TABLE t (id INT PRIMARY KEY)")
			server.On(hook)
			p := newPool(t, server.Endpoint(), tsurugi.PoolConfig{Retry: tsurugi.RetryPolicy{First: time.Millisecond}})
			tries := 0
			err := p.Do(t.Context(), tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
				tries++
				_, err := tx.Exec(ctx, "INSERT INTO t VALUES (1)")
				return err
			})
			if err != nil || server.Count("t") != 1 {
				t.Errorf("%v after %d tries, %d rows", err, tries, server.Count("t"))
			}
		})
	}
}

func TestDoDoesNotTryAgainWhatIsNotSafe(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	run(t, connect(t, server.Endpoint(), tsurugi.Config{}), "CREATE TABLE t (id INT PRIMARY KEY)")
	server.On(tsurugitest.Once(tsurugitest.Commit, tsurugitest.DoAndDrop))
	p := newPool(t, server.Endpoint(), tsurugi.PoolConfig{})
	insert := func(ctx context.Context, tx *tsurugi.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO t VALUES (1)")
		return err
	}
	var unknown *tsurugi.CommitUnknownError
	if err := p.Do(t.Context(), tsurugi.TxOptions{}, insert); !errors.As(err, &unknown) {
		t.Error(err)
	}
	if err := p.Do(t.Context(), tsurugi.TxOptions{}, insert); !tsurugi.IsConstraint(err) {
		t.Error(err)
	}
}

func TestRetryGivesUp(t *testing.T) {
	t.Parallel()
	conflict := &tsurugi.Error{Code: tsurugi.CodeOCCRead}
	tries := 0
	err := tsurugi.Retry(t.Context(), tsurugi.RetryPolicy{Attempts: 4, First: 1},
		func(context.Context) error { tries++; return conflict })
	if tries != 4 || !errors.Is(err, conflict) {
		t.Errorf("%d tries, %v", tries, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = tsurugi.Retry(ctx, tsurugi.RetryPolicy{First: time.Hour, Longest: time.Hour},
		func(context.Context) error { cancel(); return conflict })
	if !errors.Is(err, context.Canceled) || !errors.Is(err, conflict) {
		t.Error(err)
	}
}
