//go:build linux

package prometheus_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	root = "../../.."
	// builtAlready names a program in the environment that is used instead of one built from this tree.
	builtAlready = "HIKYAKU_CLIENTS_BINARY"
)

// binary is the program that the tests run.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if binary = os.Getenv(builtAlready); binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "hikyaku-clients-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "hikyaku")
	if out, err := exec.Command("go", "run", "-tags", "gms_pure_go", "-exec", "cp", root+"/cmd/hikyaku",
		binary).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build hikyaku: %v\n%s\n", err, out)
		return 1
	}
	return m.Run()
}
