package push_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/built"
)

const root = "../../.."

// program is what the tests run.
var program struct {
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
	if program.clients, err = filepath.Abs(filepath.Join(root, ".cache", "clients", "push")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if program.binary, err = built.Program(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
