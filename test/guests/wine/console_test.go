//go:build guests

package wine

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// console is a terminal, which Wine makes a console of Windows of: what is typed there reaches all programs on it.
type console struct {
	master *os.File
	slave  *os.File

	mu   sync.Mutex
	text strings.Builder
	done chan struct{} // nothing more is read
}

func newConsole(t *testing.T) *console {
	t.Helper()
	// Not blocking, so that its closing ends the reading.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	master := os.NewFile(uintptr(fd), "console")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	// Wide enough for whole lines.
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 250}); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &console{master: master, slave: slave, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		_, _ = io.Copy(c, master) // ends with an error when nobody has the other side any more
	}()
	return c
}

func (c *console) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(b)
}

// shows is what was written on it.
func (c *console) shows() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// start starts a program on the console.
func (c *console) start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.slave, c.slave, c.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err := cmd.Start()
	c.slave.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		c.master.Close()
		<-c.done
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (c *console) ctrlC(t *testing.T) {
	t.Helper()
	if _, err := c.master.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
}

func TestCtrlCLetsGoOfEverything(t *testing.T) {
	r, c := newRecord(t), newConsole(t)
	cmd := pad(t, r, nil, "macro", "play", text(t, long), "--device", "titanone")
	c.start(t, cmd)
	await(t, "the first button is pressed", func() bool { return r.presses(t, "lp") })
	await(t, "the line that tells how far it is", func() bool { return strings.Contains(c.shows(), "of 54000, ") })
	c.ctrlC(t)
	if got := status(t, cmd.Wait()); got != 1 {
		t.Errorf("exit status %d", got)
	}
	await(t, "what it says at the end",
		func() bool { return strings.Contains(c.shows(), "stopped before the end; everything was let go") })
	r.released(t)
}

func TestCtrlCEndsThePage(t *testing.T) {
	r, c := newRecord(t), newConsole(t)
	cmd := pad(t, r, nil, "macro", "serve", "--device", "titanone", "--listen", "127.0.0.1:0")
	c.start(t, cmd)
	await(t, "the page's address", func() bool { return strings.Contains(c.shows(), "Ctrl-C ends it.") })
	url := pageOf(t, c.shows(), nil)
	ask(t, url+"run", fmt.Sprintf(`{"text":%q,"player":1}`, long))
	await(t, "the first button is pressed", func() bool { return r.presses(t, "lp") })
	c.ctrlC(t)
	if got := status(t, cmd.Wait()); got != 0 {
		t.Errorf("exit status %d\n%s", got, c.shows())
	}
	r.released(t)
}

// TestAProgramThatIsKilledLetsGo: nobody asks the process that plays to stop then.
func TestAProgramThatIsKilledLetsGo(t *testing.T) {
	r := newRecord(t)
	cmd := pad(t, r, nil, "macro", "play", text(t, long), "--device", "titanone")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the first button is pressed", func() bool { return r.presses(t, "lp") })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	await(t, "the device is given back", func() bool { return r.ended(t, 1) })
	r.released(t)
}
