package clients_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const root = "../../.."

// Where things are when the tests run.
var (
	cache      string // where scripts/need-clients puts what it installs
	javaClient string // the folder of our classes
	rustClient string // our program
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hikyaku-clients-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if cache, err = filepath.Abs(filepath.Join(root, ".cache", "clients", "tsurugi")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	javaClient, rustClient = filepath.Join(dir, "java"), filepath.Join(cache, "rust", "debug", "conformance")
	for _, args := range [][]string{
		{"javac", "-encoding", "UTF-8", "-cp", filepath.Join(cache, "java", "*"), "-d", javaClient,
			"java/Conformance.java"},
		{"cargo", "build", "--quiet", "--locked", "--offline", "--manifest-path", "rust/Cargo.toml", "--target-dir",
			filepath.Join(cache, "rust")},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%q: %v\n%s\nTo install what the clients need: scripts/need-clients\n", args, err,
				out)
			return 1
		}
	}
	return m.Run()
}
