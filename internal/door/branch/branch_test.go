package branch

import (
	"errors"
	"io"
	"net"
	"testing"
)

func TestAConnectionIsHandedOverWithWhatWasReadOfIt(t *testing.T) {
	near, far := net.Pipe()
	defer func() { _ = near.Close() }()
	go func() {
		_, _ = near.Write([]byte("lo")) // what is lost, the test misses
		_ = near.Close()
	}()
	l := New(near.LocalAddr(), nil)
	left := 0
	go func() {
		if !l.Hand(Leaving(Begun(far, []byte("hel")), func() { left++ })) {
			t.Error("nobody took it")
		}
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if string(got) != "hello" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if err := c.Close(); err != nil || left != 1 {
		t.Errorf("closed: %v; its place was given back %d times", err, left)
	}
}

func TestABranchEndsWithTheListenerItBelongsTo(t *testing.T) {
	closed := make(chan struct{})
	l := New(nil, closed)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	defer func() { _, _ = near.Close(), far.Close() }()
	handed := make(chan bool)
	go func() { handed <- l.Hand(far) }()
	if _, err := l.Accept(); err != nil {
		t.Fatalf("its own Close ended it: %v", err)
	}
	<-handed
	close(closed)
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after the end it gives %v", err)
	}
	if l.Hand(far) {
		t.Error("after the end it takes connections")
	}
}
