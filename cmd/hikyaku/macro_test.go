package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
)

// traced reads what a trace tells, as "0 9, 34 hp, - 5".
func traced(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := trace.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range events {
		frame := "-"
		if e.Frame != device.Release {
			frame = strconv.FormatInt(e.Frame, 10)
		}
		all = append(all, frame+" "+e.State.String())
	}
	return strings.Join(all, ", ")
}

func TestAMacroIsPlayedFrameForFrame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	r := hikyaku(t, "", nil, "macro", "play", "../../examples/combo.txt", "--device", "trace:"+file)
	if r.code != exitOK || r.stdout != "" || !strings.Contains(r.stderr, "65 of 65 frames at 60000/1001/s") ||
		!strings.Contains(r.stderr, "own process") {
		t.Fatalf("%+v", r)
	}
	if got := traced(t, file); got != "0 9, 34 hp, 54 2,mk, 62 6, 63 2, 64 3,hp, - 5" {
		t.Errorf("played %s", got)
	}
	r = hikyaku(t, "6,lp 1\n", nil, "macro", "play", "-", "--mirror", "--player", "2", "--rate", "50", "--device",
		"trace:"+file)
	if r.code != exitOK || !strings.Contains(r.stderr, "1 of 1 frames at 50/s") {
		t.Fatalf("%+v", r)
	}
	if got := traced(t, file); got != "0 4,lp, - 5" {
		t.Errorf("played %s", got)
	}
}

func TestAMacroWithMistakesPlaysNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	r := hikyaku(t, "hp 2\nlq 2\nhp\n", nil, "macro", "play", "-", "--device", "trace:"+file)
	if r.code != exitFailed || !strings.Contains(r.stderr, "stdin:2:1: there is no button") ||
		!strings.Contains(r.stderr, "stdin:3:1: the number of frames is missing") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the trace: %v", err)
	}
}

