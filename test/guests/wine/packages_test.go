//go:build guests

package wine

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// packages are those that hikyaku-pad is made of. The tests of the files in without are left out.
var packages = []struct{ folder, without string }{
	{folder: "pace"},
	{folder: "internal/macro"},
	{folder: "internal/macro/page"},
	{folder: "internal/sink/gamepad/trace"},
	// A bubble of time that sleeps for each 10 µs takes minutes in Wine; TestCalibrate measures a delay that is one.
	{folder: "internal/sink/gamepad/play", without: "calibrator_test.go"},
	{folder: "internal/sink/gamepad/command"},
}

// leaveOut is a pattern of the names of a file's tests.
func leaveOut(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	return "^(" + strings.Join(names, "|") + ")$", nil
}

// TestThePackagesKeepTheirPromisesOnWindows runs the packages' own tests.
func TestThePackagesKeepTheirPromisesOnWindows(t *testing.T) {
	for _, p := range packages {
		t.Run(p.folder, func(t *testing.T) {
			dir := path.Join(work, "src", p.folder)
			args := []string{"package.test.exe", "-test.timeout=150s"}
			if p.without != "" {
				skip, err := os.ReadFile(path.Join(dir, "skip"))
				if err != nil {
					t.Fatal(err)
				}
				args = append(args, "-test.skip="+string(skip))
			}
			cmd := wine(t, nil, args...)
			cmd.Dir = dir
			said, err := end(t, cmd)
			if err != nil || !strings.HasSuffix(strings.TrimSpace(said), "PASS") {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
}
