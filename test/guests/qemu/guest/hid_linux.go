package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
)

// wobble presses something else at each frame.
const wobble = "<loop 100000>\nlp 1\n5 1\n</loop>\n"

func hidScenes() []scene {
	all := []scene{{"titanone-hid/missing", func(t *test) {
		t.begin("lp 1\n", "play", "-", "--device", "titanone-hid").mustEnd(1, "the device is not there",
			"plug in the cable")
	}}}
	for _, name := range examples {
		all = append(all, scene{"titanone-hid/" + name, func(t *test) { hidPlayedAsTraced(t, exampleFile(name)) }})
	}
	return append(all,
		scene{"titanone-hid/busy", hidBusy},
		scene{"titanone-hid/several", func(t *test) {
			t.plug(nil)
			t.plug(nil)
			t.begin("lp 1\n", "play", "-", "--device", "titanone-hid").mustEnd(1, "there are several devices",
				"titanone-hid:/dev/hidraw0 or titanone-hid:/dev/hidraw1")
			t.begin("lp 1\n", "play", "-", "--device", "titanone-hid:/dev/hidraw1").mustEnd(0)
		}},
		scene{"titanone-hid/not permitted", func(t *test) {
			c := t.plug(nil)
			t.beginAs(nobody, "lp 1\n", "play", "-", "--device", "titanone-hid").mustEnd(1,
				"/dev/hidraw0 may not be opened", "udev rule")
			t.check(os.Chmod("/dev/hidraw0", 0o666))
			t.beginAs(nobody, "lp 1\n", "play", "-", "--device", "titanone-hid").mustEnd(0, "1 of 1 frames")
			c.letGo("")
		}},
		scene{"titanone-hid/unplugged", func(t *test) {
			c, p := t.hidHold(wobble, 10)
			c.unplug()
			t.logf("%s", p.mustEnd(1, "the device has gone", "plug it in again"))
		}},
		scene{"titanone-hid/stopped by Ctrl-C", func(t *test) {
			c, p := t.hidHold(endless, 1)
			p.signal(syscall.SIGINT)
			p.mustEnd(1, "everything was let go")
			c.letGo("")
		}},
		scene{"titanone-hid/killed", func(t *test) {
			c, p := t.hidHold(endless, 1)
			pacing := p.pacing()
			p.signal(syscall.SIGKILL)
			t.eventually("the pacing process has ended, too", func() bool { return !alive(pacing) })
			c.letGo("")
		}},
		scene{"titanone-hid/its pacing process is killed", func(t *test) {
			c, p := t.hidHold(endless, 1)
			t.check(syscall.Kill(p.pacing(), syscall.SIGKILL))
			p.mustEnd(1, "the pacing process failed")
			c.letGo("enter") // by the other process, which takes the device over for it
		}},
		scene{"titanone-hid/calibrated", hidCalibrated},
		scene{"titanone-hid/calibrated by an answer in other places", hidCalibratedElsewhere},
		scene{"titanone-hid/calibrated without an answer", hidSilent},
		scene{"titanone-hid/unplugged while it is calibrated", func(t *test) {
			c := t.plug(nil)
			p := t.begin("", "calibrate", "--device", "titanone-hid")
			t.eventually("it is written to", func() bool { return len(c.got()) > 1 })
			c.unplug()
			t.logf("%s", p.mustEnd(1, "the device has gone", "plug it in again"))
		}},
		scene{"titanone-hid/begins its lead before the moment", hidLead},
	)
}

func stateText(state []byte) string { return fmt.Sprintf("%x", state) }

func textOf(s *macro.State) string {
	b := make([]byte, len(s))
	for i, v := range s {
		b[i] = byte(v)
	}
	return stateText(b)
}

var released = textOf(new(macro.State))

