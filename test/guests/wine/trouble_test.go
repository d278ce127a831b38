//go:build guests

package wine

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// long is a macro that lasts a quarter of an hour.
const long = "<loop 500>\nlp 60\n2,mk 40\n5 8\n</loop>\n"

// text makes a file with a macro.
func text(t *testing.T, macro string) string {
	t.Helper()
	file := path.Join(t.TempDir(), "macro.txt")
	if err := os.WriteFile(file, []byte(macro), 0o666); err != nil {
		t.Fatal(err)
	}
	return windows(file)
}

// fails runs a program that has to fail with a status, and say this.
func fails(t *testing.T, r *record, env []string, want int, says []string, args ...string) {
	t.Helper()
	said, err := end(t, pad(t, r, env, args...))
	if got := status(t, err); got != want {
		t.Errorf("exit status %d, not %d", got, want)
	}
	for _, s := range says {
		if !strings.Contains(said, s) {
			t.Errorf("there is no %q in\n%s", s, said)
		}
	}
}

func TestADeviceThatIsUnpluggedInTheMiddleIsTold(t *testing.T) {
	r := newRecord(t)
	fails(t, r, []string{"GCDAPI_UNPLUG=3"}, 1, []string{"play frame 18: titanone: the device has gone: it was " +
		"unplugged; plug it in again", "18 of 54000 frames"},
		"macro", "play", text(t, long), "--device", "titanone")
	writes := r.writes(t)
	// Three that it had, one at which it was not there any more, and one that tried to let go all the same.
	if len(writes) != 5 || writes[2].answer != 1 || writes[3].answer != 0 || writes[4].answer != 0 ||
		writes[4].state != (macro.State{}) {
		t.Errorf("%v", writes)
	}
	if calls := r.calls(t); calls[len(calls)-1].name != "gcdapi_Unload" {
		t.Errorf("at the end: %s", calls[len(calls)-1].name)
	}
}

func TestADeviceThatComesBackIsLetGoOf(t *testing.T) {
	r := newRecord(t)
	fails(t, r, []string{"GCDAPI_UNPLUG=3", "GCDAPI_REPLUG=1"}, 1, []string{"play frame 18: titanone: "}, "macro",
		"play", text(t, long), "--device", "titanone")
	r.released(t)
}

func TestADeviceThatIsNotThereIsTold(t *testing.T) {
	r := newRecord(t)
	fails(t, r, []string{"GCDAPI_CONNECTED=0"}, 1, []string{"the device is not there: no Titan One is connected to " +
		"this machine; plug in the cable of its PROG port"},
		"macro", "play", windows(example("jab.txt")), "--device", "titanone")
	calls := r.calls(t)
	if len(r.writes(t)) != 0 || calls[len(calls)-1].name != "gcdapi_Unload" {
		t.Errorf("%v", calls)
	}
}

func TestADeviceThatAnotherProgramHasIsTold(t *testing.T) {
	fails(t, newRecord(t), []string{"GCDAPI_BUSY=1"}, 1, []string{"the device is in use: gcdapi_Load refused; close " +
		"Gtuner and other programs"},
		"macro", "play", windows(example("jab.txt")), "--device", "titanone")
}

func TestALibraryThatIsNotThereIsTold(t *testing.T) {
	alone := path.Join(t.TempDir(), programName)
	program, err := os.ReadFile(path.Join(work, programName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, program, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := wine(t, nil, windows(alone), "macro", "play", windows(example("jab.txt")), "--device", "titanone")
	cmd.Dir = path.Dir(alone)
	said, err := end(t, cmd)
	if status(t, err) != 1 ||
		!strings.Contains(said, "titanone: the device is not there: gcdapi.dll cannot be loaded") ||
		!strings.Contains(said, "put the vendor's library beside this program") {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestALibraryThatIsNotTheVendorsIsTold(t *testing.T) {
	r := newRecord(t)
	fails(t, r, nil, 1,
		[]string{`Z:\work\bcryptprimitives.dll has no function gcdapi_Load: it is not the vendor's library`},
		"macro", "play", windows(example("jab.txt")), "--device", `titanone:Z:\work\bcryptprimitives.dll`)
	fails(t, r, nil, 1, []string{"has another word size than this program"}, "macro", "play",
		windows(example("jab.txt")), "--device", "titanone:"+windows(example("combo.txt")))
}

func TestMistakesAreToldAndNothingIsPlayed(t *testing.T) {
	r := newRecord(t)
	file := text(t, "hp 20\nlq 2\n2,mk\n")
	says := []string{file + `:2:1: there is no button "lq"`, file + ":3:3: the number of frames is missing"}
	fails(t, r, nil, 1, says, "macro", "play", file, "--device", "titanone")
	fails(t, r, nil, 1, says, "macro", "check", file)
	if calls := r.calls(t); len(calls) != 0 {
		t.Errorf("%v", calls)
	}
}

func TestTextsAreCheckedAndFormatted(t *testing.T) {
	said, err := end(t, pad(t, newRecord(t), nil, "macro", "check", windows(example("combo.txt"))))
	if err != nil || !strings.HasSuffix(strings.TrimSpace(said), "combo.txt: 65 frames") {
		t.Errorf("%v\n%s", err, said)
	}
	// As Notepad saves it.
	file := text(t, "HP   20\r\n<loop 2>\r\n2, MK 8\r\n</loop>\r\n")
	said, err = end(t, pad(t, newRecord(t), nil, "macro", "fmt", file))
	if want := "hp 20\n<loop 2>\n  2,mk 8\n</loop>\n"; err != nil || said != want {
		t.Errorf("%v\n%q", err, said)
	}
	fails(t, newRecord(t), nil, 1, []string{"1 of 1 files"}, "macro", "fmt", "-l", file)
	if said, err := end(t, pad(t, newRecord(t), nil, "macro", "fmt", "-w", file)); err != nil || said != "" {
		t.Errorf("%v\n%s", err, said)
	}
	if said, err := end(t, pad(t, newRecord(t), nil, "macro", "fmt", "-l", file)); err != nil || said != "" {
		t.Errorf("%v\n%s", err, said)
	}
}
