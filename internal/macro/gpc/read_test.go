package gpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/macro/gpc"
	"github.com/hikyaku/hikyaku/pace"
)

const fireball = `// a script as players write it
define PUNCH = 100;
int running;
main {
    if (get_val(PS4_R3)) { combo_run(fireball); }
}
combo fireball {
    set_val(PS4_DOWN, 100);
    wait(33);
    set_val(PS4_DOWN, 100); set_val(PS4_RIGHT, 100);
    wait(34); /* two frames */
    set_val(PS4_RIGHT, PUNCH);
    set_val(PS4_SQUARE, PUNCH);
    wait(33);
    set_val(PS4_LX, -50); set_val(PS4_L2, 40.4);
    wait(20);
    wait(50);
    set_val(PS4_SQUARE, 0);
}
combo other { set_val(XB1_A, 100); wait(1000); set_val(XB360_BACK, 100); wait(17); }
`

func TestACombosMillisecondsBecomeFrames(t *testing.T) {
	for combo, want := range map[string]string{
		"fireball": "2 2\n3 2\n6,lp 2\nl2=40,lx=-50 1\n5 3\n",
		"other":    "lk 60\nshare 1\n",
	} {
		text, err := gpc.Read([]byte(fireball), combo, pace.NTSC())
		if err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", combo, text, err, want)
		}
	}
}

// two is a script of Titan Two as players write it.
const two = `#pragma METAINFO("Shoulder moves", 1, 31, "somebody")
#include <remapper.gph>
#define DELAY 70        // between the buttons
#define RELEASE 120     /* until they are let go */
#define FULL 100

bool pressed;
const uint8 swap[3] = { BUTTON_16, BUTTON_15, STICK_1_X };
init { remapper(swap); }
main {
	if(event_active(BUTTON_18)) { set_val(BUTTON_18, 0); combo_run(shoulders); }
}
combo shoulders {	// L1, then L1 + R1, then up
	set_val(BUTTON_7, FULL);
	wait(DELAY);
	set_val(BUTTON_7, FULL); set_val(BUTTON_4, FULL);
	wait(DELAY);
	set_val(BUTTON_7, FULL); set_val(BUTTON_4, FULL); set_val(BUTTON_10, 100.0);
	wait(RELEASE);
	set_val(BUTTON_10, 0);
	set_val(BUTTON_4, 0);
}
combo all {
	set_val(BUTTON_1, 100); wait(17); set_val(BUTTON_2, 100); wait(17); set_val(BUTTON_3, 100); wait(17);
	set_val(BUTTON_5, 100); set_val(BUTTON_6, 100); set_val(BUTTON_8, 100); set_val(BUTTON_9, 100); wait(17);
	set_val(BUTTON_11, 100); set_val(BUTTON_12, 100); wait(17); set_val(BUTTON_13, 100); wait(17);
	set_val(BUTTON_14, 100); set_val(BUTTON_15, 100); wait(17); set_val(BUTTON_16, 100); set_val(BUTTON_17, 100); wait(17);
	set_val(STICK_1_X, 1.0); set_val(STICK_1_Y, 2.0); set_val(STICK_2_X, -3.0); set_val(STICK_2_Y, -100.0); wait(17);
}
`

