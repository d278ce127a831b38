package main

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

// passScenes read a pad that hikyaku-pad itself makes, that of player 2, and hand it on to that of player 1.
func passScenes() []scene {
	return []scene{
		{"pass/a macro on a button", passMacro},
		{"pass/the pad goes away", passUnplugged},
		{"pass/its pad is another's", passBusy},
	}
}

// handed begins to play text on a pad, and to hand that on.
func (t *test) handed(text string) (player, passing *playing, on *watched) {
	player = t.begin("5 360\n"+text, "play", "-", "--player", "2", "--device", "uinput")
	from := ""
	t.eventually("there is the player's pad", func() bool {
		from = nodeNamed("hikyaku pad 2")
		_, err := os.Stat(from)
		return err == nil
	})
	t.check(os.WriteFile("/tmp/fireball.txt", []byte("2 3\n3 3\n6,lp 3\n"), 0o600))
	passing = t.begin("", "pass", "--pad", from, "--device", "uinput", "--on", "l3=/tmp/fireball.txt")
	on = t.watch("hikyaku pad 1")
	t.eventually("the pad is passed on",
		func() bool { return strings.Contains(passing.said.String(), "Ctrl-C ends it") })
	return player, passing, on
}

func passMacro(t *test) {
	player, passing, on := t.handed("hp 20\n4,l2=60,lx=100 20\n4,mk 10\n4,mk,l3 30\nmk 10\n5 30\nhk 1000000\n")
	own := t.watch("hikyaku pad 2")   // as a game would, from which it is kept
	on.sees(down(tr2) + " 3:0x5=255") // hk, at the end
	passing.signal(syscall.SIGINT)
	on.vanishes()
	t.logf("%s", passing.mustEnd(0, "l3 (/tmp/fireball.txt)", "macros begun: 1", "changes of the pad"))
	if seen := own.seen(); len(seen) > 0 {
		t.errorf("a game saw of the pad that was kept from it: %v", seen)
	}
	player.signal(syscall.SIGTERM)
	own.vanishes() // with its letting go, which it sees
	if seen := own.seen(); len(seen) == 0 {
		t.errorf("the pad was not given back")
	}
	var got []string
	for _, m := range on.seen() {
		got = append(got, m.what)
	}
	all := strings.Join(got, "\n  ")
	x := func(parts ...string) string { slices.Sort(parts); return strings.Join(parts, " ") }
	mk := "1:0x131=1"
	want := []string{
		down(tr), x("1:0x138=1", "3:0x0=255", "3:0x10=-1", "3:0x2=153"), x("3:0x10=-1", mk),
		x("3:0x11=1", mk), x("3:0x10=1", "3:0x11=1", mk), x("3:0x10=1", mk, "1:0x134=1"), x("3:0x10=-1", mk), mk,
		"nothing", x(down(tr2), "3:0x5=255"), "nothing",
	}
	if !slices.Equal(got, want) {
		t.errorf("the game's pad had\n  %s\nand not\n  %s", all, strings.Join(want, "\n  "))
	}
}

func passUnplugged(t *test) {
	player, passing, on := t.handed("hp 1000000\n")
	on.sees(down(tr))
	player.signal(syscall.SIGKILL)
	on.vanishes()
	passing.mustEnd(1, "the device has gone")
}

func passBusy(t *test) {
	player, passing, on := t.handed("hp 1000000\n")
	from := nodeNamed("hikyaku pad 2")
	t.begin("", "pass", "--pad", from, "--device", "trace:/tmp/busy").mustEnd(1, "another program has it for itself")
	passing.signal(syscall.SIGKILL)
	on.vanishes() // the kernel lets go of what a pad held that goes
	player.signal(syscall.SIGTERM)
}
