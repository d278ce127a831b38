package runtimeapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

type nobody struct{}

func (nobody) Asked()                         {}
func (nobody) Answered(*Invocation, Answer)   {}
func (nobody) InitFailed(string, []byte)      {}
func (nobody) ExtensionFailed(string, string) {}

// waits waits until the runtime waits on a connection, or on none.
func waits(t *testing.T, s *Server, want bool) {
	t.Helper()
	waittest.Until(t, fmt.Sprintf("waiting is %v", want), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return (s.waiting != nil) == want
	})
}

func TestAnInvocationIsNotLostWithAConnectionThatWentAway(t *testing.T) {
	s, err := Listen(Config{Handler: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ask := func() net.Conn {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET "+prefix+"next HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := ask()
	waits(t, s, true)
	first.Close()
	waits(t, s, false)
	s.Give(&Invocation{ID: "a", Body: []byte("x")})
	second := ask()
	defer second.Close()
	r, err := http.ReadResponse(bufio.NewReader(second), nil)
	if err != nil || r.Header.Get("Lambda-Runtime-Aws-Request-Id") != "a" {
		t.Errorf("%+v, %v", r, err)
	}
}
