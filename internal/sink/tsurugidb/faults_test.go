package tsurugidb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// The suite of package rows asks what every database is asked. Here is what is TsurugiDB's own.

func TestAServerWithoutRoomIsWaitedForAndNoRowIsBlamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind tsurugitest.Kind
		code tsurugi.Code
	}{
		"disk full while writing":    {tsurugitest.Execute, tsurugi.CodeSQLExecution},
		"disk full while committing": {tsurugitest.Commit, tsurugi.CodeSQLExecution},
		"too many transactions":      {tsurugitest.Begin, tsurugi.CodeTransactionExceededLimit},
		"a failure of its own":       {tsurugitest.Execute, tsurugi.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := tsurugitest.Start(t, tsurugitest.Config{})
			do(t, server, doubles("readings", 10))
			s := started(t, server, Config{Config: rows.Config{Table: []string{"readings"}}})
			delivered(t, s, readings(0, 5))
			server.On(func(r tsurugitest.Request) tsurugitest.Action {
				if r.Kind == c.kind {
					return tsurugitest.Fail(int(c.code), "No space left on device")
				}
				return tsurugitest.Action{}
			})
			outcomes, err := s.Send(t.Context(), readings(5, 300))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				if o.Verdict != component.Retry || !o.Held ||
					!strings.Contains(o.Reason.Error(), "No space left on device") {
					t.Fatalf("%+v", o)
				}
			}
			server.On(nil)
			delivered(t, s, readings(5, 300))
			if n := server.Count("readings"); n != 305 {
				t.Errorf("%d rows", n)
			}
			if n := server.Stats().Sessions; n > 4 { // two of the test's own
				t.Errorf("%d sessions: one that was still good was given up", n)
			}
		})
	}
}

func TestLongTransactionsAnnounceTheTable(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	do(t, server, doubles("readings", 10))
	s := started(t, server, Config{TransactionType: TransactionType(tsurugi.LTX),
		Config: rows.Config{Table: []string{"public", "readings"}}})
	delivered(t, s, readings(0, 1000))
	// A short transaction cannot write a table that a long one has announced to write; two long ones can.
	other, err := tsurugi.Connect(t.Context(), server.Endpoint(), tsurugi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(context.Background()) }()
	if _, err := other.Begin(t.Context(),
		tsurugi.TxOptions{Type: tsurugi.LTX, WritePreserve: []string{"readings"}}); err != nil {
		t.Fatal(err)
	}
	delivered(t, s, readings(1000, 10))
	if n := server.Count("readings"); n != 1010 {
		t.Errorf("%d rows", n)
	}
}

func TestASendEndsSoonAfterItsTimeThoughTheServerHangs(t *testing.T) {
	t.Parallel()
	server, d, _, table := fresh(t, tsurugitest.Config{}, tsurugi.OCC)
	for _, kind := range []tsurugitest.Kind{tsurugitest.Prepare, tsurugitest.Begin, tsurugitest.Execute,
		tsurugitest.Commit} {
		s, err := d.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Its time is over when the server has the request.
		ctx, cancel := context.WithCancel(t.Context())
		server.On(func(r tsurugitest.Request) tsurugitest.Action {
			if r.Kind != kind {
				return tsurugitest.Action{}
			}
			cancel()
			return tsurugitest.Hang
		})
		err = s.Write(ctx, numbered(table, rows.Insert, 0, 100))
		cancel()
		want := rows.Away
		if kind == tsurugitest.Commit {
			want = rows.Unknown
		}
		if f := d.Judge(err); f.Class != want || !f.Broken || !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %+v, %v", kind, f, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCredentialsAreShown(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{Users: map[string]string{"tsurugi": "password"},
		Tokens: map[string]string{"secret": "robot"}})
	good, bad := filepath.Join(t.TempDir(), "good.key"), filepath.Join(t.TempDir(), "bad.key")
	for path, password := range map[string]string{good: "password", bad: "another"} {
		sealed, err := server.Seal("tsurugi", password, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(sealed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		credential Credential
		says       string // of the start; "": nothing of the sort
	}{
		{Credential{Type: "user_password", User: "tsurugi", Password: "password"}, "no such table"},
		{Credential{User: "tsurugi", Password: "password"}, "no such table"},
		{Credential{Token: "secret"}, "no such table"},
		{Credential{User: "tsurugi", Password: "another"}, "AUTHENTICATION_ERROR"},
		{Credential{Type: "file", File: good}, "no such table"},
		{Credential{File: good}, "no such table"},
		{Credential{File: bad}, "AUTHENTICATION_ERROR"},
		{Credential{File: good + ".not"}, "no such file"},
		{Credential{}, "AUTHENTICATION_ERROR"},
	} {
		s, err := New(Config{Endpoint: server.Endpoint(), Credential: c.credential,
			Config: rows.Config{Table: []string{"nowhere"}}}, component.Env{})
		if err != nil {
			t.Fatal(err)
		}
		err = s.(component.Starter).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "another") {
			t.Errorf("%+v: %v", c.credential, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
