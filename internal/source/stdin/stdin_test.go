package stdin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector takes deliveries and settles them as answer says; a nil answer settles them as delivered at once.
type collector struct {
	mu     sync.Mutex
	got    []*message.Message
	answer func(d component.Delivery)
}

func (c *collector) Send(ctx context.Context, d component.Delivery) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	c.got = append(c.got, d.Message)
	c.mu.Unlock()
	if c.answer != nil {
		c.answer(d)
		return nil
	}
	d.Settle(component.OK(time.Now()))
	return nil
}

func (c *collector) bodies() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var bs []string
	for _, m := range c.got {
		bs = append(bs, string(m.Body))
	}
	return bs
}

func start(t *testing.T, c Config, in io.Reader) *Source {
	t.Helper()
	made, err := New(c, component.Env{Name: "lines", Stdin: in})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Source)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// input is a regular file opened for reading.
func input(t *testing.T, path, content string) *os.File {
	t.Helper()
	if content != "" {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestEachLineIsAMessage(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		config Config
		in     string
		want   []string
	}{
		"lines":            {Config{}, "a\nb\r\nc", []string{"a", "b", "c"}},
		"empty lines":      {Config{}, "a\n\n\nb\n", []string{"a", "b"}},
		"empty lines kept": {Config{SkipEmpty: &no}, "a\n\nb\n", []string{"a", "", "b"}},
		"byte order mark":  {Config{}, "\ufeffa\nb\n", []string{"a", "b"}},
		"nothing":          {Config{}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			go func() {
				w.WriteString(c.in)
				w.Close()
			}()
			path := filepath.Join(t.TempDir(), "in")
			if err := os.WriteFile(path, []byte(c.in), 0o600); err != nil {
				t.Fatal(err)
			}
			for kind, in := range map[string]io.Reader{"pipe": r, "file": input(t, path, ""),
				"reader": strings.NewReader(c.in)} {
				var out collector
				if err := start(t, c.config, in).Run(t.Context(), &out); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(out.bodies(), c.want) {
					t.Errorf("%s: %q, want %q", kind, out.bodies(), c.want)
				}
				for _, m := range out.got {
					if m.Time.IsZero() || m.Hops[message.Accepted] == 0 ||
						(m.Origin != message.Origin{}) != (kind == "file") {
						t.Errorf("%s: %+v", kind, m)
					}
				}
			}
		})
	}
}

func TestARegularFileTellsThePlaceOfEachLine(t *testing.T) {
	f := input(t, filepath.Join(t.TempDir(), "in"), "zero\n\ntwo\nthree\n")
	if _, err := f.Seek(5, io.SeekStart); err != nil { // somebody has read the first line
		t.Fatal(err)
	}
	sent := make(chan func(component.Outcome), 2)
	out := &collector{answer: func(d component.Delivery) { sent <- d.Settle }}
	s := start(t, Config{}, f)
	if err := s.Run(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	settleFirst := <-sent
	<-sent
	for i, want := range []message.Origin{
		{Source: s.identity, Offset: 6, Mark: 6},
		{Source: s.identity, Offset: 10, Mark: 6},
	} {
		if got := out.got[i].Origin; got != want {
			t.Errorf("line %d: %+v, want %+v", i, got, want)
		}
	}
	settleFirst(component.OK(time.Now()))
	if low := s.mark.Low(); low != 10 {
		t.Errorf("the mark is %d", low)
	}
}

func TestTheIdentityIsThatOfTheFileAndItsContent(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "in")
	first := start(t, Config{}, input(t, path, "a\nb\n")).identity
	if again := start(t, Config{}, input(t, path, "")).identity; again != first {
		t.Errorf("the same file is %s and %s", first, again)
	}
	if err := os.Rename(path, path+"2"); err != nil {
		t.Fatal(err)
	}
	if renamed := start(t, Config{}, input(t, path+"2", "")).identity; renamed != first {
		t.Errorf("a renamed file is %s, was %s", renamed, first)
	}
	seen := map[string]string{first: "the first"}
	for name, file := range map[string]*os.File{
		"another file of the same bytes": input(t, path, "a\nb\n"),
		"the same inode written anew":    input(t, path+"2", "A\nb\n"),
	} {
		id := start(t, Config{}, file).identity
		if other := seen[id]; other != "" {
			t.Errorf("%s has the identity of %s", name, other)
		}
		seen[id] = name
	}
}

