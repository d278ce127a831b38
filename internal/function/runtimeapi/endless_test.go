package runtimeapi_test

import (
	"io"
	"strings"
	"testing"
)

// What a program sends before its request begins counts as nobody's memory but ours.
func TestAHeadWithoutEndIsNotKept(t *testing.T) {
	for name, begin := range map[string]string{
		"fields":            "GET /2018-06-01/ping HTTP/1.1\r\nHost: x\r\nX: ",
		"one line":          "GET /",
		"of an answer":      "POST " + path + "a/response HTTP/1.1\r\nHost: x\r\nX: ",
		"behind the answer": "POST /2018-06-01/runtime/init/error HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX: ",
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			c := d.connect()
			c.send(begin)
			const much = 64 << 20
			sent := 0
			for piece := strings.Repeat("x", 64<<10); sent < much; sent += len(piece) {
				if _, err := io.WriteString(c.conn, piece); err != nil {
					return // it was closed
				}
			}
			t.Errorf("%d bytes were taken", sent)
		})
	}
}
