package line

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a server whose own answers begin with "line" and those of net/http with "other", in front of the body that was
// sent.
type rig struct {
	t      *testing.T
	server *Server
	web    *http.Server
	addr   string
	served sync.WaitGroup
}

func newRig(t *testing.T, c Config, l net.Listener) *rig {
	t.Helper()
	if c.Serve == nil {
		c.Serve = echo
	}
	if l == nil {
		var err error
		if l, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{t: t, server: New(l, c), addr: l.Addr().String()}
	r.web = &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			body, err := io.ReadAll(q.Body)
			if err != nil {
				return // the client broke off
			}
			_, _ = io.WriteString(w, "other "+q.Method+" "+string(body)) // a client that is gone misses it
		})}
	r.served.Go(func() {
		if err := r.server.Run(); err != nil {
			t.Error(err)
		}
	})
	r.served.Go(func() { _ = r.web.Serve(r.server.Others()) }) // it ends with the listener
	t.Cleanup(r.close)
	return r
}

func (r *rig) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		r.t.Error(err)
	}
	_ = r.web.Close() // what was handed to it ends, whatever its clients do
	r.served.Wait()
}

func echo(x *Exchange) {
	// a client that is gone misses it
	_ = x.Send(http.StatusOK, append(append(x.Begin(), "line "...), x.Body...),
		Field{"X-Was", x.Request.Header.Get("X-Is")})
}

// line is a connection of a client.
type line struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func (r *rig) dial() *line {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return &line{r.t, c, bufio.NewReader(c)}
}

func (l *line) write(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l, text); err != nil {
		l.t.Fatal(err)
	}
}

// answer reads an answer.
func (l *line) answer() (*http.Response, string) {
	l.t.Helper()
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res, string(body)
}

// want asks and compares the body of the answer.
func (l *line) want(request, body string) {
	l.t.Helper()
	l.write(request)
	if _, got := l.answer(); got != body {
		l.t.Errorf("%.100q is answered %.100q, not %.100q", request, got, body)
	}
}

// plainRequest is a request that is served here.
func plainRequest(body string, fields ...string) string {
	return "POST / HTTP/1.1\r\nHost: localhost\r\n" + strings.Join(append(fields, ""), "\r\n") + "Content-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body
}
