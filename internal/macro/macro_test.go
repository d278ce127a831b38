package macro_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestTheStoriesStandAsTheyAreWritten plays each text of testdata: what it becomes, or what is wrong with it, and how
// it is formatted, stands in a golden file.
func TestTheStoriesStandAsTheyAreWritten(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, strings.TrimSuffix(file, ".txt")+".golden", story(text))
		})
	}
}

// story tells what becomes of a text.
func story(text []byte) string {
	var b strings.Builder
	script, err := macro.Read(text, macro.Options{})
	var mistakes macro.Mistakes
	if errors.As(err, &mistakes) {
		return mistakes.Pretty("text", text)
	}
	writeScript(&b, "", script)
	if mirrored, err := macro.Read(text, macro.Options{Mirror: true, Player: 2}); err == nil {
		writeScript(&b, "mirrored, player 2: ", mirrored)
	}
	formatted, err := macro.Format(text)
	fmt.Fprintf(&b, "formatted: %v\n%s", err, formatted)
	return b.String()
}

func writeScript(b *strings.Builder, title string, s *macro.Script) {
	for _, player := range s.Players() {
		at := int64(0)
		fmt.Fprintf(b, "%splayer %d\n", title, player)
		for _, step := range s.Tracks[player-1] {
			fmt.Fprintf(b, "%6d +%-4d %s\n", at, step.Frames, step.State)
			at += int64(step.Frames)
		}
		fmt.Fprintf(b, "%6d end\n", at)
	}
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is otherwise; got:\n%s", golden, got)
	}
}

