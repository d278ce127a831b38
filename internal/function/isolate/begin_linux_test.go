//go:build amd64 || arm64

package isolate

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// spying names what this test is in a room.
const spying = "ISOLATE_SPY"

// spy looks at every process of its room that is not it, until it is killed, and says which of them lets it look at the
// program that has made the room.
func spy() {
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		fmt.Println("it sees not even itself:", err)
		return
	}
	self := strconv.Itoa(os.Getpid())
	fmt.Println("spying")
	for {
		found, _ := filepath.Glob("/proc/[0-9]*")
		for _, p := range found {
			if exe, err := os.Readlink(p + "/exe"); err != nil || exe != own || filepath.Base(p) == self {
				continue
			}
			f, err := os.Open(p + "/mem")
			if err == nil {
				_ = f.Close()
			}
			fmt.Printf("%s is ours; its memory: %v\n", p, err)
		}
	}
}

// Until a program is another one, its memory is that of the process which starts it. An extension runs in the room
// before the runtime is started, as the same user. Nothing but that user's rights is in its way before Linux 6.12.
func TestAProgramThatBeginsIsClosedToThoseThatRun(t *testing.T) {
	w := probe(t)
	if !w.Room {
		return // it is said
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.mapped, w.Scoped = true, false
	if os.Geteuid() == 0 { // the probe has made children of other users, and the kernel has closed our memory then
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	room, err := w.Open(Plan{TempBytes: 1 << 20, See: []string{self}})
	if err != nil {
		t.Log("no namespace of users here:", err)
		return
	}
	defer room.Close()
	caps := said(room, "/bin/sh", "sh", "-c", "grep Cap /proc/self/status")
	if strings.Count(caps, "0000000000000000") != 5 {
		t.Errorf("what it may: %s", caps)
	}
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	spied, err := room.Start(Program{Path: self, Args: []string{self}, Dir: "/", Env: []string{spying + "=1"},
		In: int(null.Fd()), Out: int(out.Fd())})
	_ = out.Close()
	if err != nil {
		t.Fatal(err)
	}
	text := bufio.NewReader(r)
	if line, err := text.ReadString('\n'); err != nil || line != "spying\n" {
		t.Fatalf("%q, %v", line, err)
	}
	for range 500 {
		pid, err := room.Start(Program{Path: "/bin/true", Args: []string{"true"}, Dir: "/", In: int(null.Fd()),
			Out: int(null.Fd())})
		if err != nil {
			t.Fatal(err)
		}
		reap(pid)
	}
	if err := unix.Kill(spied, unix.SIGKILL); err != nil {
		t.Error(err)
	}
	reap(spied)
	rest, _ := text.Peek(4096) // what it has said, as far as it matters
	if lines := strings.Split(string(rest), "\n"); len(rest) > 0 {
		t.Errorf("of 500 programs it saw at least %d: %s", len(lines)-1, lines[0])
	}
}
