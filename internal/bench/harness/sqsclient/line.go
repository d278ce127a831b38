package sqsclient

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// Line is a connection that asks a server of SQS's JSON protocol, and costs as little as can be: a request is one
// write, and of an answer no more is read than its status, its length and what the caller looks for. It signs nothing
// and verifies nothing. It is for one goroutine at a time.
type Line struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	body []byte // of the last answer
	stop func() bool
	host string
}

// OpenLine connects. The line is closed when ctx ends.
func OpenLine(ctx context.Context, host string) (*Line, error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return lineOver(ctx, conn, host), nil
}

func lineOver(ctx context.Context, conn net.Conn, host string) *Line {
	l := &Line{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), host: host}
	l.stop = context.AfterFunc(ctx, func() { conn.Close() })
	return l
}

// Close hangs up.
func (l *Line) Close() error {
	l.stop()
	return l.conn.Close()
}

// Ask sends a request and returns the answer's body, which the next one overwrites.
func (l *Line) Ask(action string, body []byte) ([]byte, error) {
	if err := l.Say(action, body); err != nil {
		return nil, err
	}
	return l.Hear(action)
}

// Say sends a call, whose answer Hear reads.
func (l *Line) Say(action string, body []byte) error {
	l.out = append(l.out[:0], "POST / HTTP/1.1\r\nHost: "...)
	l.out = append(l.out, l.host...)
	l.out = append(l.out, "\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS."...)
	l.out = append(l.out, action...)
	l.out = append(l.out, "\r\nContent-Length: "...)
	l.out = strconv.AppendInt(l.out, int64(len(body)), 10)
	l.out = append(l.out, "\r\n\r\n"...)
	l.out = append(l.out, body...)
	if err := l.conn.SetDeadline(time.Now().Add(answersWithin)); err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	if _, err := l.conn.Write(l.out); err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}

// answersWithin is how long a call may take: some wait for messages as long as they can, and to delete 300,000 messages
// takes a while.
const answersWithin = time.Minute

// ErrRefused: the server refused what it was asked.
var ErrRefused = errors.New("the server refused")

// Hear reads the answer to what was said.
func (l *Line) Hear(action string) ([]byte, error) {
	body, err := l.answer()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("%s: there is no answer after %v: %w", action, answersWithin, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", action, err)
	}
	return body, nil
}

// answer reads an answer. The error of one that is not good has what it says.
func (l *Line) answer() ([]byte, error) {
	status, err := l.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	good := bytes.HasPrefix(status, []byte("HTTP/1.1 200"))
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 ")) {
		return nil, fmt.Errorf("%w: it begins with %q", harness.ErrProtocol, status)
	}
	length := -1
	for {
		header, err := l.in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if len(header) <= 2 {
			break
		}
		if name, value, ok := bytes.Cut(header, []byte(":")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return nil, fmt.Errorf("%w: %w", harness.ErrProtocol, err)
			}
		}
	}
	if length < 0 || length > 64<<20 {
		return nil, fmt.Errorf("%w: no length is said, or too great a one", harness.ErrProtocol)
	}
	if cap(l.body) < length {
		l.body = make([]byte, length)
	}
	l.body = l.body[:length]
	if _, err := io.ReadFull(l.in, l.body); err != nil {
		return nil, err
	}
	if !good {
		return nil, fmt.Errorf("%w: %.300s", ErrRefused, l.body)
	}
	return l.body, nil
}

// TextOf finds the next text of a name in JSON, as it stands there, and what follows it. It is for texts that need no
// escapes.
func TextOf(name string, json []byte) (text, rest []byte, ok bool) {
	for {
		at := bytes.Index(json, []byte(name))
		if at < 0 {
			return nil, nil, false
		}
		json = json[at+len(name):]
		if v, found := bytes.CutPrefix(bytes.TrimLeft(json, " "), []byte(":")); found {
			if v, found = bytes.CutPrefix(bytes.TrimLeft(v, " "), []byte(`"`)); found {
				if end := bytes.IndexByte(v, '"'); end >= 0 {
					return v[:end], v[end+1:], true
				}
			}
		}
	}
}
