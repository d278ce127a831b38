package main

import (
	"os"
	"syscall"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/pace"
)

func recordScenes() []scene {
	return []scene{
		{"record/what is played", recordPlayed},
		{"record/pads are listed", recordListed},
		{"record/not permitted", recordNotPermitted},
		{"record/the pad goes away", recordUnplugged},
	}
}

// recordRate is slow, so that a machine with much else to do still plays each change nearer to its own frame than to
// another.
const recordRate = "10"

// recordPlayed records from a virtual pad what is played on it, and wants the same macro. The frames are compared with
// the kernel's own times of the changes, since an emulated processor may be late.
func recordPlayed(t *test) {
	text, err := os.ReadFile(exampleFile("combo.txt"))
	t.check(err)
	text = append(text, "lx=-100 2\nl1,r2,rx=100 3\n7,touch,share 1\n5 20\n"...)
	p := t.begin(string(text), "play", "-", "--device", "uinput", "--rate", recordRate)
	w := t.watch("hikyaku pad 1")
	node := nodeNamed("hikyaku pad 1")
	r := t.begin("", "record", "--device", node, "--rate", recordRate, "-o", "/tmp/recorded.txt")
	said := &r.said
	p.mustEnd(0)
	r.mustEnd(0, "the device has gone")
	t.logf("%s", said)
	recorded, err := os.ReadFile("/tmp/recorded.txt")
	t.check(err)
	got, err := macro.Read(recorded, macro.Options{})
	t.check(err)
	want, err := macro.Read([]byte(digital(string(text))), macro.Options{})
	t.check(err)
	rate, err := pace.PerSecond(10, 1)
	t.check(err)
	seen := w.seen()
	steps, exact, frame := want.Tracks[0], 0, int64(0)
	if len(steps) > 0 && steps[len(steps)-1].State == (macro.State{}) {
		steps = steps[:len(steps)-1]
	}
	if len(got.Tracks[0]) != len(steps) || len(seen) < len(steps) {
		t.fatalf("%d steps were recorded, not %d, and %d seen:\n%s", len(got.Tracks[0]), len(steps), len(seen),
			recorded)
	}
	for i, step := range got.Tracks[0] {
		if step.State != steps[i].State {
			t.errorf("step %d is %s, not %s", i, step.State, steps[i].State)
		}
		if step.Frames == steps[i].Frames {
			exact++
		}
		at := rate.Frame(seen[i].at.Sub(seen[0].at) + rate.Interval()/2)
		if off := frame - at; off < -1 || off > 1 {
			t.errorf("step %d begins with frame %d, and the kernel had it with %d", i, frame, at)
		}
		frame += int64(step.Frames)
	}
	t.logf("%d of %d steps have the frames of the macro\n%s", exact, len(steps), recorded)
}

// digital is what becomes of the sticks in a recording.
func digital(text string) string {
	return text[:len(text)-len("lx=-100 2\nl1,r2,rx=100 3\n7,touch,share 1\n5 20\n")] +
		"4 2\nl1,r2,rx=100 3\n7,touch,share 1\n5 20\n"
}

func recordListed(t *test) {
	t.begin("", "record").mustEnd(1, "there is no game pad")
	p, w := t.hold()
	node := nodeNamed("hikyaku pad 1")
	t.begin("", "record").mustEnd(0, node+"\thikyaku pad 1\n", "hikyaku macro record --device "+node)
	t.beginAs(nobody, "", "record").mustEnd(0, "may not be read")
	p.signal(syscall.SIGTERM)
	w.vanishes()
}

func recordNotPermitted(t *test) {
	p, w := t.hold()
	t.beginAs(nobody, "", "record", "--device", nodeNamed("hikyaku pad 1")).mustEnd(1, "may not be read")
	p.signal(syscall.SIGTERM)
	w.vanishes()
	t.begin("", "record", "--device", "/dev/input/event77").mustEnd(1, "the device is not there", "lists the pads")
	t.begin("", "record", "--device", "/dev/null").mustEnd(1, "no input device")
}

// recordUnplugged keeps what was recorded before.
func recordUnplugged(t *test) {
	p := t.begin("5 120\nlp 30\n5 60\nhp 1000000\n", "play", "-", "--device", "uinput")
	w := t.watch("hikyaku pad 1")
	r := t.begin("", "record", "--device", nodeNamed("hikyaku pad 1"))
	w.sees(down(tr))
	p.signal(syscall.SIGKILL)
	w.vanishes()
	r.mustEnd(0, "lp ", "5 ", "It ended early: the pad \"hikyaku pad 1\": the device has gone")
}
