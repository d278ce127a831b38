//go:build amd64 || arm64

package isolate

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// act names what this test is in a process that another test has started.
const act = "ISOLATE_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(spying) != "" {
		spy()
		return
	}
	if dir := os.Getenv(act); dir != "" {
		runtime.LockOSThread()
		w := Probe(dir)
		fmt.Printf("room %t, own user %t, filter %t, missing: %s\n", w.Room, w.OwnUser, w.Filter, &w.Abilities)
		if w.Room {
			fmt.Print(say(w, Plan{TempBytes: 1 << 20}, "id -u; ls /tmp; cat /proc/1/comm"))
		}
		return
	}
	os.Exit(m.Run())
}

// say runs a script in a room and returns what it prints.
func say(w *Ways, p Plan, script string) string {
	room, err := w.Open(p)
	if err != nil {
		return err.Error()
	}
	defer room.Close()
	return said(room, "/bin/sh", "sh", "-c", script)
}

func said(room *Room, path string, args ...string) string {
	r, out, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err.Error()
	}
	defer null.Close()
	pid, err := room.Start(Program{Path: path, Args: args, Dir: "/", Env: append(os.Environ(), "PATH=/usr/bin:/bin"),
		In: int(null.Fd()), Out: int(out.Fd())})
	_ = out.Close()
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(r)
	var status unix.WaitStatus
	if _, e := unix.Wait4(pid, &status, unix.WALL, nil); err != nil || e != nil || status.Signaled() {
		return fmt.Sprintf("%v, %v: signal %d after %s", err, e, status.Signal(), text)
	}
	return string(text)
}

func probe(t *testing.T) *Ways {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	return Probe(t.TempDir())
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestARoomHasWhatThePlanNamesAndNothingElse(t *testing.T) {
	w := probe(t)
	if !w.Room {
		t.Log("there are no rooms here:", &w.Abilities)
		return
	}
	dir := t.TempDir() // below /tmp, as a rule, and data lies in the code's own folder
	write(t, filepath.Join(dir, "code", "app"), "the code")
	write(t, filepath.Join(dir, "code", "data", "journal"), "secret")
	write(t, filepath.Join(dir, "code", "data", "shown", "file"), "shown")
	write(t, filepath.Join(dir, "code", "settings"), "secret")
	write(t, filepath.Join(dir, "a:b,c", "both"), "first")
	write(t, filepath.Join(dir, "second", "both"), "second")
	write(t, filepath.Join(dir, "second", "two"), "two")
	write(t, filepath.Join(dir, "else"), "secret")
	p := Plan{Code: filepath.Join(dir, "code"),
		Layers:    []string{filepath.Join(dir, "a:b,c"), filepath.Join(dir, "second")},
		See:       []string{filepath.Join(dir, "code", "data", "shown")},
		Hide:      []string{filepath.Join(dir, "code", "data"), filepath.Join(dir, "code", "settings")},
		TempBytes: 1 << 20,
		User:      probedUser}
	got := say(w, p, `cd `+dir+`; cat code/app /var/task/app code/data/shown/file /opt/both /opt/two code/settings /var/task/settings code/data/journal /var/task/data/journal else 2>/dev/null
echo; head -c 900000 /dev/zero > /tmp/most && echo fits; head -c 900000 /dev/zero > /dev/shm/more 2>/dev/null || echo full; touch new /var/task/new 2>/dev/null || echo refused`)
	if want := "the codethe codeshownfirsttwo\nfits\nfull\nrefused\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if _, err := os.Stat("/tmp/most"); err == nil {
		t.Error("its /tmp is the machine's")
	}
}

