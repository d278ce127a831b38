//go:build linux || darwin

package stdout

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, c Config, to io.Writer) *Sink {
	t.Helper()
	made, err := New(c, component.Env{Stdout: to})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Sink)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func batch(bodies ...string) []*message.Message {
	ms := make([]*message.Message, len(bodies))
	for i, b := range bodies {
		ms[i] = &message.Message{Body: []byte(b)}
	}
	return ms
}

func verdicts(out []component.Outcome) string {
	var s strings.Builder
	for _, o := range out {
		s.WriteString(o.Verdict.String()[:3])
	}
	return s.String()
}

func TestMessagesAreWrittenALineEach(t *testing.T) {
	var to bytes.Buffer
	s := start(t, Config{Encoding: lines.Encoding{Codec: "json"}}, &to)
	out, err := s.Send(t.Context(), batch(`{"a": 1}`, "no", "[2]"))
	if err != nil || verdicts(out) != "delrejdel" {
		t.Errorf("%s, %v", verdicts(out), err)
	}
	if to.String() != "{\"a\":1}\n[2]\n" {
		t.Errorf("%q", to.String())
	}
}

// limited takes so many bytes and then fails.
type limited struct {
	bytes.Buffer
	room int
}

var errFull = errors.New("full")

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.room)
	l.room -= n
	l.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func TestALineThatWasNotWrittenWholeIsTriedAgainOnALineOfItsOwn(t *testing.T) {
	to := &limited{room: 7}
	s := start(t, Config{}, to)
	out, err := s.Send(t.Context(), batch("one", "two", "three"))
	if err != nil || verdicts(out) != "delretret" || !errors.Is(out[1].Reason, errFull) {
		t.Fatalf("%s, %v", verdicts(out), err)
	}
	to.room = 1000
	if out, err := s.Send(t.Context(), batch("two", "three")); err != nil || verdicts(out) != "deldel" {
		t.Fatalf("%s, %v", verdicts(out), err)
	}
	if to.String() != "one\ntwo\ntwo\nthree\n" {
		t.Errorf("%q", to.String())
	}
}

func TestWhenNobodyReadsTheRunStops(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := start(t, Config{}, w)
	r.Close()
	for range 2 {
		out, err := s.Send(t.Context(), batch("x"))
		var closed *ClosedError
		if out != nil || !errors.As(err, &closed) || !closed.Stop() {
			t.Errorf("%v, %v", out, err)
		}
	}
}

func TestAReaderThatIsStuckDoesNotHoldUpTheEnd(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	s := start(t, Config{}, w)
	out, err := s.Send(whenFull(t, r), batch("first", strings.Repeat("x", 1<<20), "last"))
	if err != nil || verdicts(out) != "delretret" || !errors.Is(out[1].Reason, context.Canceled) {
		t.Fatalf("%s, %v", verdicts(out), err)
	}
}

func TestWithoutAStandardOutputThereIsNoStart(t *testing.T) {
	made, err := New(Config{}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.(*Sink).Start(t.Context()); !errors.Is(err, ErrNoOutput) {
		t.Errorf("%v", err)
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	_, err := New(Config{Encoding: lines.Encoding{Codec: "xml"}}, component.Env{})
	var s *component.SettingError
	if !errors.As(err, &s) || s.Setting != "encoding.codec" {
		t.Errorf("%v", err)
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
