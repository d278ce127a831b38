//go:build guests

package wine

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// insideVariable is set in the tree, where the tests run.
const insideVariable = "HIKYAKU_GUEST"

const (
	root = "../../.." // of the module
	work = "/work"    // what the tree sees of the folder that build has filled
)

func TestMain(m *testing.M) {
	if os.Getenv(insideVariable) != "" {
		os.Exit(inside(m))
	}
	flag.Parse()
	dir, err := os.MkdirTemp("", "hikyaku-wine-")
	if err == nil {
		err = build(dir)
	}
	if err == nil {
		err = enter(dir)
	}
	_ = os.RemoveAll(dir)
	status := 0
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// enter runs these tests once more, in the tree.
func enter(dir string) error {
	args := []string{"enter", dir, "env", insideVariable + "=1", work + "/guest.test"}
	flag.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "test.v", "test.run", "test.skip", "test.timeout", "test.count", "test.failfast":
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	cmd := exec.Command(filepath.Join(root, "scripts/guests-wine"), args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the tests in the tree: %w", err)
	}
	return nil
}

// inside is TestMain in the tree.
func inside(m *testing.M) int {
	const system = "/prefix/drive_c/windows/system32/bcryptprimitives.dll"
	library, err := os.ReadFile(filepath.Join(work, "bcryptprimitives.dll"))
	if err == nil {
		err = os.WriteFile(system, library, 0o755)
	}
	if err == nil {
		// Wine's server stays between programs, which begin sooner then. It ends with the tests, like everything in the
		// tree.
		err = exec.Command("wineserver", "--persistent").Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
