package line

import (
	"bytes"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

// head is what was read of a request before its body. It remembers the lines of the request before: clients repeat most
// of them, and what is the same has not to be made again.
type head struct {
	request http.Request
	target  string // of the request line
	fields  []field
	size    int  // of the head
	length  int  // of the body
	end     int  // of the request that is being served
	expects bool // a 100 Continue before it sends its body
}

// field is a header line.
type field struct {
	raw   []byte
	key   string
	value []string // one; the request's headers have the same slice
}

// verdict says what can be done with what was read.
type verdict uint8

const (
	more  verdict = iota // the head is not complete
	plain                // it can be served here
	other                // net/http has to see to it
)

var (
	headEnd = []byte("\r\n\r\n")
	post    = []byte("POST ")
	http11  = []byte(" HTTP/1.1")
)

// maxFields is how many headers a plain request has at most.
const maxFields = 64

// read reads a head from the beginning of data and returns its length.
func (h *head) read(data []byte) (n int, v verdict) {
	if len(data) < len(post) {
		return 0, more
	}
	if !bytes.HasPrefix(data, post) {
		return 0, other
	}
	end := bytes.Index(data, headEnd)
	if end < 0 {
		return 0, more
	}
	if n = end + len(headEnd); n > maxHead {
		return n, other
	}
	rest := data[:end+2]
	first, rest, _ := bytes.Cut(rest, headEnd[:2])
	if !h.line(first) {
		return n, other
	}
	same := true // the fields have the same names in the same order as before
	count := 0
	for len(rest) > 0 {
		i := bytes.IndexByte(rest, '\n')
		if i < 1 || rest[i-1] != '\r' || count == maxFields {
			return n, other
		}
		raw := rest[:i-1]
		rest = rest[i+1:]
		if count < len(h.fields) && bytes.Equal(h.fields[count].raw, raw) {
			count++
			continue
		}
		sameKey, ok := h.field(count, raw)
		if !ok {
			h.forget()
			return n, other
		}
		same = same && sameKey
		count++
	}
	if !same || count != len(h.fields) {
		h.fields = h.fields[:count]
		if !h.index() {
			h.forget()
			return n, other
		}
	}
	if !h.check() {
		return n, other
	}
	h.size = n
	return n, plain
}

// line reads a request line whose method is POST.
func (h *head) line(first []byte) bool {
	target, ok := bytes.CutSuffix(first[len(post):], http11)
	if !ok || len(target) == 0 || target[0] != '/' {
		return false
	}
	if string(target) == h.target {
		return true
	}
	for _, c := range target {
		if c <= ' ' || c >= 0x7F {
			return false
		}
	}
	u, err := url.ParseRequestURI(string(target))
	if err != nil {
		return false
	}
	h.target = string(target)
	h.request.URL, h.request.RequestURI = u, h.target
	return true
}

// field reads a header line into its place. sameKey tells that the line there had the same name, so that the headers
// know it already.
func (h *head) field(i int, raw []byte) (sameKey, ok bool) {
	colon := bytes.IndexByte(raw, ':')
	if colon < 1 {
		return false, false
	}
	name, value := raw[:colon], bytes.Trim(raw[colon+1:], " \t")
	for _, c := range name {
		if !tokenByte(c) {
			return false, false
		}
	}
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7F {
			return false, false
		}
	}
	if i == len(h.fields) {
		h.fields = append(h.fields, field{})
	}
	f := &h.fields[i]
	sameKey = f.key != "" && len(f.raw) > colon && bytes.Equal(f.raw[:colon+1], raw[:colon+1])
	f.raw = append(f.raw[:0], raw...)
	if sameKey {
		f.value[0] = string(value)
		return true, true
	}
	f.key, f.value = textproto.CanonicalMIMEHeaderKey(string(name)), []string{string(value)}
	return false, true
}

// index makes the headers of the fields anew. It fails when a name stands twice.
func (h *head) index() bool {
	if h.request.Header == nil {
		h.request.Header = make(http.Header, len(h.fields))
	}
	clear(h.request.Header)
	for i := range h.fields {
		f := &h.fields[i]
		if _, twice := h.request.Header[f.key]; twice {
			return false
		}
		if f.key == "Host" { // net/http has it elsewhere
			continue
		}
		h.request.Header[f.key] = f.value
	}
	return true
}

// check finds what makes a request other than plain, and how long its body is.
func (h *head) check() bool {
	host, length := false, -1
	h.expects = false
	for i := range h.fields {
		f := &h.fields[i]
		value := f.value[0]
		switch f.key {
		case "Host":
			if host || value == "" || strings.ContainsAny(value, "/@ \t") {
				return false
			}
			host, h.request.Host = true, value
		case "Content-Length":
			if length = decimal(value); length < 0 {
				return false
			}
		case "Expect":
			if h.expects = strings.EqualFold(value, "100-continue"); !h.expects {
				return false
			}
		case "Transfer-Encoding", "Upgrade", "Trailer", "Te":
			return false
		case "Connection":
			if !strings.EqualFold(value, "keep-alive") {
				return false
			}
		}
	}
	if !host || length < 0 || length > maxBody {
		return false
	}
	h.length, h.request.ContentLength = length, int64(length)
	h.request.Method, h.request.Proto, h.request.ProtoMajor, h.request.ProtoMinor, h.request.Body = http.MethodPost,
		"HTTP/1.1", 1, 1, http.NoBody
	return true
}

// forget lets the next head be read without the one before.
func (h *head) forget() { h.fields = h.fields[:0] }

// decimal reads a number of at most nine digits; -1 for anything else.
func decimal(s string) int {
	if s == "" || len(s) > 9 {
		return -1
	}
	n := 0
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// tokenByte tells whether a character can stand in the name of a header.
func tokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
