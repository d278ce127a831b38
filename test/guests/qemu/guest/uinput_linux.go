package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
	"github.com/hikyaku/hikyaku/pace"
)

// everything presses each button and moves each stick and trigger, on both pads.
const everything = `<loop 2>
lp 2
mp 2
hp 2
lk 2
mk 2
hk 2
</loop>
start,share 1
ps 1
l1,l3 2
r1,r3 2
l2 1
touch 1
236p 1
lx=-100,ly=100 2
rx=50,ry=-50 2
7,hp 1
<player 2>
41236k 1
<mirror>
6,lp 5
</mirror>
</player>
<sync>
5 3
9 2
<player 2>
1,hk 2
</player>
`

// endless holds a button for longer than anybody waits.
const endless = "hp 1000000\n"

// nobody is a user without rights.
const nobody = 65534

// down is a pad of which one button is down.
func down(button uint16) string {
	i := image{}
	i.set(evKey, button, 1)
	return i.String()
}

func uinputScenes() []scene {
	all := []scene{}
	for _, name := range examples {
		all = append(all, scene{"uinput/" + name, func(t *test) { playedAsTraced(t, exampleFile(name), 1) }})
	}
	return append(all,
		scene{"uinput/everything by two players", func(t *test) {
			file := filepath.Join("/tmp", "everything.txt")
			t.check(os.WriteFile(file, []byte(everything), 0o600))
			playedAsTraced(t, file, 2)
		}},
		scene{"uinput/games see a joystick", uinputJoystick},
		scene{"uinput/stopped by Ctrl-C", func(t *test) {
			p, w := t.hold()
			p.signal(syscall.SIGINT)
			w.vanishes()
			p.mustEnd(1, "everything was let go")
		}},
		scene{"uinput/killed", func(t *test) {
			p, w := t.hold()
			pacing := p.pacing()
			p.signal(syscall.SIGKILL)
			w.vanishes()
			t.eventually("the pacing process has ended, too", func() bool { return !alive(pacing) })
		}},
		scene{"uinput/its pacing process is killed", func(t *test) {
			p, w := t.hold()
			t.check(syscall.Kill(p.pacing(), syscall.SIGKILL))
			w.vanishes()
			t.logf("%s", p.mustEnd(1, "the pacing process failed"))
		}},
		scene{"uinput/its pads stay while the page is served", uinputServed},
		scene{"uinput/not permitted", func(t *test) {
			t.beginAs(nobody, "lp 1\n", "play", "-", "--device", "uinput").mustEnd(1, "/dev/uinput may not be opened",
				"udev rule")
			t.check(os.Chmod("/dev/uinput", 0o666))
			t.cleanup(func() { t.check(os.Chmod("/dev/uinput", 0o600)) })
			t.beginAs(nobody, "lp 1\n", "play", "-", "--device", "uinput").mustEnd(1, "permission denied",
				"the group input")
		}},
		scene{"uinput/calibrated", uinputCalibrated},
	)
}

func uinputMissing(t *test) {
	t.begin("lp 1\n", "play", "-", "--device", "uinput").mustEnd(1, "the device is not there", "modprobe uinput")
}

// playedAsTraced plays a macro on the trace driver and on virtual pads, and compares what a game sees of these.
func playedAsTraced(t *test, file string, players int) {
	events := t.traced(file)
	p := t.begin("", "play", file, "--device", "uinput")
	var pads []*watched
	for _, name := range []string{"hikyaku pad 1", "hikyaku pad 2"}[:players] {
		pads = append(pads, t.watch(name))
	}
	p.mustEnd(0, "frames at 60000/1001/s")
	for i, w := range pads {
		w.vanishes()
		want, frames := []string{"nothing"}, []int64{0}
		for _, e := range events {
			if what := imageOf(&e.State).String(); e.Player == i+1 && what != want[len(want)-1] {
				want, frames = append(want, what), append(frames, e.Frame)
			}
		}
		seen := w.seen()
		got := []string{"nothing"}
		for _, m := range seen {
			got = append(got, m.what)
		}
		if !slices.Equal(got, want) {
			t.errorf("pad %d had\n  %s\nand not\n  %s", i+1, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
			continue
		}
		t.logf("pad %d: %d changes, at most %s from where they belong", i+1, len(seen),
			astray(seen, frames[1:], events))
	}
}

// astray is how far the moments are from their frames at most, the first one excepted, from which it counts. It is for
// people: an emulated processor promises nothing.
func astray(seen []moment, frames []int64, events []trace.Event) (most time.Duration) {
	last := int64(0)
	for _, e := range events {
		last = max(last, e.Frame)
	}
	for i, m := range seen {
		if frames[i] < 0 { // let go at the end
			continue
		}
		due := pace.NTSC().Deadline(frames[i]) - pace.NTSC().Deadline(frames[0])
		most = max(most, (m.at.Sub(seen[0].at) - due).Abs())
	}
	return most
}

// hold begins a macro without end, and waits until it is seen.
func (t *test) hold() (*playing, *watched) {
	p := t.begin(endless, "play", "-", "--device", "uinput")
	w := t.watch("hikyaku pad 1")
	w.sees(down(tr))
	return p, w
}

// uinputJoystick asks in the way of older games and of those in a browser.
func uinputJoystick(t *test) {
	p, w := t.hold()
	nodes, err := filepath.Glob("/dev/input/js*")
	if err != nil || len(nodes) != 1 {
		t.fatalf("joysticks: %q, %v", nodes, err)
	}
	f, err := os.Open(nodes[0])
	t.check(err)
	defer f.Close()
	const howManyAxes, howManyButtons = 0x80016a11, 0x80016a12
	for _, c := range []struct {
		what    string
		request uint
		want    uint8
	}{{"axes", howManyAxes, 8}, {"buttons", howManyButtons, uint8(len(buttons))}} {
		got, err := unix.IoctlGetInt(int(f.Fd()), c.request)
		if err != nil || uint8(got) != c.want {
			t.errorf("the joystick has %d %s, not %d: %v", uint8(got), c.what, c.want, err)
		}
	}
	p.signal(syscall.SIGTERM)
	w.vanishes()
	p.mustEnd(1)
}

func uinputCalibrated(t *test) {
	said := t.begin("", "calibrate", "--device", "uinput", "--rounds", "40").mustEnd(0, "uinput, 80 writes",
		"until it has it")
	lead(t, said)
	t.logf("%s", said)
}

// lead is the one that calibrate proposes.
func lead(t *test, said string) time.Duration {
	_, text, ok := strings.Cut(said, "--lead ")
	text, _, _ = strings.Cut(text, "\n")
	d, err := time.ParseDuration(text)
	if !ok || err != nil || d <= 0 {
		t.fatalf("no lead (%v) in %s", err, said)
	}
	return d
}
