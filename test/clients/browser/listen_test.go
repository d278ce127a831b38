package browser_test

import (
	"net"
	"net/http"
	"testing"
)

// listen serves on loopback until the test ends.
func listen(t *testing.T, s *http.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l) // returns when it is closed
	}()
	t.Cleanup(func() {
		s.Close()
		<-ended
	})
	return l.Addr().String()
}
