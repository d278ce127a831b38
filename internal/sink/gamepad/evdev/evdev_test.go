package evdev

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// report is events with the end of a report.
func report(at time.Duration, events ...event) (b []byte) {
	for _, e := range append(events, event{kind: evSyn}) {
		e.at = at
		b = e.append(b)
	}
	return b
}

func pressKey(k uint16, v int32) event { return event{kind: evKey, code: k, value: v} }
func moveAxis(k uint16, v int32) event { return event{kind: evAbs, code: k, value: v} }

// like is a pad with these buttons and axes.
func like(name string, vendor uint16, keys []uint16, axes map[uint16]reach) About {
	a := About{Name: name, vendor: vendor, keys: map[uint16]bool{}, axes: axes}
	for _, k := range keys {
		a.keys[k] = true
	}
	return a
}

var standardKeys = []uint16{
	btnSouth, btnEast, btnNorth, btnWest, 0x136, 0x137, 0x138, 0x139, 0x13a, 0x13b, 0x13c, 0x13d, 0x13e,
}

// pads are as their drivers in the kernel make them.
var pads = map[string]About{
	"DualSense": like("Sony Interactive Entertainment DualSense Wireless Controller", 0x054c, standardKeys,
		map[uint16]reach{
			absX: {0, 255, 128}, absY: {0, 255, 128}, absRX: {0, 255, 128}, absRY: {0, 255, 128}, absZ: {0, 255, 0},
			absRZ: {0, 255, 0}, absHatX: {-1, 1, 0}, absHatY: {-1, 1, 0},
		}),
	"Xbox 360": like("Microsoft X-Box 360 pad", 0x045e,
		[]uint16{btnSouth, btnEast, btnNorth, btnWest, 0x136, 0x137, 0x13a, 0x13b, 0x13c, 0x13d, 0x13e},
		map[uint16]reach{
			absX: {-32768, 32767, 0}, absY: {-32768, 32767, 0}, absRX: {-32768, 32767, 0}, absRY: {-32768, 32767, 0},
			absZ: {0, 255, 0}, absRZ: {0, 255, 0}, absHatX: {-1, 1, 0}, absHatY: {-1, 1, 0},
		}),
	"Xbox by Bluetooth": like("Xbox Wireless Controller", 0x045e,
		[]uint16{btnSouth, btnEast, btnNorth, btnWest, 0x136, 0x137, 0x13a, 0x13b, 0x13c, 0x13d, 0x13e},
		map[uint16]reach{
			absX: {0, 65535, 32768}, absY: {0, 65535, 32768}, absZ: {0, 65535, 32768}, absRZ: {0, 65535, 32768},
			absGas: {0, 1023, 0}, absBrake: {0, 1023, 0}, absHatX: {-1, 1, 0}, absHatY: {-1, 1, 0},
		}),
	"Switch Pro": like("Nintendo Switch Pro Controller", 0x057e, append([]uint16{0x135}, standardKeys...),
		map[uint16]reach{
			absX: {-32767, 32767, 0}, absY: {-32767, 32767, 0}, absRX: {-32767, 32767, 0}, absRY: {-32767, 32767, 0},
			absHatX: {-1, 1, 0}, absHatY: {-1, 1, 0},
		}),
	"PlayStation 3": like("Sony PLAYSTATION(R)3 Controller", 0x054c,
		append([]uint16{0x220, 0x221, 0x222, 0x223}, standardKeys...), map[uint16]reach{
			absX: {0, 255, 128}, absY: {0, 255, 128}, absRX: {0, 255, 128}, absRY: {0, 255, 128}, absZ: {0, 255, 0},
			absRZ: {0, 255, 0},
		}),
}

func TestUsualPadsAreUnderstood(t *testing.T) {
	for _, c := range []struct {
		pad    string
		events []event
		want   string
	}{
		{"DualSense", []event{pressKey(btnWest, 1)}, "lp"},
		{"DualSense", []event{pressKey(btnNorth, 1), moveAxis(absHatX, -1), moveAxis(absHatY, 1)}, "1,mp"},
		{"DualSense", []event{pressKey(0x138, 1), moveAxis(absZ, 10)}, "l2"}, // its button tells sooner than its way
		{"DualSense", []event{moveAxis(absX, 255), moveAxis(absY, 0)}, "9"},
		{"DualSense", []event{moveAxis(absX, 180), moveAxis(absY, 100)}, "5"},
		{"DualSense", []event{moveAxis(absX, 255), moveAxis(absHatX, -1)}, "4"},
		{"DualSense", []event{moveAxis(absRX, 0), moveAxis(absRY, 255)}, "rx=-100,ry=100"},
		{"Xbox 360", []event{pressKey(btnNorth, 1)}, "lp"}, // X, in the west, as xpad has it
		{"Xbox 360", []event{pressKey(btnWest, 1)}, "mp"},
		{"Xbox 360", []event{moveAxis(absRZ, 200), moveAxis(absY, 32767)}, "2,hk"},
		{"Xbox by Bluetooth", []event{moveAxis(absBrake, 1023), moveAxis(absZ, 65535), moveAxis(absRZ, 32768)},
			"l2,rx=100"},
		{"Switch Pro", []event{pressKey(btnEast, 1), pressKey(0x139, 1), moveAxis(absX, -32767)}, "4,mk,hk"},
		{"Switch Pro", []event{pressKey(0x135, 1)}, "5"}, // nothing to a macro
		{"PlayStation 3", []event{pressKey(0x220, 1), pressKey(0x223, 1)}, "9"},
		// opposite ones
		{"PlayStation 3", []event{pressKey(0x222, 1), pressKey(0x223, 1), pressKey(btnSouth, 1)}, "lk"},
	} {
		about := pads[c.pad]
		s := newSource(nil, about, nil)
		changes, err := s.take(copy(s.in, report(time.Second, c.events...)))
		got := "5"
		if len(changes) > 0 {
			got = changes[0].Digital(50).String()
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v are %s, not %s: %v", c.pad, c.events, got, c.want, err)
		}
	}
}

