package door

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/door/line"
)

// TestAStopDoesNotWaitForRequestsThatHaveNotComeWhole stops doors that have clients who sent nothing, half a header,
// half a body, and a request that is worked on until all of the others are gone.
func TestAStopDoesNotWaitForRequestsThatHaveNotComeWhole(t *testing.T) {
	for name, plain := range map[string]func(*line.Exchange){
		"net/http": nil,
		"line":     func(x *line.Exchange) { _ = x.Send(http.StatusOK, []byte("plain")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, gone := make(chan struct{}), make(chan struct{})
			w := open(t, Config{Plain: plain, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.ReadAll(r.Body); err != nil {
					return
				}
				close(begun)
				<-gone
				_, _ = io.WriteString(w, "handler")
			})})
			send := func(text string) net.Conn {
				c, err := new(net.Dialer).DialContext(t.Context(), "tcp", w.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				if _, err := io.WriteString(c, text); err != nil {
					t.Fatal(err)
				}
				return c
			}
			working := send("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
			<-begun
			parts := []net.Conn{
				send(""), send("POST / HTTP/1.1\r\nHo"),
				send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"),
				send("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"),
			}
			closed := make(chan error, 1)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			go func() { closed <- w.Close(ctx) }()
			for _, c := range parts {
				_, _ = io.Copy(io.Discard, c) // until it is closed, or reset
			}
			close(gone)
			resp, err := http.ReadResponse(bufio.NewReader(working), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "handler" {
				t.Errorf("what was under way is answered with %q, %v", text, err)
			}
			if err := <-closed; err != nil {
				t.Errorf("the door closes with %v", err)
			}
		})
	}
}

// TestALongBodyIsRefusedBeforeItComes refuses by the length that a request names, while its client waits for the
// answer.
func TestALongBodyIsRefusedBeforeItComes(t *testing.T) {
	w := open(t, Config{Handler: http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	})})
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", w.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc"); err != nil {
		t.Fatal(err)
	}
	// the door would wait a minute for the rest
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge || !resp.Close {
		t.Errorf("answered %s, and closes: %v", resp.Status, resp.Close)
	}
}
