package runtimeapi

import (
	"bufio"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
)

// conn is a connection of a program to the endpoint. One goroutine reads it; what is written comes from that one, or,
// while the runtime waits there, from who gives it an invocation.
type conn struct {
	s   *Server
	net net.Conn
	in  *bufio.Reader
	may *io.LimitedReader // what in reads from: bounded while a head is read
}

// maxHead is how large the head of a request may be: runtimes send what they know of an error's cause in a field of it.
const maxHead = maxOther + 64<<10

// buffer is the size of a connection's buffer, and of the largest head that is read without net/http.
const buffer = 4 << 10

func newConn(s *Server, n net.Conn) *conn {
	may := &io.LimitedReader{R: n, N: math.MaxInt64}
	return &conn{s: s, net: n, may: may, in: bufio.NewReaderSize(may, buffer)}
}

func (c *conn) run() {
	defer c.s.wait.Done()
	defer c.s.forget(c)
	if refuse := c.s.config.Refuse; refuse != nil && refuse(c.net) {
		return
	}
	for c.serve() {
	}
}

// serve reads one request and answers it, and tells whether another can follow.
func (c *conn) serve() bool {
	h, err := c.head()
	if err != nil {
		return false
	}
	switch h.kind {
	case isNext:
		_, _ = c.in.Discard(h.size) // it is in the buffer
		c.s.next(c)
		return true
	case isResponse, isError:
		_, _ = c.in.Discard(h.size) // it is in the buffer
		if h.chunked {
			return c.chunkedAnswer(&h)
		}
		return c.plainAnswer(&h)
	}
	c.may.N = maxHead // net/http keeps whatever comes
	r, err := http.ReadRequest(c.in)
	c.may.N = math.MaxInt64
	if err != nil {
		return false
	}
	defer r.Body.Close()
	if strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		if _, err := io.WriteString(c.net, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return false
		}
	}
	return c.s.route(c, r) && !r.Close
}

// head waits for a request and looks at it without taking it out of the buffer. What is not of the usual form has kind
// isOther.
func (c *conn) head() (h head, err error) {
	for want := 1; ; {
		if _, err := c.in.Peek(want); err != nil {
			return head{}, err
		}
		data, _ := c.in.Peek(c.in.Buffered())
		if h, whole := readHead(data); whole {
			return h, nil
		}
		if want = len(data) + 1; want > buffer {
			return head{}, nil
		}
	}
}

// plainAnswer reads an answer whose length is known, and takes it.
func (c *conn) plainAnswer(h *head) bool {
	inv := c.s.answering(c, h.id)
	if inv == nil || h.length > MaxPayload {
		if !c.skip(int64(h.length)) {
			return false
		}
		if inv != nil {
			c.tooLarge(inv)
		}
		return true
	}
	body := make([]byte, h.length)
	if _, err := io.ReadFull(c.in, body); err != nil {
		c.s.answered(inv, truncated(c.s.config.Now()))
		return false
	}
	a := Answer{At: c.s.config.Now(), Body: body, ContentType: h.contentType, ErrorType: h.errorType,
		Failed: h.kind == isError}
	if inv.Stream != nil && !a.Failed {
		forward(inv, &a)
	}
	c.s.answered(inv, a)
	c.accepted()
	return true
}

// forward gives a whole answer to who wants it in pieces.
func forward(inv *Invocation, a *Answer) {
	inv.Stream.Begin(a.ContentType)
	if len(a.Body) > 0 {
		_, _ = inv.Stream.Write(a.Body) // who is gone misses nothing
	}
	a.Bytes, a.Body = int64(len(a.Body)), nil
}

// skip reads n bytes of a body that nobody wants; false: there are too many, or the connection ended.
func (c *conn) skip(n int64) bool {
	if n > 10*MaxPayload {
		return false
	}
	_, err := io.CopyN(io.Discard, c.in, n)
	return err == nil
}