func TestAMappingChangesWhatButtonsAre(t *testing.T) {
	m, err := ParseMapping([]string{"btn_z=touch", "BTN_WEST=hk", "ABS_RX=lx", "0x2c5=start"})
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(nil, pads["Switch Pro"], m)
	n := copy(s.in, report(0, pressKey(0x135, 1), pressKey(btnWest, 1), moveAxis(absRX, 32767), pressKey(0x2c5, 1)))
	changes, err := s.take(n)
	if err != nil || len(changes) != 1 || !strings.Contains(changes[0].State.String(), "hk,options,touch,lx=100") {
		t.Errorf("%v, %v", changes, err)
	}
	for _, c := range []struct{ part, says string }{
		{"BTN_WST=lp", "did you mean BTN_WEST?"}, {"BTN_WEST=lq", "did you mean lp?"}, {"BTN_WEST", "has no ="},
		{"BTN_WEST=lx", "a button becomes a button"}, {"ABS_X=lp", "a button becomes a button"},
		{"ABS_X=gyrox", "an axis a stick's"},
		{"0x50=lp", "no button or axis"}, {"ABS_X=rx ABS_Y=rx", "another axis"},
	} {
		if _, err := ParseMapping(strings.Fields(c.part)); !errors.Is(err, ErrMapping) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.part, err)
		}
	}
}

func TestEventsThatTheKernelLeftOutAreAskedFor(t *testing.T) {
	s := newSource(nil, pads["DualSense"], nil)
	s.ask = func(p *pad) error {
		p.down[btnSouth] = true
		return nil
	}
	b := report(time.Second, pressKey(btnWest, 1))
	b = append(b, report(2*time.Second, event{kind: evSyn, code: synDropped}, pressKey(btnWest, 0),
		pressKey(btnEast, 1))...)
	changes, err := s.take(copy(s.in, b))
	if err != nil || len(changes) != 2 {
		t.Fatalf("%v, %v", changes, err)
	}
	if got := changes[1].State; got[macro.Circle] != 0 || got[macro.Cross] == 0 || changes[1].At != 2*time.Second {
		t.Errorf("%s at %s", got, changes[1].At)
	}
}

func TestBitmapsOfTheKernelAreRead(t *testing.T) {
	// /sys/class/input/event7/device/capabilities/key of a DualSense, with C's long of 64 bits and of 32.
	dualSense := "7fdb000000000000 0 0 0 0"
	if longBytes == 4 {
		dualSense = "7fdb0000 0 0 0 0 0 0 0 0 0"
	}
	for bit, want := range map[int]bool{btnSouth: true, 0x132: false, btnNorth: true, 0x13e: true, 0x13f: false,
		30: false} {
		if got := hasBit(dualSense, bit); got != want {
			t.Errorf("%#x: %v", bit, got)
		}
	}
	if hasBit("", 0) || hasBit("zz", 0) || hasBit("1", 0x130) {
		t.Error("a button was found in nothing")
	}
}

// FuzzEvents: whatever comes in whatever parts, the changes are the same, no two in a row are, and none is made up.
func FuzzEvents(f *testing.F) {
	f.Add(report(time.Second, pressKey(btnWest, 1), moveAxis(absHatX, -1)), 5)
	f.Add(append(report(1, moveAxis(absX, 1<<30)),
		report(2, event{kind: evSyn, code: synDropped}, moveAxis(absZ, -1<<31))...), 24)
	f.Fuzz(func(t *testing.T, b []byte, part int) {
		all := func(part int) (out []Change) {
			s := newSource(nil, pads["DualSense"], nil)
			last := s.Now()
			for rest := b; len(rest) > 0; {
				n := copy(s.in[s.have:], rest[:min(part, len(rest))])
				rest = rest[n:]
				changes, err := s.take(n)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range changes {
					if c.State == last.State && c.Keys == last.Keys {
						t.Fatalf("%v again", c)
					}
					last = c
					for in, v := range c.Digital(50) {
						if v != 0 && v != 100 && v != -100 {
							t.Fatalf("%s is %d", macro.Name(macro.Input(in)), v)
						}
					}
				}
				out = append(out, changes...)
			}
			return out
		}
		whole, parts := all(1<<30), all(1+(part&0xff))
		if len(whole) != len(parts) || len(whole) > len(b)/eventBytes {
			t.Fatalf("%d changes and %d of %d bytes", len(whole), len(parts), len(b))
		}
		for i := range whole {
			if whole[i] != parts[i] {
				t.Fatalf("%v and %v", whole[i], parts[i])
			}
		}
	})
}