func TestTextsThatWouldNeverEndAreRefusedAtOnce(t *testing.T) {
	deep := strings.Repeat("<loop 1000000>\n", 30) + "lp 1\n5 1\n" + strings.Repeat("</loop>\n", 30)
	for name, text := range map[string]string{
		"loops in loops":       deep,
		"loops around nothing": strings.ReplaceAll(deep, "lp 1\n5 1\n", "# nothing\n"),
		"loops around sync":    strings.ReplaceAll(deep, "lp 1\n5 1\n", "<sync>\n"),
		"long lines":           strings.Repeat("lp 1000000\n", 10),
		"too long for a file":  strings.Repeat("lp 1\n", macro.MaxText/5+1),
		"too deep":             strings.Repeat("<loop 1>\n", 1000) + "lp 1\n" + strings.Repeat("</loop>\n", 1000),
	} {
		script, err := macro.Read([]byte(text), macro.Options{})
		var mistakes macro.Mistakes
		if !errors.As(err, &mistakes) || script != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(mistakes) > macro.MaxTold+1 {
			t.Errorf("%s: %d mistakes are told", name, len(mistakes))
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("lp 1\n", 7) +
			"<loop 1000000>\nhp 1\nhk 1\n</loop>\n": "line 8, column 1: the macro becomes more than 1048576 steps here",
		"lp 1\n<loop 9>\n  <loop 1000000>\n    hp 1\n  </loop>\n</loop>\n":                 "line 2, column 1: the macro becomes more than 1048576 steps here",
		"lp 1\n<loop 9>\n  <loop 1000000>\n    hp 1\n    hk 1\n  </loop>\n</loop>\n":       "line 3, column 3: the macro becomes more than 1048576 steps here",
		"<loop 1000000>\n<sync>\n</loop>\n  <loop 50000>\n  <sync>\n  </loop>\n":           "line 4, column 3: the macro becomes more than 1048576 steps here",
		"lp 5\n<loop 8>\n  hk 1000000\n</loop>\n<loop 388606>\n  5 1\n</loop>\n  2,mk 1\n": "line 6, column 3: the macro becomes longer than 8388608 frames here",
		"<loop 8>\n  hk 1000000\n</loop>\n5 388607\nhk 1\n  2,mk 1\n":                      "line 6, column 3: the macro becomes longer than 8388608 frames here",
		"<player 2>\n<loop 8>\nhk 1000000\n</loop>\n</player>\n<loop 7>\nlp 2\n<player 2>\nhp 20\n hk " +
			"100000\n</player>\n</loop>\n": "line 10, column 2: the macro becomes longer than 8388608 frames here",
	} {
		if _, err := macro.Read([]byte(text), macro.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestAScriptSurvivesItsWayToTheOneWhoPlays(t *testing.T) {
	script, err := macro.Read([]byte("236hp 2 9\n<player 2>\nlx=-70,l2=40 3\n</player>\n"), macro.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := script.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back macro.Script
	if err := back.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(back) != fmt.Sprint(*script) {
		t.Errorf("%v\n%v", back, *script)
	}
	for n := range b {
		if err := new(macro.Script).UnmarshalBinary(b[:n]); !errors.Is(err, macro.ErrScript) {
			t.Fatalf("%d of %d bytes: %v", n, len(b), err)
		}
	}
	if err := new(macro.Script).UnmarshalBinary(append(b, 0)); !errors.Is(err, macro.ErrScript) {
		t.Errorf("a byte more: %v", err)
	}
}

func TestStatesAreReadAsTheyAreWritten(t *testing.T) {
	for _, text := range []string{"5", "2,mk", "9", "lp,mp,hp", "3,hk,start", "l2=40,lx=-100,ry=7", "up=50",
		"touch,touchx=3", "6,ps,select"} {
		s, err := macro.ParseState(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := macro.ParseState(s.String())
		if err != nil || again != s {
			t.Errorf("%s became %s, and that %s: %v", text, s, again, err)
		}
	}
	for _, text := range []string{"", "lp 2", "lp\nhp", "nothing", "236p"} {
		if s, err := macro.ParseState(text); err == nil {
			t.Errorf("%q was read as %s", text, s)
		}
	}
}

func TestAMirroredMirrorImageIsTheOriginal(t *testing.T) {
	var s macro.State
	for i := range s {
		s[i] = int8(i*7%201 - 100)
	}
	if s.Mirrored().Mirrored() != s || s.Mirrored() == s {
		t.Errorf("%v", s.Mirrored())
	}
}

func TestOnlyPlayersThatThereAreMayBeMeant(t *testing.T) {
	if _, err := macro.Read([]byte("lp 2"), macro.Options{Player: 3}); !errors.Is(err, macro.ErrOptions) {
		t.Error(err)
	}
}

// FuzzRead holds what every text keeps: no panic, places within the text, and a formatted text that means the same and
// is formatted already.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		for _, line := range bytes.Split(text, []byte("\n")) {
			f.Add(line)
		}
	}
	// These become a million steps, or would: what is written out is bounded below, so that such texts cost no more
	// than others.
	f.Add([]byte("<loop 1000000>\nlp 1\n</loop>"))
	f.Add([]byte("<loop 1000>\n<loop 500>\n2 1\n5 1\n</loop>\n</loop>"))
	f.Add([]byte("<loop 99999>\n<player 2>\n2 1\n</player>\n<sync>\n5 1\n</loop>"))
	f.Add([]byte(strings.Repeat("<loop 1000000>\n", 30) + "lp 1\n5 1\n" + strings.Repeat("</loop>\n", 30)))
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := macro.Parse(text)
		if err != nil {
			var mistakes macro.Mistakes
			if !errors.As(err, &mistakes) || len(mistakes) == 0 {
				t.Fatalf("%T %v", err, err)
			}
			lines := 1 + bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r"))
			for i, m := range mistakes {
				if m.Line < 1 || m.Line > lines || m.Column < 1 || m.Column > len(text)+1 || m.Length < 1 ||
					m.Text == "" {
					t.Fatalf("mistake %d of %q: %+v", i, text, m)
				}
			}
			mistakes.Pretty("text", text)
			holdGuesses(t, string(text), mistakes)
			return
		}
		formatted := parsed.Format()
		again, err := macro.Format(formatted)
		if err != nil || !bytes.Equal(again, formatted) {
			t.Fatalf("%q was formatted as %q, and that as %q: %v", text, formatted, again, err)
		}
		if steps := parsed.Steps(); steps > fuzzSteps {
			if steps > macro.MaxSteps {
				if _, err := parsed.Compile(macro.Options{}); err == nil {
					t.Fatalf("%q becomes too many steps, and is compiled", text)
				}
			}
			return
		}
		script, err := parsed.Compile(macro.Options{})
		other, otherErr := macro.Read(formatted, macro.Options{})
		if (err == nil) != (otherErr == nil) {
			t.Fatalf("%v but formatted %v", err, otherErr)
		}
		if err != nil {
			return
		}
		a, _ := script.AppendBinary(nil)
		b, _ := other.AppendBinary(nil)
		if !bytes.Equal(a, b) {
			t.Fatalf("%q means something else when formatted: %q", text, formatted)
		}
		var back macro.Script
		if err := back.UnmarshalBinary(a); err != nil {
			t.Fatal(err)
		}
	})
}

// fuzzSteps is how many steps a text of the fuzzer becomes at most. What is written out in a hundred steps is written
// out in a million.
const fuzzSteps = 2000

func FuzzUnmarshal(f *testing.F) {
	for _, text := range []string{"lp 2", "236hp 2 9\n<player 2>\nhk 3\n</player>"} {
		script, err := macro.Read([]byte(text), macro.Options{})
		if err != nil {
			f.Fatal(err)
		}
		b, _ := script.AppendBinary(nil)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s macro.Script
		if s.UnmarshalBinary(b) != nil {
			return
		}
		if again, _ := s.AppendBinary(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x became %x", b, again)
		}
	})
}
