package push

import (
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/push/wire"
)

// A Call is a request under way.
type Call struct {
	client  *Client
	request *Request
	done    func(Result)
	bound   int  // the most bytes that its header frame and its body take in one piece
	list    int  // the size of its fields, as HPACK counts
	sized   bool // the caller gave a content-length

	// The rest is the client's, under its mutex.
	state       callState
	prev, next  *Call // in the line
	avoid       *conn // in whose line it is rather than in everybody's
	left, right *Call // in the wheel
	tick        int64 // when the deadline has passed, in ticks of the wheel; -1: not in it
	tries       int

	conn    *conn // who has it
	stream  uint32
	sent    time.Time // the last byte was handed over
	ending  bool      // the last byte is being handed over, or was
	blocked bool      // the body waits for the far end's window
	offset  int       // of the body: what was handed over or is being
	window  int64     // what the far end still allows on this stream; kept while the body is not out

	response *Response // its header came
}

type callState uint8

const (
	waiting  callState = iota // in the line
	given                     // a connection has it
	finished                  // answered, or about to be
)

// newCall checks a request and measures it.
func (c *Client) newCall(r *Request, done func(Result)) (*Call, error) {
	call := &Call{client: c, request: r, done: done}
	if r == nil {
		return call, fmt.Errorf("%w: it is nil", ErrRequest)
	}
	if !isToken(r.Method) {
		return call, fmt.Errorf("%w: method %q", ErrRequest, r.Method)
	}
	if len(r.Path) == 0 || r.Path[0] != '/' || !isPath(r.Path) {
		return call, fmt.Errorf("%w: path %.100q", ErrRequest, r.Path)
	}
	if len(r.Body) > MaxBody {
		return call, fmt.Errorf("%w: a body of %d bytes is longer than %d", ErrRequest, len(r.Body), MaxBody)
	}
	call.bound = 2*wire.HeaderLen + wire.BeginBound(r.Method, c.config.Authority, r.Path) + len(r.Body) + 24
	call.list = len(r.Method) + len(r.Path) + len(c.config.Authority) + 5*32 + 64
	for i := range r.Header {
		f := &r.Header[i]
		if err := checkField(f); err != nil {
			return call, err
		}
		if f.Name == "content-length" {
			call.sized = true
		}
		call.bound += wire.Bound(f.Name, f.Value)
		call.list += len(f.Name) + len(f.Value) + 32
	}
	if call.list > maxHeader {
		return call, fmt.Errorf("%w: its fields have %d bytes, more than %d", ErrRequest, call.list, maxHeader)
	}
	return call, nil
}

// MaxBody is the longest body of a request in bytes. (APNs takes 4 or 5 KiB, FCM and Web Push 4 KiB.)
const MaxBody = 1 << 20

// maxHeader is the most that the fields of a request may have.
const maxHeader = 64 << 10

func checkField(f *Field) error {
	if !isFieldName(f.Name) {
		return fmt.Errorf("%w: field name %.100q", ErrRequest, f.Name)
	}
	switch f.Name {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "host":
		return fmt.Errorf("%w: HTTP/2 has no field %q", ErrRequest, f.Name)
	}
	if !isFieldValue(f.Value) {
		if f.Sensitive {
			return fmt.Errorf("%w: the value of field %s has a control character or a space at its end", ErrRequest,
				f.Name)
		}
		return fmt.Errorf("%w: field %s: value %.100q", ErrRequest, f.Name, f.Value)
	}
	return nil
}

func isFieldName(s string) bool {
	for i := 0; i < len(s); i++ {
		if b := s[i]; !isTokenByte[b] || b >= 'A' && b <= 'Z' {
			return false
		}
	}
	return len(s) > 0
}

func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isTokenByte[s[i]] {
			return false
		}
	}
	return len(s) > 0
}

// isFieldValue takes eight bytes at once: a push has some hundred bytes of values.
func isFieldValue(s string) bool {
	if s == "" {
		return true
	}
	if f, l := s[0], s[len(s)-1]; f == ' ' || f == '\t' || l == ' ' || l == '\t' {
		return false
	}
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if hasControl(uint64(s[i])|uint64(s[i+1])<<8|uint64(s[i+2])<<16|uint64(s[i+3])<<24|
			uint64(s[i+4])<<32|uint64(s[i+5])<<40|uint64(s[i+6])<<48|uint64(s[i+7])<<56) && !areValueBytes(s[i:i+8]) {
			return false
		}
	}
	return areValueBytes(s[i:])
}

func areValueBytes(s string) bool {
	for i := 0; i < len(s); i++ {
		if b := s[i]; b < ' ' && b != '\t' || b == 0x7f {
			return false
		}
	}
	return true
}

// hasControl tells whether one of eight bytes may be below 0x20 or 0x7f; it is never wrong when it says no.
func hasControl(v uint64) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	del := v ^ 0x7f*ones
	return ((v-0x20*ones)&^v|(del-ones)&^del)&highs != 0
}

func isPath(s string) bool {
	for i := 0; i < len(s); i++ {
		if b := s[i]; b <= ' ' || b >= 0x7f || b == '#' {
			return false
		}
	}
	return true
}

var isTokenByte = func() (t [256]bool) {
	for b := range t {
		t[b] = b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b < 0x80 && b > 0 &&
			strings.IndexByte("!#$%&'*+-.^_`|~", byte(b)) >= 0
	}
	return t
}()