func TestCtrlCLetsGoOfEverything(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Fatal(err)
	}
	cmd := command(t.Context(), nil, "macro", "play", "-", "--device", "trace:"+pipe)
	cmd.Stdin = strings.NewReader("hk 1000000\n")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(pipe) // waits until it is played
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	first := make([]byte, 4096)
	n, err := f.Read(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed ||
		!strings.Contains(said.String(), "stopped before the end; everything was let go") {
		t.Errorf("status %d: %s", code, said.String())
	}
	rest, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(first[:n], rest...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := traced(t, file); got != "0 hk, - 5" {
		t.Errorf("played %s", got)
	}
}

func TestMacrosAreCheckedAndFormatted(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.txt"), filepath.Join(dir, "bad.txt")
	for file, text := range map[string]string{good: "HP   2\n<loop 2>\nlp 1\n</loop>", bad: "lq 2\n"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := hikyaku(t, "", nil, "macro", "check", good, bad)
	if r.code != exitFailed || !strings.Contains(r.stdout, "good.txt: 4 frames") ||
		!strings.Contains(r.stderr, "bad.txt:1:1:") {
		t.Errorf("%+v", r)
	}
	r = hikyaku(t, "", nil, "macro", "fmt", "--list", good)
	if r.code != exitFailed || r.stdout != good+"\n" {
		t.Errorf("%+v", r)
	}
	if r = hikyaku(t, "", nil, "macro", "fmt", "-w", good, bad); r.code != exitFailed {
		t.Errorf("%+v", r)
	}
	if text, _ := os.ReadFile(good); string(text) != "hp 2\n<loop 2>\n  lp 1\n</loop>\n" {
		t.Errorf("%q", text)
	}
	if text, _ := os.ReadFile(bad); string(text) != "lq 2\n" {
		t.Errorf("a file with mistakes was written: %q", text)
	}
	if r = hikyaku(t, "MK 1", nil, "macro", "fmt", "-"); r.code != exitOK || r.stdout != "mk 1\n" {
		t.Errorf("%+v", r)
	}
	script := "combo jab { set_val(PS4_SQUARE, 100); wait(33); }"
	if r = hikyaku(t, script, nil, "macro", "convert", "-", "--from", "gpc"); r.code != exitOK || r.stdout != "lp 2\n" {
		t.Errorf("convert: %d %q %s", r.code, r.stdout, r.stderr)
	}
	script = "MACRO KEYDOWN a\nKEYDOWN p\nDELAY 33\nKEYUP p\n"
	if r = hikyaku(t, script, nil, "macro", "convert", "-", "--from", "gimx", "--map", "p=lp"); r.stdout != "lp 2\n" {
		t.Errorf("convert: %d %q %s", r.code, r.stdout, r.stderr)
	}
	if r = hikyaku(t, "", nil, "macro", "fmt", "-l", good); r.code != exitOK || r.stdout != "" {
		t.Errorf("%+v", r)
	}
}

func TestCalibrateTellsWhatAWriteCosts(t *testing.T) {
	r := hikyaku(t, "", nil, "macro", "calibrate", "--rounds", "5", "--device",
		"trace:"+filepath.Join(t.TempDir(), "trace"))
	if r.code != exitOK || !strings.Contains(r.stderr, ", 10 writes\n") || !strings.Contains(r.stderr, "  a write ") ||
		!strings.Contains(r.stderr, "cannot be asked") {
		t.Errorf("%+v", r)
	}
}

func TestMistakesOfMacroCommandsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"macro jump", exitUsage, "macro has no command"},
		{"macro play", exitUsage, "needs the FILE of a macro"},
		{"macro play x.txt", exitUsage, "write --device uinput"},
		{"macro play x.txt --device uinpt", exitUsage, "did you mean uinput?"},
		{"macro play x.txt --device uinput --rate often", exitUsage, "write --rate 60000/1001"},
		{"macro play x.txt --device uinput --player 3", exitUsage, "there are players 1 and 2"},
		{"macro play no-such-file --device uinput", exitFailed, "no such file"},
		{"macro play ../../examples/jab.txt --device uinput:/dev/no-such-uinput", exitFailed, "modprobe uinput"},
		{"macro play x.txt --device uinput --at noon", exitUsage, "write --at 20:15:00 --lead 7ms"},
		{"macro play x.txt --device uinput --lead 7ms", exitUsage, "a lead needs a moment"},
		{"macro convert", exitUsage, "needs the FILE of a script"},
		{"macro convert ../../examples/jab.txt --from gmk", exitUsage, "write --from gpc, or --from gimx"},
		{"macro convert ../../examples/jab.txt --from gimx --map p", exitUsage, "write --map p=lp"},
		{"macro convert ../../examples/jab.txt --from gimx", exitFailed, "there is no macro in this file"},
		{"macro convert ../../examples/jab.txt", exitFailed, "there is no combo in this script"},
		{"macro fmt", exitUsage, "needs the FILE of a macro"},
		{"macro calibrate --device uinput --rounds -1", exitUsage, "write --rounds 300"},
		{"macro serve --device trace:/no/such/folder/trace", exitFailed, "no such file"},
	} {
		r := hikyaku(t, "", nil, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%s: %+v", c.args, r)
		}
	}
}

// TestAQueueIsPlayed: each message is a macro, played in their order; what is none becomes a dead letter with all of
// its mistakes.
func TestAQueueIsPlayed(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "pad.yaml")
	file := filepath.Join(dir, "trace")
	text := "data_dir: " + filepath.Join(dir, "data") + `
sources:
  in: { type: stdin }
sinks:
  combos: { type: queue, inputs: [in], queue: combos }
  pad: { type: gamepad, inputs: [waiting], device: "trace:` + file + `" }
`
	text = strings.Replace(text, "sinks:", "  waiting: { type: queue, queue: combos }\nsinks:", 1)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r := hikyaku(t, "lp 1\nlq 1\n236hp 1\n", nil, "run", "-c", config)
	if r.code != exitDead || !strings.Contains(r.stderr, "did you mean lp?") {
		t.Errorf("%+v", r)
	}
	if got := traced(t, file); got != "0 lp, - 5, 0 2, 1 3, 2 6,hp, - 5" {
		t.Errorf("played %s", got)
	}
}
