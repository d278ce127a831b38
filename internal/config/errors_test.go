package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAMistakeIsOneLineAndPrettyShowsItsPlace(t *testing.T) {
	text := "data_dir: ./data\n\tqueues:\n  飛脚: { quee: 1 }\r\n"
	e := &Error{File: "a.yaml", Line: 3, Column: 9, Message: `unknown key "quee"`, Hint: `did you mean "queue"?`}
	if got, want := e.Error(), `a.yaml:3:9: unknown key "quee" (did you mean "queue"?)`; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	want := `a.yaml:3:9: unknown key "quee"
    3 |   飛脚: { quee: 1 }
      |           ^ did you mean "queue"?`
	if got := e.Pretty([]byte(text)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	e.Line = 99
	if got := e.Pretty([]byte(text)); got != e.Error() {
		t.Error(got)
	}
}

func TestPrettyCutsLongLinesAndControlCharacters(t *testing.T) {
	text := strings.Repeat("x", 500) + "\x1b[31mHERE" + strings.Repeat("y", 500)
	e := &Error{File: "a.yaml", Line: 1, Column: 501, Message: "m"}
	got := e.Pretty([]byte(text))
	if strings.Contains(got, "\x1b") || !strings.Contains(got, "HERE") {
		t.Error(got)
	}
	for line := range strings.Lines(got) {
		if len([]rune(line)) > 120 {
			t.Errorf("too wide: %s", line)
		}
	}
}

func TestMistakesAreBoundedSortedAndSaidOnce(t *testing.T) {
	var es Errors
	for i := range 70 {
		es = append(es, &Error{Line: 100 - i, Column: 1, Message: "m"}, &Error{Line: 100 - i, Column: 1, Message: "m"})
	}
	got := sorted(es, 0)
	if len(got) != MaxErrors+1 || got[0].Line != 31 || !strings.HasPrefix(got[MaxErrors].Message, "20 more mistakes") {
		t.Errorf("%d: %v … %v", len(got), got[0], got[len(got)-1])
	}
	if len(es) != 140 || es[0].Message != "m" {
		t.Error("the mistakes themselves were changed")
	}
}

func TestLoadSaysWhyAFileCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "missing.yaml"), noEnv); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	path := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(path, []byte("# "+strings.Repeat("x", MaxBytes)), 0o600); err != nil {
		t.Fatal(err)
	}
	var errs Errors
	if _, err := Load(path, noEnv); !errors.As(err, &errs) ||
		!strings.Contains(err.Error(), "at most 4194304 are read") {
		t.Error(err)
	}
	path = filepath.Join(dir, "good.yaml")
	if err := os.WriteFile(path, []byte("data_dir: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path, noEnv)
	if err != nil || f.DataDir != "x" || f.Dir() != dir || string(f.Text()) != "data_dir: x\n" {
		t.Errorf("%+v, %v", f, err)
	}
}
