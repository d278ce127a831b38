package runtimeapi

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
)

// FuzzHead checks that a head that is read without net/http means what net/http would have read.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{
		"GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: x\r\nUser-Agent: go\r\n\r\n",
		"POST /2018-06-01/runtime/invocation/some-id/response HTTP/1.1\r\nHost: x\r\nContent-Length: " +
			"3\r\nContent-Type: application/json\r\n\r\nabc",
		"POST /2018-06-01/runtime/invocation/some-id/error HTTP/1.1\r\nHost: x\r\ncontent-length: " +
			"0\r\nLambda-Runtime-Function-Error-Type: E\r\n\r\n",
		"POST /2018-06-01/runtime/invocation/a/response HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: " +
			"4\r\n\r\nabcd",
		"POST /2018-06-01/runtime/invocation/a/response HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " +
			"chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
		"POST /2018-06-01/runtime/invocation/a/response HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " +
			"chunked\r\nTrailer: " +
			"Lambda-Runtime-Function-Error-Type\r\n\r\n1\r\na\r\n2;x=y\r\nbc\r\n0\r\nLambda-Runtime-Function-Error-Type: E\r\nlambda-runtime-function-error-body:e30=\r\n\r\n",
		"POST /2018-06-01/runtime/invocation/a/response HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " +
			"chunked\r\nContent-Length: 1\r\n\r\n1\r\na\r\n0\r\n\r\n",
		"POST /2018-06-01/runtime/invocation/a/response HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
			"1\r\n\r\na",
		"POST /2018-06-01/runtime/invocation/a/response HTTP/1.1\r\nContent-Length : 1\r\n\r\na",
		"POST /2018-06-01/runtime/invocation/a/response HTTP/1.1\r\nHost: x\r\n folded: 1\r\nContent-Length: 1\r\n\r\na",
		"GET /2018-06-01/runtime/invocation/next HTTP/1.1\nHost: x\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, whole := readHead(data)
		if !whole || h.kind == isOther {
			return
		}
		if h.size > len(data) || !bytes.HasSuffix(data[:h.size], []byte("\r\n\r\n")) {
			t.Fatalf("a head of %d bytes in %q", h.size, data)
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
		if err != nil {
			return // net/http is stricter about bytes in names and values that nobody looks at
		}
		length := int64(h.length)
		if h.chunked {
			length = -1
		}
		if r.Close || (len(r.TransferEncoding) > 0) != h.chunked || r.ContentLength != length {
			t.Fatalf("%q: %d bytes, closing %v, encoding %q; read as %+v", data, r.ContentLength, r.Close,
				r.TransferEncoding, h)
		}
		want := "next"
		if h.kind != isNext {
			want = h.id + map[kind]string{isResponse: "/response", isError: "/error"}[h.kind]
		}
		if r.URL.Path != prefix+want {
			t.Fatalf("%q: %s, read as %+v", data, r.URL.Path, h)
		}
		if got := r.Header.Get("Lambda-Runtime-Function-Error-Type"); got != h.errorType &&
			len(r.Header.Values("Lambda-Runtime-Function-Error-Type")) == 1 {
			t.Fatalf("%q: %q, read as %+v", data, got, h)
		}
		rest, err := io.ReadAll(r.Body)
		if h.chunked {
			sameChunks(t, data[h.size:], rest, r.Trailer, err)
			return
		}
		if have := data[h.size:]; err == nil && !strings.HasPrefix(string(have), string(rest)) {
			t.Fatalf("%q: the body is %q", data, rest)
		}
	})
}

// sameChunks checks that a body in chunks, and its trailer, are read as net/http has read them.
func sameChunks(t *testing.T, data, body []byte, want http.Header, wrong error) {
	t.Helper()
	c := &conn{in: bufio.NewReaderSize(bytes.NewReader(data), buffer)}
	got, err := io.ReadAll(httputil.NewChunkedReader(c.in))
	var end trailer
	if err == nil {
		end, err = readTrailer(c)
	}
	if wrong != nil {
		return // net/http is stricter about lines of the trailer that nobody looks at, and about how long it is
	}
	if err != nil || !bytes.Equal(got, body) {
		t.Fatalf("%q: the body is %q, net/http has read %q: %v", data, got, body, err)
	}
	for name, value := range map[string]string{trailerType: end.errorType, trailerBody: end.errorBody} {
		if len(want.Values(name)) == 1 && want.Get(name) != value {
			t.Fatalf("%q: %s is %q, net/http has read %q", data, name, value, want)
		}
	}
}
