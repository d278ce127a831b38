package publish

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// echo is a server that sends back what it gets.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(c, c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}

func TestALinkIsLateAndLosesNothing(t *testing.T) {
	k, err := newLink(echo(t), 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", k.addr())
	if err != nil {
		t.Fatal(err)
	}
	sent := harness.MakeBody(1 << 20)
	began := time.Now()
	go func() { _, _ = c.Write(sent) }()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(c, got[:1]); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < 20*time.Millisecond {
		t.Errorf("the first byte is back after %v", d)
	}
	if _, err := io.ReadFull(c, got[1:]); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%v; the same: %v", err, bytes.Equal(got, sent))
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if n, err := c.Read(got); err == nil {
		t.Errorf("%d bytes over a link that is closed", n)
	}
	_ = c.Close()
}

func TestALinkToNobodyEndsConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	k, err := newLink(l.Addr().String(), time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", k.addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("somebody answers")
	}
	_ = c.Close()
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

func TestAnAlarmIsNotEarly(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []time.Duration{-time.Second, 0, 100 * time.Microsecond, 3 * time.Millisecond} {
		at := time.Now().Add(d)
		if err := a.until(at); err != nil {
			t.Fatal(err)
		}
		if early := time.Until(at); early > 0 {
			t.Errorf("%v: %v early", d, early)
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
