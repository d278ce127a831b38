package push

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

// FuzzReadReply lets the far end answer anything in HTTP/1.1.
func FuzzReadReply(f *testing.F) {
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nX-Wns-Status: received\r\n\r\nok",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 410 Gone\r\nconnection: close\r\n\r\n",
		"HTTP/1.0 200\r\n\r\nuntil the end", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "HTTP/2.0 999 x\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, last, err := readReply(bufio.NewReader(bytes.NewReader(text)), "POST", 10)
		if err != nil {
			return
		}
		if r.Status < 200 || r.Status > 599 || len(r.Body) > 10 || r.Truncated && !last {
			t.Errorf("%+v, last %v", r, last)
		}
		for _, field := range r.Header {
			if strings.ToLower(field.Name) != field.Name {
				t.Errorf("field %q", field.Name)
			}
		}
	})
}