func TestWhatComesBackIsSentAgainBeforeTheRunEnds(t *testing.T) {
	for name, in := range map[string]func(t *testing.T) io.Reader{
		"file":   func(t *testing.T) io.Reader { return input(t, filepath.Join(t.TempDir(), "in"), "a\nb\n") },
		"reader": func(*testing.T) io.Reader { return strings.NewReader("a\nb\n") },
	} {
		t.Run(name, func(t *testing.T) {
			tries, ids := map[string]int{}, map[message.ID]bool{}
			var mu sync.Mutex
			out := &collector{answer: func(d component.Delivery) {
				mu.Lock()
				defer mu.Unlock()
				body := string(d.Message.Body)
				ids[d.Message.ID] = true
				if tries[body]++; body == "a" && tries[body] == 1 {
					d.Settle(component.Again(0, errors.New("no room")))
					return
				}
				d.Settle(component.OK(time.Now()))
			}}
			if err := start(t, Config{}, in(t)).Run(t.Context(), out); err != nil {
				t.Fatal(err)
			}
			if tries["a"] != 2 || tries["b"] != 1 || len(ids) != 2 || ids[message.ID{}] {
				t.Errorf("%v, ids %v", tries, ids)
			}
		})
	}
}

func TestALongLineEndsTheRunUnlessItMayBeSkipped(t *testing.T) {
	in := "short\n" + strings.Repeat("x", 50) + "\nlast\n"
	var out collector
	err := start(t, Config{MaxLineBytes: 10}, strings.NewReader(in)).Run(t.Context(), &out)
	var long *lines.TooLongError
	if !errors.As(err, &long) || long.Number != 2 || !strings.Contains(err.Error(), "skip_long_lines") {
		t.Errorf("Run: %v", err)
	}
	out = collector{}
	s := start(t, Config{MaxLineBytes: 10, SkipLongLines: true}, strings.NewReader(in))
	if err := s.Run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if want := []string{"short", "last"}; !slices.Equal(out.bodies(), want) {
		t.Errorf("%q", out.bodies())
	}
	if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0], "line 2") {
		t.Errorf("notices %q", n)
	}
}

func TestNoticesAreBounded(t *testing.T) {
	var in strings.Builder
	for range maxNotices + 5 {
		fmt.Fprintln(&in, "too long")
	}
	s := start(t, Config{MaxLineBytes: 3, SkipLongLines: true}, strings.NewReader(in.String()))
	if err := s.Run(t.Context(), &collector{}); err != nil {
		t.Fatal(err)
	}
	if n := s.Notices(); len(n) != maxNotices+1 || !strings.Contains(n[maxNotices], "5 more") {
		t.Errorf("%d notices, the last %q", len(n), n[len(n)-1])
	}
}

func TestARunThatWaitsForInputEndsWithItsContext(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	pr, pw := io.Pipe()
	defer pw.Close()
	for kind, in := range map[string]io.Reader{"pipe": r, "in memory": pr} {
		ctx, cancel := context.WithCancel(t.Context())
		s := start(t, Config{}, in)
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx, &collector{}) }()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestAFullPipelineThatFailsEndsTheRun(t *testing.T) {
	broken := errors.New("broken")
	err := start(t, Config{}, strings.NewReader("a\n")).Run(t.Context(), refusing{broken})
	if !errors.Is(err, broken) {
		t.Errorf("Run: %v", err)
	}
}

type refusing struct{ err error }

func (r refusing) Send(context.Context, component.Delivery) error { return r.err }

func TestAStreamThatBreaksEndsTheRun(t *testing.T) {
	pr, pw := io.Pipe()
	broken := errors.New("broken")
	go func() {
		io.WriteString(pw, "a\n")
		pw.CloseWithError(broken)
	}()
	var out collector
	if err := start(t, Config{}, pr).Run(t.Context(), &out); !errors.Is(err, broken) {
		t.Errorf("Run: %v", err)
	}
	if !slices.Equal(out.bodies(), []string{"a"}) {
		t.Errorf("%q", out.bodies())
	}
}

func TestSettingsAreChecked(t *testing.T) {
	_, err := New(Config{MaxLineBytes: -1}, component.Env{})
	var s *component.SettingError
	if !errors.As(err, &s) || s.Setting != "max_line_bytes" {
		t.Errorf("%v", err)
	}
	made, err := New(Config{}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.(*Source).Start(t.Context()); !errors.Is(err, ErrNoInput) {
		t.Errorf("started without input: %v", err)
	}
}

// BenchmarkLines reads lines of 100 bytes from a regular file, settled at once.
func BenchmarkLines(b *testing.B) {
	path := filepath.Join(b.TempDir(), "in")
	line := strings.Repeat("x", 99) + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, b.N)), 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	made, err := New(Config{}, component.Env{Stdin: f})
	if err != nil {
		b.Fatal(err)
	}
	s := made.(*Source)
	if err := s.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	b.ResetTimer()
	if err := s.Run(b.Context(), settling{}); err != nil {
		b.Fatal(err)
	}
}

// settling settles everything at once.
type settling struct{}

func (settling) Send(_ context.Context, d component.Delivery) error {
	d.Settle(component.OK(time.Time{}))
	return nil
}
