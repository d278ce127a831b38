package gimx_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/macro/gimx"
	"github.com/hikyaku/hikyaku/pace"
)

// file is one as players write it.
const file = `# rapid fire and a fireball; 's' 'd' are down and right, 'p' is a punch
MACRO KEYDOWN f
TRIGGER KEYDOWN F1
TOGGLE YES
KEYDOWN s
DELAY 33
KEYDOWN d
DELAY 34
KEYUP s
KEYDOWN p
DELAY 33
KEYUP p
KEYUP d
DELAY 70

MACRO MBUTTONDOWN BUTTON_LEFT
INIT OFF
MBUTTON BUTTON_RIGHT
DELAY 50
KEY p
MACRO JAXIS 1 [8192,16384]
JBUTTONDOWN 3
JAXIS 0 -32768
JAXIS 2 16384
DELAY 100
JAXIS 0 0
JBUTTONUP 3
DELAY 17
JBUTTON 3
MACRO F5
KEYDOWN p
DELAY 100
MBUTTONDOWN BUTTON_LEFT
`

var keys = []string{"p=lp", "s=down", "d=right", "BUTTON_RIGHT=r1", "JBUTTON3=lk", "JAXIS0=lx", "JAXIS2=l2"}

func names(t *testing.T, parts ...string) gimx.Names {
	t.Helper()
	n, err := gimx.ParseNames(parts)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAMacrosMillisecondsBecomeFrames(t *testing.T) {
	for name, want := range map[string]string{
		"KEYDOWN f":                 "2 2\n3 2\n6,lp 2\n5 4\n",
		"MBUTTONDOWN  BUTTON_LEFT ": "hp 3\n5 3\nlp 3\n",
		"JAXIS 1":                   "lk,l2=50,lx=-100 6\nl2=50 1\nlk,l2=50 3\n",
	} {
		text, err := gimx.Read([]byte(file), name, names(t, keys...), pace.NTSC())
		if err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
	}
	text, err := gimx.Read([]byte("\ufeffMACRO a\r\nKEY p\r\n"), "", names(t, "p=lp"), pace.NTSC())
	if err != nil || string(text) != "lp 3\n" {
		t.Errorf("one alone, as Windows writes lines: %q, %v", text, err)
	}
}

func TestWhatAMacroCannotSayIsRefusedWithItsPlace(t *testing.T) {
	for script, want := range map[string]string{
		"KEY p\n": "line 1, column 1: there is no macro in this file (a macro begins with: MACRO KEYDOWN a)",
		"MACRO a\nMACRO KEYUP b\n": "line 1, column 1: there are several macros: KEYDOWN a, KEYUP b (say which one with " +
			"--combo \"KEYDOWN a\")",
		"MACRO KEYDOWN p\nKEY p\nKEYDOWN p\n": "line 2, column 1: KEYDOWN p begins a macro of this file, perhaps this one " +
			"again (a macro is a fixed list: leave the line out, and write <loop 10> around what it becomes)\n" +
			"line 3, column 1: KEYDOWN p begins a macro of this file, perhaps this one again (a macro is a fixed list: leave " +
			"the line out, and write <loop 10> around what it becomes)",
		"MACRO a\n  KEY  space\n": "line 2, column 8: it is not said what space is on the pad (GIMX's configuration has " +
			"it: write --map space=lp)",
		"MACRO a\nJAXIS 4 1\n": "line 2, column 7: it is not said what JAXIS4 is on the pad (GIMX's configuration has it: " +
			"write --map JAXIS4=lx)",
		"MACRO a\nJAXIS 0 40000\nDELAY 50\n": "line 2, column 9: \"40000\" is no whole number from -32768 to 32767 (write " +
			"JAXIS 0 32767)",
		"MACRO a\nJAXIS 2 -1\nDELAY 50\n": "line 2, column 9: \"-1\" is no whole number from 0 to 32767 (write JAXIS 0 32767)",
		"MACRO a\nMAXIS 0 5\nDELAY 50\n": "line 2, column 1: a mouse cannot be moved in a macro (say with JAXIS how far the " +
			"stick goes, and for how long)",
		"MACRO a\nKEYDWN p\nDELAY 50\n": "line 2, column 1: there is no \"KEYDWN\" (did you mean KEYDOWN?)",
		"MACRO a\nKEYDOWN p\nDELAY 3\n": "line 3, column 7: 3 ms are shorter than a frame (a macro changes with frames: " +
			"wait longer)",
		"MACRO a\nDELAY\n":         "line 2, column 1: a number is missing behind this (write DELAY 50)",
		"MACRO a\nKEYDOWN\n":       "line 2, column 1: it is not said what (write KEYDOWN and a key or a number)",
		"MACRO a\nKEYDOWN p\n":     "line 2, column 9: no DELAY follows this, so that it would be pressed for no time (put DELAY 50 behind it)",
		"MACRO a\n# p\n":           "line 1, column 1: there is nothing to play in this macro (a macro has KEYDOWN and DELAY)",
		"MACRO a\nDELAY 999999999": "line 2, column 7: the macro becomes longer than 8388608 frames here (play it in parts)",
		"MACRO a\nKEYDOWN d\nKEYDOWN l\nDELAY 50\n": "line 3, column 9: left is pressed together with its opposite (let go " +
			"of the other one first)",
		"MACRO a\nKEY \xff\n": "line 1, column 1: this is not text in UTF-8 (save the file as UTF-8)",
	} {
		_, err := gimx.Read([]byte(script), "", names(t, append([]string{"l=left"}, keys...)...), pace.NTSC())
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", script, err, want)
		}
	}
	for name, want := range map[string]string{"KEYDOWN F5": "line 33, column 1: MBUTTONDOWN BUTTON_LEFT begins a macro",
		"KEYDOW f": `did you mean "KEYDOWN f"?`, "": "there are several macros: KEYDOWN f, MBUTTONDOWN BUTTON_LEFT, JAXIS 1"} {
		if _, err := gimx.Read([]byte(file), name, names(t, keys...), pace.NTSC()); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestWhatAKeyCannotBeIsRefused(t *testing.T) {
	for part, want := range map[string]string{"p": "has no =", "=lp": "has no =",
		"p=punch": "nothing that a macro presses",
		"p=sqare": "did you mean share?", "p=lx": "a key becomes a button", "JAXIS0=lp": "an axis a stick's way",
		"JAXIS=lx": "a key becomes a button"} {
		_, err := gimx.ParseNames([]string{part})
		if !errors.Is(err, gimx.ErrNames) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", part, err)
		}
	}
	if _, err := gimx.ParseNames([]string{"==lp"}); err != nil {
		t.Errorf("the key =: %v", err)
	}
}

// FuzzRead: what is read is a macro in the form that all have, and every mistake has a place in the file.
func FuzzRead(f *testing.F) {
	f.Add(file, "KEYDOWN f")
	f.Add(file, "JAXIS 1")
	f.Add(file, "")
	f.Add("MACRO\nKEY p", "")
	f.Add("MACRO a\nJAXIS 0 -32768\nDELAY 17\nJAXIS 0 32767\nJAXIS 2 1\nDELAY 16", "")
	f.Fuzz(func(t *testing.T, script, name string) {
		text, err := gimx.Read([]byte(script), name, names(t, keys...), pace.NTSC())
		var mistakes macro.Mistakes
		switch {
		case err == nil:
			if again, err := macro.Format(text); err != nil || string(again) != string(text) {
				t.Fatalf("%q became %q: %v", script, text, err)
			}
		case !errors.As(err, &mistakes):
			t.Fatalf("%T %v", err, err)
		default:
			for _, m := range mistakes {
				if m.Line < 1 || m.Line > 1+len(script) || m.Column < 1 || m.Column > 1+len(script) || m.Length < 1 {
					t.Fatalf("%q: %+v", script, m)
				}
			}
			mistakes.Pretty("script", []byte(script))
		}
	})
}