// hidPlayedAsTraced plays a macro on the trace driver and on a converter, and compares what the latter got: the same
// states, and each of them again after every six frames.
func hidPlayedAsTraced(t *test, file string) {
	want := withRepeats(t.traced(file))
	c := t.plug(nil)
	said := t.begin("", "play", file, "--device", "titanone-hid").mustEnd(0, "frames at 60000/1001/s")
	c.letGo("")
	if got := t.told(c.got()); !slices.Equal(got, want) {
		t.errorf("the converter got\n  %s\nand not\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	t.logf("%d reports; %s", len(c.got()), said)
}

func withRepeats(events []trace.Event) []string {
	const every = 6
	all := []string{"enter"}
	for i, e := range events {
		all = append(all, textOf(&e.State))
		if i+1 < len(events) && events[i+1].Frame > e.Frame {
			for range (events[i+1].Frame - e.Frame - 1) / every {
				all = append(all, textOf(&e.State))
			}
		}
	}
	return append(all, "leave")
}

// hidHold begins a macro and waits until so many of its states have come.
func (t *test) hidHold(text string, states int) (*converter, *playing) {
	c := t.plug(nil)
	p := t.begin(text, "play", "-", "--device", "titanone-hid")
	t.eventually("the converter has got something", func() bool { return len(c.got()) > states })
	return c, p
}

// letGo wants the last reports to let go and to give the device back, and those before to be as they are named.
func (c *converter) letGo(before string) {
	want := []string{released, "leave"}
	if before != "" {
		want = append([]string{before}, want...)
	}
	c.t.eventually("the converter has been given back", func() bool {
		all := c.t.told(c.got())
		return len(all) >= len(want) && slices.Equal(all[len(all)-len(want):], want)
	})
}

func hidBusy(t *test) {
	c, p := t.hidHold(endless, 1)
	t.begin("lp 1\n", "play", "-", "--device", "titanone-hid").mustEnd(1, "the device is in use",
		"another program plays on /dev/hidraw0")
	if slices.Contains(t.told(c.got()), "leave") {
		t.errorf("the second program gave back what it did not have")
	}
	p.signal(syscall.SIGTERM)
	p.mustEnd(1)
	c.letGo("")
	t.begin("lp 1\n", "play", "-", "--device", "titanone-hid").mustEnd(0)
}

const delay = 12 * time.Millisecond

// input is a report that tells of a state, at a place in it.
func input(state []byte, at int, count byte) []byte {
	b := make([]byte, 64)
	b[0] = kindInput
	b[63] = count
	copy(b[at:], state)
	return b
}

// answering tells each state that is written to it, after a while.
func answering(at int) func(*converter, []byte) {
	count := byte(0)
	return func(c *converter, report []byte) {
		kind, state := c.t.parse(report)
		count++
		now := count
		if kind == kindOutput {
			c.later(delay, func() { c.says(input(state, at, now)) })
		}
	}
}

func hidCalibrated(t *test) {
	c := t.plug(answering(16))
	said := t.begin("", "calibrate", "--device", "titanone-hid", "--rounds", "30").mustEnd(0, "titanone-hid, 60 writes",
		"until it has it", "█")
	if d := lead(t, said); d < delay {
		t.errorf("the lead is %s: its answer came before it was given, %s after the write", d, delay)
	}
	c.letGo("")
	t.logf("%s", said)
}

// hidCalibratedElsewhere: nobody but the vendor knows where in its reports a device tells what. This one also chatters,
// and tells of the state before.
func hidCalibratedElsewhere(t *test) {
	count, before := byte(0), make([]byte, macro.Inputs)
	c := t.plug(func(c *converter, report []byte) {
		kind, state := c.t.parse(report)
		count++
		if kind != kindOutput {
			return
		}
		old, now := before, count
		before = state
		c.says(input(old, 7, now))
		c.later(delay, func() {
			b := input(state, 7, now)
			copy(b[43:], old[:16])
			c.says(b)
		})
	})
	said := t.begin("", "calibrate", "--device", "titanone-hid", "--rounds", "10").mustEnd(0, "until it has it")
	if d := lead(t, said); d < delay {
		t.errorf("the lead is %s: its answer came before it was given, %s after the write", d, delay)
	}
	c.letGo("")
}

// hidSilent chatters, but of something else.
func hidSilent(t *test) {
	count := byte(0)
	t.plug(func(c *converter, report []byte) {
		count++
		c.says(input(nil, 0, count))
	})
	t.begin("", "calibrate", "--device", "titanone-hid", "--rounds", "5").mustEnd(0, "tells nothing that follows",
		"only the writes were measured")
}

// hidLead plays at a moment. The write may be later than it should be on such a machine, and never earlier.
func hidLead(t *test) {
	const early = 400 * time.Millisecond
	first := make(chan time.Time, 1)
	t.plug(func(c *converter, report []byte) {
		if kind, _ := c.t.parse(report); kind == kindOutput {
			select {
			case first <- time.Now():
			default:
			}
		}
	})
	at := time.Now().Add(10 * time.Second)
	t.begin("lp 1\n", "play", "-", "--device", "titanone-hid", "--at", at.Format(time.RFC3339Nano), "--lead",
		early.String()).mustEnd(0)
	if begun := <-first; begun.Before(at.Add(-early)) {
		t.errorf("it was written %s before its moment, with a lead of %s", at.Sub(begun), early)
	}
	t.begin("lp 1\n", "play", "-", "--device", "titanone-hid", "--at",
		time.Now().Add(-time.Second).Format(time.RFC3339Nano)).mustEnd(1, "its moment is over")
}
