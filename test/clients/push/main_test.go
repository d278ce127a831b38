package push_test

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

// built is what the tests run.
var built struct {
	binary  string // hikyaku
	clients string // the folder with our Java programs
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hikyaku-clients-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if built.clients, err = filepath.Abs(filepath.Join(root, ".cache", "clients", "push")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	built.binary = os.Getenv(builtAlready)
	if built.binary == "" {
		built.binary = filepath.Join(dir, "hikyaku")
		if out, err := exec.Command("go", "run", "-tags", "gms_pure_go", "-exec", "cp", root+"/cmd/hikyaku",
			built.binary).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build hikyaku: %v\n%s\n", err, out)
			return 1
		}
	}
	return m.Run()
}
