package function_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// rooms are the processes that hold this process's rooms.
func rooms(t *testing.T) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, _ := os.ReadFile(path) // it may have ended
		number, rest, _ := strings.Cut(string(text), " (cat) ")
		pid, err := strconv.Atoi(number)
		if fields := strings.Fields(rest); err == nil && len(fields) > 1 && fields[0] != "Z" &&
			fields[1] == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func apart(t *testing.T, p *function.Pool) bool {
	t.Helper()
	if a := p.Machine().Isolation; !a.Room {
		t.Log("there are no rooms here:", &a)
		return false
	}
	return true
}

// The room of the next instance is made before it is wanted, ends with its function, and is not used when somebody has
// ended it.
func TestTheNextInstanceFindsItsRoomMade(t *testing.T) {
	p := open(t, function.Config{})
	if !apart(t, p) {
		return
	}
	deploy(t, p, nil)
	waittest.Until(t, "a room is there before the first invocation", func() bool { return len(rooms(t)) == 1 })
	first := rooms(t)[0]
	if r := invoke(t, p, `"one"`); string(r.Payload) != `"one"` {
		t.Fatalf("%+v with %s", r, r.Payload)
	}
	waittest.Until(t, "another one is there beside the instance", func() bool { return len(rooms(t)) == 2 })
	var next int
	for _, pid := range rooms(t) {
		if pid != first {
			next = pid
		}
	}
	s, err := p.Stats("f", "")
	if err != nil || len(s.Instances) != 1 || next == 0 {
		t.Fatalf("%+v, %v, and the first room is gone: %d", s.Instances, err, next)
	}
	if err := syscall.Kill(next, syscall.SIGKILL); err != nil { // our own child
		t.Fatal(err)
	}
	invoke(t, p, `{"do":"crash after"}`)
	if r := invoke(t, p, `"two"`); string(r.Payload) != `"two"` {
		t.Errorf("%+v with %s", r, r.Payload)
	}
	if err := p.Remove("f", ""); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "no room is left", func() bool { return len(rooms(t)) == 0 })
}

// A folder of code may be made anew, as builds do it: a room that was made before does not show the one that is gone.
func TestAFolderOfCodeThatWasReplacedIsSeenByTheNextInstance(t *testing.T) {
	p := open(t, function.Config{})
	if !apart(t, p) {
		return
	}
	folder := filepath.Join(t.TempDir(), "code")
	build := func(word string) {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "app.py"), "import os\ndef handler(event, context):\n    if event == 'end': "+
			"os._exit(1)\n    return '"+word+"'\n")
	}
	build("old")
	deploy(t, p, func(d *function.Definition) {
		d.Runtime, d.Handler, d.Code = "python3", "app.handler", code.Source{Folder: folder}
	})
	if r := invoke(t, p, `{}`); string(r.Payload) != `"old"` {
		t.Fatalf("%+v with %s", r, r.Payload)
	}
	waittest.Until(t, "the next room is there", func() bool { return len(rooms(t)) == 2 })
	build("new")
	invoke(t, p, `"end"`)
	if r := invoke(t, p, `{}`); string(r.Payload) != `"new"` {
		t.Errorf("%+v with %s", r, r.Payload)
	}
}

// However many functions there are, few rooms wait for them.
func TestFewRoomsAreMadeAhead(t *testing.T) {
	p := open(t, function.Config{})
	if !apart(t, p) {
		return
	}
	for n := range 40 {
		deploy(t, p, func(d *function.Definition) { d.Name = fmt.Sprint("f", n) })
	}
	waittest.Until(t, "there are 32", func() bool { return len(rooms(t)) == 32 })
	if r, err := p.Invoke(t.Context(), function.Request{Function: "f0", Payload: []byte(`"first"`)}); err != nil ||
		string(r.Payload) != `"first"` {
		t.Errorf("%+v, %v", r, err)
	}
	if n := len(rooms(t)); n > 34 { // with the instance's, and one that is just ended
		t.Errorf("%d rooms are there", n)
	}
}
