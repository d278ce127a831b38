// Package built is the program for tests that run it.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Already names a program in the environment that is used instead of one built from this tree.
const Already = "HIKYAKU_CLIENTS_BINARY"

// Run runs the tests of a package with the program, whose path program gets.
func Run(m *testing.M, program *string) (code int) {
	dir, err := os.MkdirTemp("", "hikyaku-clients-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if *program, err = Program(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Program is the path of the program, which is built in a folder if there is none already.
func Program(dir string) (path string, err error) {
	if path = os.Getenv(Already); path != "" {
		return path, nil
	}
	path = filepath.Join(dir, "hikyaku")
	// What go run has linked is kept for the next package of tests; what go build has is not.
	out, err := exec.Command("go", "run", "-tags", "gms_pure_go", "-exec", "cp",
		"github.com/hikyaku/hikyaku/cmd/hikyaku", path).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build hikyaku: %w\n%s", err, out)
	}
	return path, nil
}
