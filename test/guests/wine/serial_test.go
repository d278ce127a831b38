//go:build guests

package wine

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// comPort plugs the firmware of docs/adapter.md in as the port COM5, and returns what the console sees: a line for each
// report that differs from the last one.
func comPort(t *testing.T) *bufio.Reader {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	line := os.NewFile(uintptr(fd), "the far end")
	defer line.Close()
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("/dev/pts/%d", number)
	hold, err := os.OpenFile(file, os.O_RDWR|unix.O_NOCTTY, 0) // the line stays while no program has it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hold.Close() })
	const port = "/prefix/dosdevices/com5"
	_ = os.Remove(port)
	if err := os.Symlink(file, port); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path.Join(work, "board"))
	cmd.ExtraFiles = []*os.File{line}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return bufio.NewReader(out)
}

// TestABoardOnACOMPortIsPlayedOn, as Windows has its serial lines.
func TestABoardOnACOMPortIsPlayedOn(t *testing.T) {
	console := comPort(t)
	said, err := end(t, wine(t, nil, programName, "macro", "play",
		text(t, "9 6\n2,mk 6\nlx=-100,l2=40 6\n"), "--device", "serial:COM5@1000000"))
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, want := range []string{"13=100,16=100", "14=100,18=100", "7=40,11=-100", ""} {
		if line, err := console.ReadString('\n'); err != nil || strings.TrimSuffix(line, "\n") != want {
			t.Fatalf("the console sees %q, %v; not %q\n%s", line, err, want, said)
		}
	}
}

// TestHowLongABoardOnACOMPortTakesIsMeasured: the board tells when its console has had what was written.
func TestHowLongABoardOnACOMPortTakesIsMeasured(t *testing.T) {
	comPort(t)
	said, err := end(t, wine(t, nil, programName, "macro", "calibrate", "--rounds", "10", "--device", "serial:COM5"))
	if err != nil || !strings.Contains(said, "until it has it") {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestAPortThatIsNotThereOrHasNothingOnItIsTold(t *testing.T) {
	for device, want := range map[string]string{
		"serial:COM77":    "the device is not there: there is no COM77; Windows' Device Manager lists the ports",
		"serial:COM5@":    "is no speed in bits a second",
		"serial:Z:\\work": "serial: ",
	} {
		said, err := end(t, wine(t, nil, programName, "macro", "play", text(t, "lp 2\n"), "--device", device))
		if status(t, err) == 0 || !strings.Contains(said, want) {
			t.Errorf("%s: %v\n%s", device, err, said)
		}
	}
}
