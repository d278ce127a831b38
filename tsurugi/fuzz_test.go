package tsurugi_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// dialogue is what a program asks of a server, one thing after the other, until something fails.
func dialogue(ctx context.Context, dial func(context.Context, string, string) (net.Conn, error)) error {
	s, err := tsurugi.Connect(ctx, "tcp://server", tsurugi.Config{Dial: dial, KeepAlive: -1, MaxAnswer: 1 << 20})
	if err != nil {
		return err
	}
	err = converse(ctx, s)
	closed, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if closing := s.Close(closed); errors.Is(closing, context.DeadlineExceeded) {
		return closing
	}
	return err
}

func converse(ctx context.Context, s *tsurugi.Session) error {
	tx, err := s.Begin(ctx, tsurugi.TxOptions{})
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, "SELECT a, b FROM t")
	if err != nil {
		return err
	}
	for rows.Next(ctx) {
		for _, v := range rows.Values() {
			_ = v.String()
		}
	}
	if err := rows.Close(ctx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "INSERT INTO t VALUES (3, 'three')"); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	_, err = s.DescribeTable(ctx, "t")
	return err
}

// recorded is a connection that keeps what the server sent, apart for each request.
type recorded struct {
	net.Conn
	mu      sync.Mutex
	answers [][]byte
}

func (r *recorded) Write(b []byte) (int, error) {
	r.mu.Lock()
	for requests := wire.NewReader(bytes.NewReader(b), len(b)); wanted(requests); {
		r.answers = append(r.answers, nil)
	}
	r.mu.Unlock()
	return r.Conn.Write(b)
}

func (r *recorded) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.answers) - 1; last >= 0 {
		r.answers[last] = append(r.answers[last], b[:n]...)
	}
	return n, err
}

// record is what a real dialogue has for answers.
func record(f *testing.F) [][]byte {
	f.Helper()
	server := tsurugitest.Start(f, tsurugitest.Config{})
	s, err := tsurugi.Connect(f.Context(), server.Endpoint(), tsurugi.Config{})
	if err != nil {
		f.Fatal(err)
	}
	run(f, s, "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(*))", "INSERT INTO t VALUES (1, 'one'), (2, NULL)")
	if err := s.Close(f.Context()); err != nil {
		f.Fatal(err)
	}
	var r recorded
	err = dialogue(f.Context(), func(ctx context.Context, network, _ string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, server.Endpoint()[len("tcp://"):])
		r.Conn = c
		return &r, err
	})
	if err != nil {
		f.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answers
}

// wanted reads the next request that wants an answer.
func wanted(requests *wire.Reader) bool {
	for {
		if r, err := requests.Request(); err != nil || r.Info != wire.RequestByeOK {
			return err == nil
		}
	}
}

// patience is how long a server waits for a request: a client that sends none waits for more of the last answer.
const patience = 2 * time.Millisecond

// answerWith is a server that answers each request with the next of the answers, whatever was asked, and hangs up when
// it has no more, or is asked for none.
func answerWith(c net.Conn, answers [][]byte) {
	defer c.Close()
	requests := wire.NewReader(c, 1<<20)
	for _, a := range answers {
		_ = c.SetReadDeadline(time.Now().Add(patience))
		if !wanted(requests) || len(a) == 0 {
			return
		}
		if _, err := c.Write(a); err != nil {
			return
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	wanted(requests)
}

// FuzzClient has a client talk with a server that sends anything at all: it ends, without a panic.
func FuzzClient(f *testing.F) {
	const pieces = 7 // a session, a transaction, a query, a statement, a commit, a table, the end
	seed := func(answers [][]byte) {
		var args [pieces][]byte
		copy(args[:], answers)
		if len(answers) > pieces {
			args[pieces-1] = bytes.Join(answers[pieces-1:], nil)
		}
		f.Add(args[0], args[1], args[2], args[3], args[4], args[5], args[6])
	}
	real := record(f)
	for n := range real {
		seed(real[:n+1])
	}
	f.Fuzz(func(t *testing.T, a, b, c, d, e, g, h []byte) {
		client, server := net.Pipe()
		var served sync.WaitGroup
		served.Go(func() { answerWith(server, [][]byte{a, b, c, d, e, g, h}) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := dialogue(ctx, func(context.Context, string, string) (net.Conn, error) { return client, nil })
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("the client hangs")
		}
		_ = client.Close()
		served.Wait()
	})
}

// FuzzEndpoint takes any text for an endpoint: what is dialled is a host and a port.
func FuzzEndpoint(f *testing.F) {
	for _, text := range []string{"tcp://localhost", "tcp://[::1]:12345/", "tcp://user@host:1?x=y", "ipc:tsurugi", ""} {
		f.Add(text)
	}
	errDialled := errors.New("dialled")
	f.Fuzz(func(t *testing.T, endpoint string) {
		dialled := ""
		_, err := tsurugi.Connect(t.Context(), endpoint, tsurugi.Config{
			Dial: func(_ context.Context, _, address string) (net.Conn, error) {
				dialled = address
				return nil, errDialled
			}})
		if err == nil {
			t.Fatal("connected to nobody")
		}
		if !errors.Is(err, errDialled) {
			return
		}
		if host, port, err := net.SplitHostPort(dialled); err != nil || host == "" || port == "" {
			t.Errorf("%q is dialled as %q: %v", endpoint, dialled, err)
		}
	})
}

// FuzzCredentialFile takes any file for one with credentials.
func FuzzCredentialFile(f *testing.F) {
	for _, text := range []string{"YWJjZA==\nuser: x\n", "YWJjZA", "\n", "no credential", "YQ=\r\n"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "credential")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := tsurugi.CredentialFile(path); (err == nil) == (c == tsurugi.Credential{}) {
			t.Errorf("%q is %v, %v", text, c, err)
		}
	})
}