func TestTitanTwosNamesAreKnown(t *testing.T) {
	for combo, want := range map[string]string{
		"shoulders": "l1 4\nhp,l1 4\n8,hp,l1 8\n",
		"all": "ps 1\nshare 1\noptions 1\nhk,l2,l3,r3 1\n1 1\n6 1\nmp,mk 1\nlp,lk 1\n" +
			"lx=-3,ly=-100,rx=1,ry=2 1\n",
	} {
		text, err := gpc.Read([]byte(two), combo, pace.NTSC())
		if err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", combo, text, err, want)
		}
	}
	for script, want := range map[string]string{
		"#define SLOW 70 + 5\ncombo a { wait(SLOW); }":   `line 2, column 16: "SLOW" is not a number`,
		"combo a { set_val(BUTTON_18, 100); wait(50); }": "line 1, column 19: there is no BUTTON_18 (did you mean",
	} {
		if _, err := gpc.Read([]byte(script), "", pace.NTSC()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// TestNoErrorAddsUp: a thousand waits of 25 ms, each a frame and a half, are 25 seconds.
func TestNoErrorAddsUp(t *testing.T) {
	rate, err := pace.PerSecond(60, 1)
	if err != nil {
		t.Fatal(err)
	}
	script := "combo a {" + strings.Repeat("set_val(PS4_UP, 100); wait(25); wait(25);\n", 500) + "}"
	text, err := gpc.Read([]byte(script), "", rate)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := macro.Read(text, macro.Options{})
	if err != nil || compiled.Frames() != 1500 {
		t.Errorf("%d frames, %v", compiled.Frames(), err)
	}
}

func TestWhatAMacroCannotSayIsRefusedWithItsPlace(t *testing.T) {
	for script, want := range map[string]string{
		"main { }": "line 1, column 1: there is no combo in this script (a combo begins with: combo " +
			"NAME {)",
		"combo a { } combo b { }": "line 1, column 1: there are several combos: a, b (say which one with --combo a)",
		"combo a {\n if (x) { wait(5); } wait(50); }": "line 2, column 2: \"if\" cannot be said in a macro " +
			"(a macro is a fixed list: only set_val and wait of numbers are taken over)",
		"combo a { call(b); wait(50); }": "line 1, column 11: \"call\" cannot be said in a macro " +
			"(a macro is a fixed list: only set_val and wait of numbers are taken over)",
		"combo a { set_val(PS4_CROS, 100); wait(50); }": "line 1, column 19: there is no PS4_CROS (did you mean PS4_CROSS?)",
		"combo a { set_val(POINT_1_X, 100); wait(50); }": "line 1, column 19: there is no POINT_1_X (known are the " +
			"names of PS4_, PS3_, XB1_ and XB360_, as in PS4_CROSS, and those of Titan Two from BUTTON_1 to BUTTON_17)",
		"combo a { set_val(PS4_CROSS, 200); wait(50); }": "line 1, column 30: 200 is not from 0 to 100 (write a number that is)",
		"combo a { set_val(PS4_CROSS, power); wait(50); }": "line 1, column 30: \"power\" is not a number (a " +
			"variable has no value until the script runs; write the number)",
		"combo a { wait(speed * 2); }": "line 1, column 11: this is not wait with one number " +
			"(what is worked out while the script runs cannot be said in a macro)",
		"combo a { set_val(PS4_CROSS, 100); }": "line 1, column 19: no wait follows this, so that it " +
			"would be pressed for no time (put wait(50); behind it)",
		"combo a { wait(2); wait(50); }": "line 1, column 16: 2 ms are shorter than a frame (a " +
			"macro changes with frames: wait longer)",
		"combo a { wait(50) wait(50); }": "line 1, column 18: a ; is missing behind this (write wait(…);)",
		"combo a { wait(50);":            "line 1, column 20: the combo is never closed (write } at its end)",
		"combo a { set_val(PS4_UP, 100); set_val(PS4_DOWN, 100); wait(50); }": "line 1, column 41: " +
			"PS4_DOWN is the opposite of a direction before it (leave one of them out)",
		"combo a { wait(999999999); }": "line 1, column 16: the macro becomes longer than 8388608 frames here (play " +
			"it in parts)",
		"combo a { }": "line 1, column 11: there is nothing to play in this combo (a combo has " +
			"set_val and wait)",
		"combo a { \xff }": "line 1, column 1: this is not text in UTF-8 (save the script as UTF-8)",
	} {
		_, err := gpc.Read([]byte(script), "", pace.NTSC())
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", script, err, want)
		}
	}
	if _, err := gpc.Read([]byte(fireball), "firebal", pace.NTSC()); err == nil ||
		!strings.Contains(err.Error(), "did you mean fireball?") {
		t.Error(err)
	}
}

// FuzzRead: what is read is a macro in the form that all have, and every mistake has a place in the script.
func FuzzRead(f *testing.F) {
	f.Add(fireball, "fireball")
	f.Add(fireball, "")
	f.Add("combo a { set_val(PS4_LX, -100); wait(16.7); set_val(PS4_ACCX, 5); wait(1e3); }", "")
	f.Add("combo a { /* ", "a")
	f.Add(two, "shoulders")
	f.Add("#define", "")
	f.Add("define X = -5; combo a { set_val(PS4_LX, -X); wait(X); }", "a")
	f.Fuzz(func(t *testing.T, script, combo string) {
		text, err := gpc.Read([]byte(script), combo, pace.NTSC())
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
