package runtimeapi

import (
	"bytes"
	"strings"
)

// kind is what a request wants, as far as its head shows it at once.
type kind uint8

const (
	isOther kind = iota // net/http has to read it
	isNext
	isResponse
	isError
)

// head is what was read of a request of the usual form.
type head struct {
	kind        kind
	size        int    // bytes of the head
	length      int    // of the body, unless it is
	chunked     bool   // with a trailer perhaps
	id          string // of the invocation
	contentType string
	errorType   string
}

const prefix = "/2018-06-01/runtime/invocation/"

// readHead reads the head at the beginning of data; whole is false when more of it is needed. A head of another form,
// or with anything in it that changes how the body is read, is whole and of kind isOther.
func readHead(data []byte) (h head, whole bool) {
	end := bytes.Index(data, []byte("\r\n\r\n"))
	if end < 0 {
		return head{}, false
	}
	line, rest, _ := bytes.Cut(data[:end+2], []byte("\r\n"))
	h.size = end + 4
	if !h.line(line) {
		return head{}, true
	}
	hasLength, hasTrailer := false, false
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		colon := bytes.IndexByte(line, ':')
		if colon < 1 || bytes.IndexByte(line, '\n') >= 0 || line[0] == ' ' || line[0] == '\t' {
			return head{}, true
		}
		name, value := line[:colon], bytes.Trim(line[colon+1:], " \t")
		switch len(name) {
		case len("Expect"): // as Upgrade and Connection below: rare, and they change what follows
			if is(name, "Expect") {
				return head{}, true
			}
		case len("Trailer"):
			if is(name, "Upgrade") {
				return head{}, true
			}
			hasTrailer = hasTrailer || is(name, "Trailer")
		case len("Connection"):
			if is(name, "Connection") && !is(value, "keep-alive") {
				return head{}, true
			}
		case len("Content-Type"):
			if is(name, "Content-Type") {
				h.contentType = known(value)
			}
		case len("Content-Length"):
			if is(name, "Content-Length") {
				n, ok := decimal(value)
				if !ok || hasLength {
					return head{}, true
				}
				h.length, hasLength = n, true
			}
		case len("Transfer-Encoding"):
			if is(name, "Transfer-Encoding") {
				if h.chunked || !is(value, "chunked") {
					return head{}, true
				}
				h.chunked = true
			}
		case len("Lambda-Runtime-Function-Error-Type"):
			if is(name, "Lambda-Runtime-Function-Error-Type") {
				h.errorType = string(value)
			}
		case len("Lambda-Runtime-Function-Response-Mode"):
			if is(name, "Lambda-Runtime-Function-Response-Mode") {
				return head{}, true
			}
		}
	}
	switch {
	case h.chunked && (hasLength || h.kind != isResponse), hasTrailer && !h.chunked:
		return head{}, true
	case h.kind != isNext && !hasLength && !h.chunked, h.kind == isNext && h.length != 0:
		return head{}, true
	}
	return h, true
}

// line reads a request line.
func (h *head) line(line []byte) bool {
	if string(line) == "GET "+prefix+"next HTTP/1.1" {
		h.kind = isNext
		return true
	}
	rest, ok := bytes.CutPrefix(line, []byte("POST "+prefix))
	if !ok {
		return false
	}
	if rest, ok = bytes.CutSuffix(rest, []byte(" HTTP/1.1")); !ok {
		return false
	}
	id, what, ok := bytes.Cut(rest, []byte("/"))
	if !ok || len(id) == 0 || bytes.ContainsAny(id, "%?# ") {
		return false
	}
	h.id = string(id)
	switch string(what) {
	case "response":
		h.kind = isResponse
	case "error":
		h.kind = isError
	default:
		return false
	}
	return true
}

func is(a []byte, b string) bool { return len(a) == len(b) && strings.EqualFold(string(a), b) }

// known is a content type, which is one of a few as a rule.
func known(value []byte) string {
	if string(value) == "application/json" {
		return "application/json"
	}
	return string(value)
}

func decimal(b []byte) (n int, ok bool) {
	if len(b) == 0 || len(b) > 15 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