func TestARoomEndsWithEverybodyInIt(t *testing.T) {
	w := probe(t)
	if !w.Room {
		return
	}
	room, err := w.Open(Plan{TempBytes: 1 << 20, User: probedUser})
	if err != nil {
		t.Fatal(err)
	}
	said(room, "/bin/sh", "sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 &")
	left := said(room, "/bin/sh", "sh", "-c",
		"until grep -l sleep /proc/[0-9]*/comm; do :; done; echo word > /tmp/word")
	if !strings.HasPrefix(left, "/proc/") || said(room, "/bin/cat", "cat", "/tmp/word") != "word\n" {
		t.Errorf("its programs do not share it: %q", left)
	}
	if got := said(room, "/bin/sh", "sh", "-c",
		`(sleep 0 &) ; while grep -q "Z (zombie)" /proc/[0-9]*/status 2>/dev/null; do :; done; echo buried`); got != "buried\n" {
		t.Errorf("%q", got)
	}
	room.Close()
	found, _ := filepath.Glob("/proc/[0-9]*/comm") // the pattern is right
	for _, path := range found {
		if text, err := os.ReadFile(path); err == nil && string(text) == "sleep\n" {
			if line, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline")); err == nil &&
				string(line) == "sleep\x001000\x00" {
				if status, err := os.ReadFile(filepath.Join(filepath.Dir(path), "status")); err == nil &&
					strings.Contains(string(status), fmt.Sprint("\nUid:\t", probedUser)) {
					t.Errorf("%s outlives its room", path)
				}
			}
		}
	}
}

func TestAProgramThatIsNotThereIsAnError(t *testing.T) {
	w := probe(t)
	if !w.Room {
		return
	}
	room, err := w.Open(Plan{TempBytes: 1 << 20, User: probedUser})
	if err != nil {
		t.Fatal(err)
	}
	defer room.Close()
	if got := said(room, "/no/such"); got != "no such file or directory" {
		t.Errorf("%q", got)
	}
}

// again runs this test's program once more.
func again(t *testing.T, change func(*exec.Cmd)) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "isolate") // not t.TempDir: others have to reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "test"), program, 0o755)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "room"), 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "test"))
	cmd.Dir, cmd.Env = "/", []string{act + "=" + filepath.Join(dir, "room"), "TMPDIR=" + dir}
	change(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestAUserHasRoomsToo(t *testing.T) {
	if os.Geteuid() != 0 {
		return // the other tests are a user's already
	}
	got := again(t, func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	})
	if got != "room true, own user false, filter true, missing: \n993\ncat\n" && !strings.Contains(got, "room false") {
		t.Errorf("%q", got)
	}
}

// A filter of system calls refuses namespaces, as those of container engines do, and a user may have none.
func TestWhatTheKernelRefusesIsSaid(t *testing.T) {
	w := probe(t)
	room := w.Bare()
	if room == nil {
		t.Log("nothing can be refused here:", &w.Abilities)
		return
	}
	dir := t.TempDir()
	t.Setenv(act, dir)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got := said(room, exe, exe); !strings.HasPrefix(got, "room false, own user false, filter true, missing: a "+
		"room of its own: user, files, processes, shared memory (") {
		t.Errorf("%q", got)
	}
	if os.Geteuid() == 0 {
		script := `echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0"`
		got := again(t, func(c *exec.Cmd) {
			c.Args = []string{"sh", "-c", script, c.Path}
			c.Path = "/bin/sh"
			c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
				UidMappings: everybody, GidMappings: everybody, GidMappingsEnableSetgroups: true}
		})
		if !strings.Contains(got, "room false") || !strings.Contains(got, "no space left on device") {
			t.Errorf("%q", got)
		}
	}
}

var everybody = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1 << 20}}

func TestTheFilterFitsAndNamesEachCallOnce(t *testing.T) {
	if n := len(filter()); n > 4096 {
		t.Errorf("%d steps", n)
	}
	seen := map[uint32]bool{}
	for _, nr := range refused {
		if seen[nr] {
			t.Errorf("call %d is named twice", nr)
		}
		seen[nr] = true
	}
}

func TestARoomByAMemoIsMadeOfWhatIsThereNow(t *testing.T) {
	w := probe(t)
	if !w.Room {
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "code", "app"), "old")
	p := Plan{Code: filepath.Join(dir, "code"), See: []string{filepath.Join(dir, "later")}, TempBytes: 1 << 20,
		User: probedUser, Memo: &Memo{}}
	script := "cat /var/task/app " + filepath.Join(dir, "later") + " 2>/dev/null"
	room, err := w.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer room.Close()
	if !room.Usable() || said(room, "/bin/sh", "sh", "-c", script) != "old" {
		t.Error("a room that was just made is not usable")
	}
	if err := os.RemoveAll(filepath.Join(dir, "code")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "code", "app"), "new")
	if room.Usable() {
		t.Error("its code was replaced, and it is usable")
	}
	write(t, filepath.Join(dir, "later"), " and more")
	if got := say(w, p, script); got != "new and more" {
		t.Errorf("%q", got)
	}
}
