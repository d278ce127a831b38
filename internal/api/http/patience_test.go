package http

import (
	"net"
	"net/http"
	"testing"
	"time"
)

// TestAClientWaitsForAServerThatIsStarting, but not for one that does not come.
func TestAClientWaitsForAServerThatIsStarting(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for _, patience := range []time.Duration{0, 100 * time.Millisecond} {
		c, err := NewClient(ClientConfig{URL: address, Patience: patience})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := c.DeadSinks(t.Context()); err == nil || time.Since(began) < patience/2 {
			t.Errorf("after %v of %v: %v", time.Since(began), patience, err)
		}
	}
	c, err := NewClient(ClientConfig{URL: address, Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answered := make(chan error, 1)
	go func() {
		_, err := c.DeadSinks(t.Context())
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Fatalf("it does not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if l, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write([]byte(`{"sinks":[]}`))
	})}
	go server.Serve(l)
	defer server.Close()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
