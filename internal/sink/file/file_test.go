//go:build unix

package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, c Config) *Sink {
	t.Helper()
	made, err := New(c, component.Env{Name: "archive"})
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

// send sends and returns the verdicts as one text, a letter each.
func send(t *testing.T, s *Sink, bodies ...string) string {
	t.Helper()
	out, err := s.Send(t.Context(), batch(bodies...))
	if err != nil {
		t.Fatal(err)
	}
	var verdicts strings.Builder
	for _, o := range out {
		verdicts.WriteString(o.Verdict.String()[:3])
		if (o.Reason == nil) != (o.Verdict == component.Delivered) {
			t.Errorf("%+v", o)
		}
	}
	return verdicts.String()
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMessagesAreAppendedALineEach(t *testing.T) {
	for _, sync := range []string{"", "batch", "none"} {
		path := filepath.Join(t.TempDir(), "made", "on demand", "out.txt")
		s := start(t, Config{Path: path, Sync: sync})
		if v := send(t, s, "a", "b") + send(t, s) + send(t, s, "c"); v != "deldeldel" {
			t.Errorf("verdicts %s", v)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != "a\nb\nc\n" {
			t.Errorf("sync %q: %q", sync, got)
		}
	}
}

func TestWhatIsMissingIsKnownSoThatItsNamesCanBeMadeDurable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "out")
	if got, want := missing(path),
		[]string{path, filepath.Join(dir, "a", "b"), filepath.Join(dir, "a")}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := missing(dir); got != nil {
		t.Errorf("%q", got)
	}
}

func TestAnotherRunAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, body := range []string{"a", "b"} {
		s := start(t, Config{Path: path})
		send(t, s, body)
		s.Close()
		if n := s.Notices(); len(n) != 0 {
			t.Errorf("notices %q", n)
		}
	}
	if got := content(t, path); got != "a\nb\n" {
		t.Errorf("%q", got)
	}
}

func TestAMessageThatCannotBeRenderedIsRejectedAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	s := start(t, Config{Path: path, Encoding: lines.Encoding{Codec: "json"}})
	if v := send(t, s, `{"a": 1}`, "no", `[2]`) + send(t, s, "no"); v != "delrejdelrej" {
		t.Errorf("verdicts %s", v)
	}
	if got := content(t, path); got != "{\"a\":1}\n[2]\n" {
		t.Errorf("%q", got)
	}
}

func TestWhatAKillLeftOfALineIsCutOffAndKept(t *testing.T) {
	for name, c := range map[string]struct{ before, after, torn string }{
		"torn":      {"a\nb\ntor", "a\nb\nnew\n", "tor\n"},
		"only torn": {"tor", "new\n", "tor\n"},
		"long":      {"a\n" + strings.Repeat("x", 200_000), "a\nnew\n", strings.Repeat("x", 200_000) + "\n"},
		"whole":     {"a\n", "a\nnew\n", ""},
		"empty":     {"", "new\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
			s := start(t, Config{Path: path})
			send(t, s, "new")
			if got := content(t, path); got != c.after {
				t.Errorf("%q", got)
			}
			if c.torn == "" {
				if len(s.Notices()) != 0 {
					t.Errorf("notices %q", s.Notices())
				}
				return
			}
			if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0], fmt.Sprint(len(c.torn)-1)) {
				t.Errorf("notices %q", n)
			}
			if got := content(t, path+".torn"); got != c.torn {
				t.Errorf("kept %d bytes", len(got))
			}
		})
	}
}

func TestABatchThatDoesNotFitIsCutOffAndTriedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	s := start(t, Config{Path: path})
	send(t, s, "before")
	lift := limitFileSize(t, 4096)
	if v := send(t, s, "x", strings.Repeat("y", 10_000), "z"); v != "retretret" {
		t.Errorf("verdicts %s", v)
	}
	if got := content(t, path); got != "before\n" {
		t.Fatalf("the file holds %d bytes of an unfinished batch", len(got))
	}
	if v := send(t, s, "small"); v != "del" {
		t.Errorf("what fits: %s", v)
	}
	lift()
	if v := send(t, s, strings.Repeat("y", 10_000)); v != "del" {
		t.Errorf("with room again: %s", v)
	}
	if got, want := content(t, path), "before\nsmall\n"+strings.Repeat("y", 10_000)+"\n"; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

// limitFileSize makes a write beyond a size fail in the middle, as a full disk does.
func limitFileSize(t *testing.T, bytes uint64) (lift func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	ignoreFileSizeSignal(t)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	lift = func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(lift)
	return lift
}

func TestARenamedFileIsLeftAndANewOneMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	s := start(t, Config{Path: path})
	send(t, s, "a")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	send(t, s, "b")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	send(t, s, "c")
	if got := content(t, path+".1") + content(t, path); got != "a\nc\n" {
		t.Errorf("%q", got)
	}
}

func TestATruncatedFileGoesOnFromItsNewEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	s := start(t, Config{Path: path})
	send(t, s, "a")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	send(t, s, "b")
	if got := content(t, path); got != "b\n" {
		t.Errorf("%q", got)
	}
}

func TestAFolderThatCannotBeMadeIsARetry(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "out")
	s := start(t, Config{Path: path})
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if v := send(t, s, "a"); v != "ret" {
		t.Errorf("verdict %s", v)
	}
	if err := os.Remove(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if v := send(t, s, "a"); v != "del" || content(t, path) != "a\n" {
		t.Errorf("verdict %s", v)
	}
}

func TestAPipeIsWrittenTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := start(t, Config{Path: path})
	if v := send(t, s, "a"); v != "del" {
		t.Errorf("verdict %s", v)
	}
	b := make([]byte, 10)
	if n, err := r.Read(b); err != nil || string(b[:n]) != "a\n" {
		t.Errorf("%q, %v", b[:n], err)
	}
}

func TestStartReportsAPathThatCannotBeOpened(t *testing.T) {
	made, err := New(Config{Path: t.TempDir()}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.(*Sink).Start(t.Context()); err == nil {
		t.Error("a folder was opened")
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for setting, c := range map[string]Config{
		"path":           {},
		"encoding.codec": {Path: "x", Encoding: lines.Encoding{Codec: "xml"}},
		"sync":           {Path: "x", Sync: "often"},
	} {
		_, err := New(c, component.Env{})
		var s *component.SettingError
		if !errors.As(err, &s) || s.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

func TestOneBatchAtATime(t *testing.T) {
	if s := start(t, Config{Path: filepath.Join(t.TempDir(), "out")}); s.Limits().Concurrency != 1 {
		t.Errorf("%+v", s.Limits())
	}
}
