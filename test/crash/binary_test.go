//go:build linux

package crash

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sampletest"
)

// builtAlready names the program in the environment of a test that runs itself again.
const builtAlready = "HIKYAKU_CRASH_BINARY"

// times makes long runs of the tests that kill at random.
var times = flag.Int("times", 1, "how many times as often the program is killed")

// some takes n of the cases, or all in a long run.
func some[T any](t *testing.T, n int, cases ...T) []T {
	t.Helper()
	if *times > 1 {
		n = len(cases)
	}
	return sampletest.Of(t, n, cases...)
}

// raced has the program look for data races, of which the first ends it: where a test kills it, nobody else would tell.
var raced = flag.Bool("raced", false, "build the program with the race detector; a data race ends it, and so fails "+
	"the test")

// binary is the real program, built once for all tests of this package.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "hikyaku-crash-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		flag.Parse()
		if err := moreBesideEachOther(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if binary = os.Getenv(builtAlready); binary != "" {
			return m.Run() // a test runs itself in a namespace of its own
		}
		binary = filepath.Join(dir, "hikyaku")
		// What go run has linked is kept for the next package of tests; what go build has is not.
		args := []string{"run", "-tags", "gms_pure_go", "-exec", "cp"}
		if *raced {
			args = append(args, "-race")
			if err := os.Setenv("GORACE", "halt_on_error=1"); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		build := exec.Command("go", append(args, "../../cmd/hikyaku", binary)...)
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// moreBesideEachOther lets more tests run at once than there are processors, unless -parallel says how many: most of
// them wait for a far end's time, a door's or a stop's.
func moreBesideEachOther() error {
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if said {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0))))
}

// result is what a run of the program left.
type result struct {
	code           int
	stdout, stderr string
}

// hikyaku runs the program to its end.
func hikyaku(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Stdin = strings.NewReader(stdin)
	return finish(t, cmd)
}

func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// checkJournal demands that a journal has no damage. The process that uses it has ended, well or not.
func checkJournal(t *testing.T, dataDir string) {
	t.Helper()
	r := hikyaku(t, "", "journal", "check", dataDir)
	if r.code != 0 || !damages(r, 0) {
		t.Errorf("journal check: status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// damages tells whether a check found that many damaged places.
func damages(r result, want int) bool {
	for line := range strings.Lines(r.stdout) {
		if rest, ok := strings.CutPrefix(line, "damaged places"); ok {
			return strings.TrimSpace(rest) == fmt.Sprint(want)
		}
	}
	return false
}

// write makes a file of a text.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
