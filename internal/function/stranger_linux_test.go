package function_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/caller/callertest"
	"github.com/hikyaku/hikyaku/internal/function"
)

// Whoever reaches the endpoint of an instance could take its events and answer them.
func TestOtherAccountsReachNoEndpointOfAnInstance(t *testing.T) {
	for _, isolation := range []function.Isolation{function.Possible, function.None} {
		p := open(t, function.Config{Isolation: isolation})
		deploy(t, p, single)
		var env []string
		answer(t, p, `{"do":"environment"}`, &env)
		addr := ""
		for _, v := range env {
			if a, ok := strings.CutPrefix(v, "AWS_LAMBDA_RUNTIME_API="); ok {
				addr = a
			}
		}
		said := func(dial func(ctx context.Context, network, addr string) (net.Conn, error)) string {
			t.Helper()
			c, err := dial(t.Context(), "tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprintf(c, "GET /2018-06-01/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			text, _ := io.ReadAll(c) // it may have been reset
			return string(text)
		}
		if own := said(new(net.Dialer).DialContext); own == "" {
			t.Errorf("isolation %q: hikyaku's own account gets no answer", isolation)
		}
		if os.Geteuid() == 0 {
			if text := said(callertest.As(t, 65534).Dial); text != "" {
				t.Errorf("isolation %q: another account is answered %q", isolation, text)
			}
		}
		if r := invoke(t, p, `"on"`); string(r.Payload) != `"on"` {
			t.Errorf("%+v with %s", r, r.Payload)
		}
	}
}
