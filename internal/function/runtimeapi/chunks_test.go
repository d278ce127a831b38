package runtimeapi_test

import (
	"encoding/base64"
	"strings"
	"sync"
	"testing"
)

const chunked = "/response HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\nTrailer: " +
	"Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body\r\n\r\n"

func TestAnAnswerInChunksMayEndAsAnError(t *testing.T) {
	long := strings.Repeat("long ", 4000)
	for name, c := range map[string]struct {
		text, body, errorType string
	}{
		"well":        {"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", "abcde", ""},
		"empty":       {"0\r\n\r\n", "", ""},
		"other lines": {"1\r\na\r\n0\r\nX-Other: b\r\n\r\n", "a", ""},
		"an error": {"1\r\na\r\n0\r\nLambda-Runtime-Function-Error-Type: " +
			"E.F\r\nlambda-runtime-function-error-body: e30=\r\n\r\n", "{}", "E.F"},
		"an error whose text is as such": {"0\r\nLambda-Runtime-Function-Error-Type:E\r\nLambda-Runtime-Function-Error-Body: {\r\n\r\n", "{", "E"},
		"a long error": {"0\r\nLambda-Runtime-Function-Error-Type: E\r\nLambda-Runtime-Function-Error-Body: " +
			base64.StdEncoding.EncodeToString([]byte(long)) + "\r\n\r\n",
			long, "E"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			conn := d.connect()
			for range 2 { // the connection goes on
				d.given(conn, "a", "x")
				conn.send("POST " + path + "a" + chunked + c.text)
				conn.expect(202, "OK")
				if a := <-d.answers; string(a.Body) != c.body || a.ErrorType != c.errorType ||
					a.Failed != (c.errorType != "") || a.ContentType != "text/plain" || a.Streamed {
					t.Errorf("%.200q, %+v", a.Body, a)
				}
			}
			conn.send("POST " + path + "a" + chunked + c.text) // nobody has asked for it
			if _, _, body := conn.read(); !strings.Contains(body, "errorType") {
				t.Error(body)
			}
			d.given(conn, "b", "y")
		})
	}
}

func TestATrailerThatCannotBeReadIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"it is too large": "0\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n",
		"it has no names": "0\r\nwhatever\r\n\r\n",
		"bad chunks":      "x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			c := d.connect()
			d.given(c, "a", "x")
			var writing sync.WaitGroup
			defer writing.Wait()
			// it is not read to its end
			writing.Go(func() { _, _ = c.conn.Write([]byte("POST " + path + "a" + chunked + text)) })
			if a := <-d.answers; a.ErrorType != "Runtime.TruncatedResponse" || !a.Failed {
				t.Errorf("%+v", a)
			}
		})
	}
}
