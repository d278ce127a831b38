//go:build linux || darwin

package lines

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func TestAReadThatBlocksEndsWithItsContext(t *testing.T) {
	r, _ := pipe(t)
	p, err := NewInput(r)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if n, err := p.Read(ctx, make([]byte, 10)); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%d, %v", n, err)
		}
		cancel()
	}
}

func TestAPortReadsWhatComesAndTheEnd(t *testing.T) {
	r, w := pipe(t)
	p, err := NewInput(r)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	b := make([]byte, 10)
	go w.WriteString("hello")
	if n, err := p.Read(t.Context(), b); err != nil || string(b[:n]) != "hello" {
		t.Fatalf("%q, %v", b[:n], err)
	}
	w.Close()
	if _, err := p.Read(t.Context(), b); !errors.Is(err, io.EOF) {
		t.Fatalf("at the end: %v", err)
	}
}

func TestAWriteThatBlocksEndsWithItsContextAndTellsHowFarItCame(t *testing.T) {
	r, w := pipe(t)
	p, err := NewOutput(w)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	big := bytes.Repeat([]byte("0123456789"), 100_000)
	n, err := p.Write(whenFull(t, r), big)
	if !errors.Is(err, context.Canceled) || n == 0 || n == len(big) {
		t.Fatalf("%d, %v", n, err)
	}
	got := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(r)
		got <- b
	}()
	m, err := p.Write(t.Context(), big[n:])
	if err != nil || n+m != len(big) {
		t.Fatalf("the rest: %d, %v", m, err)
	}
	w.Close()
	if !bytes.Equal(<-got, big) {
		t.Fatal("other bytes came out")
	}
}

func TestAWriteToAPipeNobodyReadsFails(t *testing.T) {
	r, w := pipe(t)
	p, err := NewOutput(w)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r.Close()
	if _, err := p.Write(t.Context(), []byte("x")); err == nil {
		t.Fatal("no error")
	}
}

func TestOtherStreamsAreReadAndWrittenAsTheyAre(t *testing.T) {
	in, err := NewInput(strings.NewReader("abc"))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10)
	if n, err := in.Read(t.Context(), b); err != nil || string(b[:n]) != "abc" {
		t.Fatalf("%q, %v", b[:n], err)
	}
	var to bytes.Buffer
	out, err := NewOutput(&to)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := out.Write(t.Context(), []byte("abc")); n != 3 || err != nil || to.String() != "abc" {
		t.Fatalf("%d, %v", n, err)
	}
	if err := errors.Join(in.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
}

// whenFull returns a context that ends when a pipe takes no more.
func whenFull(t *testing.T, r *os.File) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := r.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		defer cancel()
		for held := 0; held < 60_000 && ctx.Err() == nil; runtime.Gosched() {
			if err := conn.Control(func(fd uintptr) { held, _ = unix.IoctlGetInt(int(fd), bytesHeld) }); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-watched })
	return ctx
}
