package databasetest_test

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/hikyaku/hikyaku/internal/databasetest"
)

// echo answers every byte with itself.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

func TestTheProxyCutsWhenToldAndPassesEverythingElse(t *testing.T) {
	p, err := databasetest.NewProxy(echo(t), func() func([]byte) bool {
		return func(sent []byte) bool { return bytes.Contains(sent, []byte("commit")) }
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	said := func(text string, n int) (string, error) {
		c, err := net.Dial("tcp", p.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, n)
		n, err = io.ReadFull(c, got)
		return string(got[:n]), err
	}
	if got, err := said("hello", 5); got != "hello" || err != nil {
		t.Error(got, err)
	}
	p.CutAfter(3)
	if got, err := said("hello", 5); got == "hello" || err == nil {
		t.Error("it was not cut", got, err)
	}
	lost := p.LoseAnswer()
	if got, err := said("hello", 5); got != "hello" || err != nil || lost() {
		t.Error(got, err, lost())
	}
	if got, err := said("commit", 6); got != "" || err == nil || !lost() {
		t.Error("it was answered", got, err, lost())
	}
	if got, err := said("commit", 6); got != "commit" || err != nil {
		t.Error(got, err)
	}
}
