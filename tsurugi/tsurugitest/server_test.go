package tsurugitest_test

import (
	"errors"
	"io"
	"net"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// A raw client sends what the test writes down.
type raw struct {
	t      *testing.T
	conn   net.Conn
	reader *wire.Reader
}

func dial(t *testing.T, s *tsurugitest.Server) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &raw{t, conn, wire.NewReader(conn, 1<<20)}
}

func (r *raw) send(slot uint16, h wire.RequestHeader, fill func([]byte) []byte) {
	r.t.Helper()
	b := wire.BeginRequest(nil, wire.RequestPayload, slot)
	b = wire.AppendRequestHeader(b, h)
	b = wire.Delimited(b, fill)
	wire.EndRequest(b, 0)
	if _, err := r.conn.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

// ask sends a request and returns the answer; without one the connection was closed.
func (r *raw) ask(h wire.RequestHeader, fill func([]byte) []byte) (wire.Answer, bool) {
	r.t.Helper()
	r.send(3, h, fill)
	f, err := r.reader.Response()
	if errors.Is(err, io.EOF) {
		return wire.Answer{}, false
	}
	if err != nil || f.Slot != 3 {
		r.t.Fatal(f, err)
	}
	a, err := wire.ParseAnswer(f.Payload)
	if err != nil {
		r.t.Fatal(err)
	}
	return a, true
}

func hello(v wire.Version) func([]byte) []byte {
	return message.EndpointRequest{Version: v, Handshake: &message.Handshake{Stream: true, ResultSets: 16}}.Append
}

func TestMessagesOfNewerVersionsAreRefused(t *testing.T) {
	t.Parallel()
	newer := wire.RequestHeader{Version: wire.Version{Major: 2, Minor: 1}, Service: wire.Endpoint,
		Session: wire.NoSession}
	now := wire.RequestHeader{Version: wire.FrameworkVersion, Service: wire.Endpoint, Session: wire.NoSession}
	for _, newest := range []bool{false, true} {
		s := tsurugitest.Start(t, tsurugitest.Config{Newest: newest})
		if _, ok := dial(t, s).ask(newer, hello(wire.EndpointVersion)); ok != newest {
			t.Errorf("newest %v: a newer header is answered: %v", newest, ok)
		}
		a, ok := dial(t, s).ask(now, hello(wire.Version{Minor: 2}))
		if !ok {
			t.Fatal("no answer")
		}
		if e, err := message.ParseEndpointAnswer(a.Message); err != nil || (e.Error == nil) != newest {
			t.Errorf("newest %v: a newer handshake: %+v, %v", newest, e, err)
		}
		c := dial(t, s)
		if _, ok := c.ask(now, hello(wire.EndpointVersion)); !ok {
			t.Fatal("no answer")
		}
		now := now
		now.Service = wire.SQL
		a, ok = c.ask(now, (&message.Request{Kind: message.ListTables,
			Version: wire.Version{Major: 2, Minor: 1}}).Append)
		if !ok || (a.Diagnostic == nil) != newest {
			t.Errorf("newest %v: a newer request: %+v", newest, a.Diagnostic)
		}
	}
}

func TestTheHandshakeComesFirst(t *testing.T) {
	t.Parallel()
	s := tsurugitest.Start(t, tsurugitest.Config{})
	a, ok := dial(t, s).ask(wire.RequestHeader{Service: wire.SQL},
		(&message.Request{Kind: message.ListTables, Version: wire.SQLVersion}).Append)
	if e, err := message.ParseEndpointAnswer(a.Message); !ok || err != nil || e.Error == nil {
		t.Errorf("%+v, %v", e, err)
	}
	c := dial(t, s)
	a, ok = c.ask(wire.RequestHeader{Service: wire.Endpoint}, message.EndpointRequest{EncryptionKey: true}.Append)
	if e, err := message.ParseEndpointAnswer(a.Message); !ok || err != nil || e.Error == nil || e.Error.Code != 2 {
		t.Errorf("the key of a server without credentials: %+v, %v", e, err)
	}
	a, ok = c.ask(wire.RequestHeader{Service: wire.Endpoint}, hello(wire.EndpointVersion)) // on the same connection
	if e, err := message.ParseEndpointAnswer(a.Message); !ok || err != nil || e.Error != nil || e.Session == 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestQueriesHaveLowSlots(t *testing.T) {
	t.Parallel()
	s := tsurugitest.Start(t, tsurugitest.Config{})
	c := dial(t, s)
	c.ask(wire.RequestHeader{Service: wire.Endpoint}, hello(wire.EndpointVersion))
	header := wire.RequestHeader{Service: wire.SQL}
	a, _ := c.ask(header, (&message.Request{Kind: message.Begin, Version: wire.SQLVersion}).Append)
	tx, err := message.ParseAnswer(a.Message)
	if err != nil {
		t.Fatal(err)
	}
	c.ask(header, (&message.Request{Kind: message.Statement, Version: wire.SQLVersion, Tx: tx.Handle,
		SQL: "CREATE TABLE t (id INT)"}).Append)
	for slot, ok := range map[uint16]bool{15: true, 16: false} {
		c.send(slot, header, (&message.Request{Kind: message.Query, Version: wire.SQLVersion, Tx: tx.Handle,
			SQL: "SELECT * FROM t"}).Append)
		f, err := c.reader.Response()
		if err != nil || f.Slot != slot || (f.Info == wire.ResultSetHello) != ok {
			t.Errorf("slot %d: %+v, %v", slot, f, err)
		}
		for f.Info != wire.ResponsePayload {
			if f, err = c.reader.Response(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestHooksAreAskedBeforeEachRequest(t *testing.T) {
	t.Parallel()
	s := tsurugitest.Start(t, tsurugitest.Config{})
	c, err := tsurugi.Connect(t.Context(), s.Endpoint(), tsurugi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	run := func(sql string) error {
		tx, err := c.Begin(t.Context(), tsurugi.TxOptions{})
		if err != nil {
			return err
		}
		defer tx.Rollback(t.Context())
		if _, err := tx.Exec(t.Context(), sql); err != nil {
			return err
		}
		return tx.Commit(t.Context())
	}
	if err := run("CREATE TABLE t (id INT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	s.On(tsurugitest.Nth(tsurugitest.Execute, 2, tsurugitest.Fail(int(tsurugi.CodeSQLExecution), "disk full")))
	var e *tsurugi.Error
	for i, want := range []bool{true, false, true} {
		err := run("INSERT INTO t VALUES (" + string(rune('1'+i)) + ")")
		if (err == nil) != want || err != nil && (!errors.As(err, &e) || e.Message != "disk full") {
			t.Errorf("statement %d: %v", i, err)
		}
	}
	s.On(nil)
	if s.Count("t") != 2 || s.Count("nowhere") != -1 || s.Sessions() != 1 {
		t.Errorf("%d rows, %d sessions", s.Count("t"), s.Sessions())
	}
	st := s.Stats()
	if st.Sessions != 1 || st.Commits != 3 || st.Rows != 2 || st.Statements != 3 || st.Requests < 10 || st.Waits == 0 ||
		st.BytesIn == 0 || st.BytesOut == 0 {
		t.Errorf("%+v", st)
	}
}

func FuzzServer(f *testing.F) {
	s, err := tsurugitest.New(tsurugitest.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	request := func(service wire.Service, fill func([]byte) []byte) []byte {
		b := wire.BeginRequest(nil, wire.RequestPayload, 1)
		b = wire.AppendRequestHeader(b, wire.RequestHeader{Service: service})
		b = wire.Delimited(b, fill)
		wire.EndRequest(b, 0)
		return b
	}
	first := request(wire.Endpoint, hello(wire.EndpointVersion))
	f.Add(request(wire.SQL, (&message.Request{Kind: message.Begin, Version: wire.SQLVersion}).Append))
	f.Add(request(wire.SQL,
		(&message.Request{Kind: message.Prepare, SQL: "SELECT 1 FROM t", Version: wire.SQLVersion}).Append))
	f.Add(request(wire.SQL,
		(&message.Request{Kind: message.Commit, Tx: []byte{8, 1}, Version: wire.SQLVersion}).Append))
	f.Add(request(wire.Core, message.CoreRequest{Shutdown: true}.Append))
	f.Fuzz(func(t *testing.T, b []byte) {
		conn, err := net.Dial("tcp", s.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write(append(append([]byte(nil), first...), b...)); err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			return // the server has closed it already
		}
		_, _ = io.Copy(io.Discard, conn) // until the server, which must not fall over, closes it
	})
}
