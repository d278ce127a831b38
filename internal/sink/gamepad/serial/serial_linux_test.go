package serial_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/serial"
	"github.com/hikyaku/hikyaku/pace"
)

var host *pace.Host

func TestMain(m *testing.M) {
	host = pace.Child(play.Players())
	os.Exit(m.Run())
}

func opened(t *testing.T, b *board) device.Device {
	t.Helper()
	go b.run()
	d, err := serial.Driver().Open(b.file, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func state(t *testing.T, text string) *macro.State {
	t.Helper()
	s, err := macro.ParseState(text)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// TestAMacroIsPlayedOverTheLine plays by a process of its own, as people do.
func TestAMacroIsPlayedOverTheLine(t *testing.T) {
	b := newBoard(t)
	go b.run()
	script, err := macro.Read([]byte("9 3\nhp 2\n2,mk 2\nlx=-100,l2=40 2\n5 2\nps 1\n"), macro.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pads, err := play.Keep([]string{"serial:" + b.file + "@1000000"}, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	defer pads.Close()
	run, err := pads.Start(t.Context(), host, play.Job{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	want := []string{"13=100,16=100", "3=100", "14=100,18=100", "7=40,11=-100", "", "0=100", ""}
	b.await(func() bool { return len(b.states) >= len(want) })
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.states, want) || b.hellos != 1 || b.bad != 0 {
		t.Errorf("%q, %d hellos, %d bad frames", b.states, b.hellos, b.bad)
	}
}

// TestAnUnchangedStateIsToldAgain, since a board takes a second of silence for an end.
func TestAnUnchangedStateIsToldAgain(t *testing.T) {
	if d := serial.Driver(); d.Repeat < 1 || pace.NTSC().Deadline(d.Repeat) > time.Second/5 {
		t.Errorf("each %d frames", d.Repeat)
	}
}

func TestWhatTheConsoleHasHadIsRead(t *testing.T) {
	b := newBoard(t)
	d := opened(t, b)
	var answer [device.AnswerBytes]byte
	for i := range 300 { // more than there are numbers
		s := state(t, []string{"lp", "2,ly=-100"}[i%2])
		if err := d.Write(1, 0, s); err != nil {
			t.Fatal(err)
		}
		n, err := d.(device.Reader).Read(1, answer[:], time.Hour)
		if err != nil || n != macro.Inputs || answer[macro.Square] != byte(s[macro.Square]) ||
			answer[macro.LY] != byte(s[macro.LY]) {
			t.Fatalf("write %d: %d bytes %v, %v", i, n, answer[:n], err)
		}
	}
	if n, err := d.(device.Reader).Read(1, answer[:], 0); n != 0 || err != nil {
		t.Errorf("it told nothing: %d bytes, %v", n, err)
	}
}

// TestAnswersThatNobodyReadsHoldUpNothing: a macro is played and nobody looks.
func TestAnswersThatNobodyReadsHoldUpNothing(t *testing.T) {
	b := newBoard(t)
	d := opened(t, b)
	for i := range 5000 {
		if err := d.Write(1, int64(i), state(t, []string{"lp", "5"}[i%2])); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
		b.await(func() bool { return len(b.states) == i+1 })
	}
}

func TestAGreetingIsSaidAgainUntilItIsHeard(t *testing.T) {
	b := newBoard(t)
	b.deafTo = 2
	opened(t, b)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hellos != 3 {
		t.Errorf("%d hellos", b.hellos)
	}
}

func TestWhatIsNoAdapterIsTold(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	silent, other, busy := newBoard(t), newBoard(t), newBoard(t)
	silent.deafTo, other.version = 1000, 0
	go silent.run()
	go other.run()
	opened(t, busy)
	for target, want := range map[string]string{
		filepath.Join(t.TempDir(), "ttyACM0"): "the device is not there: there is no ",
		file:                                  "is not a serial line",
		silent.file:                           "nothing on " + silent.file + " answers as docs/adapter.md says",
		other.file:                            `the adapter "a far end" on ` + other.file + " speaks no version",
		busy.file:                             "another program plays on " + busy.file,
		silent.file + "@fast":                 `"fast" is no speed`,
		silent.file + "@9":                    "a line cannot have 9 bits a second",
	} {
		d, err := serial.Driver().Open(target, []int{1})
		if err == nil {
			d.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", target, err, want)
		}
	}
}

// TestTroubleEndsARun, and what is held is let go of all the same.
func TestTroubleEndsARun(t *testing.T) {
	b := newBoard(t)
	d := opened(t, b)
	b.mu.Lock()
	b.dead = "no console asks"
	b.mu.Unlock()
	err := d.Write(1, 0, state(t, "lp"))
	if err == nil { // it has not been told yet
		_, err = d.(device.Reader).Read(1, make([]byte, device.AnswerBytes), time.Hour)
	}
	if err == nil || !strings.Contains(err.Error(), `says: "no console asks"`) {
		t.Error(err)
	}
	b.mu.Lock()
	b.dead = ""
	b.mu.Unlock()
	if err := d.Write(1, device.Release, new(macro.State)); err != nil {
		t.Error(err)
	}
	b.await(func() bool { return slices.Equal(b.states, []string{""}) })
}

func TestABoardThatIsPulledOutIsGone(t *testing.T) {
	b := newBoard(t)
	d := opened(t, b)
	b.hold.Close()
	b.line.Close()
	for range 3 {
		if err := d.Write(1, 0, state(t, "lp")); !errors.Is(err, device.ErrGone) {
			t.Error(err)
		}
	}
	var answer [device.AnswerBytes]byte
	if _, err := d.(device.Reader).Read(1, answer[:], time.Hour); !errors.Is(err, device.ErrGone) {
		t.Error(err)
	}
}

// TestABoardThatTakesNothingIsGone, in place of a write that never ends.
func TestABoardThatTakesNothingIsGone(t *testing.T) {
	b := newBoard(t)
	go func() {
		var hello [9]byte
		b.line.Read(hello[:])
		b.tell([]byte{0x81, 1})
	}()
	d, err := serial.Driver().Open(b.file, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for err == nil {
		err = d.Write(1, 0, state(t, "lp"))
	}
	if !errors.Is(err, device.ErrGone) || !strings.Contains(err.Error(), "takes nothing") {
		t.Error(err)
	}
	go b.run() // it goes on, in the middle of a frame
	b.await(func() bool { return len(b.states) == 1 })
	for err != nil {
		err = d.Write(1, device.Release, new(macro.State))
	}
	b.await(func() bool { return slices.Equal(b.states, []string{"20=100", ""}) })
}

// TestNoiseOnTheLineLosesNoAnswer: whatever came before, the frame behind a zero is heard.
func TestNoiseOnTheLineLosesNoAnswer(t *testing.T) {
	b := newBoard(t)
	b.mute = true
	d := opened(t, b)
	var answer [device.AnswerBytes]byte
	for i, noise := range []string{"\x05\x82\x01", "\x01\x00\x00\xff", strings.Repeat("\xff", 1000), "\x03\x82",
		string(coded([]byte{0x99, 1, 2, 3})), string(coded([]byte{0x82})), "\x05\x82\x02\xb7\x41"} {
		if err := d.Write(1, 0, state(t, fmt.Sprintf("rx=%d", i+1))); err != nil {
			t.Fatal(err)
		}
		b.line.WriteString(noise + "\x00")
		b.tell([]byte{0x82, byte(i + 1)})
		n, err := d.(device.Reader).Read(1, answer[:], time.Hour)
		if err != nil || n != macro.Inputs || answer[macro.RX] != byte(i+1) {
			t.Errorf("behind %q: %d bytes, %v", noise, n, err)
		}
	}
}

// TestTheBytesOfTheDocumentAreThese reads the table for those who write a firmware.
func TestTheBytesOfTheDocumentAreThese(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/adapter.md")
	if err != nil {
		t.Fatal(err)
	}
	if crc([]byte("123456789")) != 0x29b1 {
		t.Error("the checksum is another one")
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | `")
		text, _, _ := strings.Cut(rest, "`")
		frame, err := bytesOf(text)
		if !ok || err != nil || len(frame) < 3 {
			continue
		}
		rows++
		m, err := uncoded(frame[:len(frame)-1])
		if err != nil || string(coded(m)) != string(frame) {
			t.Errorf("%s: %x, %v", name, frame, err)
			continue
		}
		if m[0] != 0x02 {
			continue
		}
		_, written, _ := strings.Cut(name, "`")
		if written == "" {
			written = "5"
		}
		if ours := serial.AppendState(nil, m[1], state(t, strings.TrimSuffix(written, "`"))); string(ours) !=
			"\x00"+string(frame) {
			t.Errorf("%s: we write %x", name, ours)
		}
	}
	if rows != 9 {
		t.Errorf("%d rows", rows)
	}
}

func bytesOf(text string) (all []byte, err error) {
	for _, digits := range strings.Fields(text) {
		var v byte
		if _, err := fmt.Sscanf(digits, "%02x", &v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
