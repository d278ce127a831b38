package clients_test

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

var (
	cache      string // where scripts/need-clients puts what it installs
	binary     string // the real program
	goClient   string // our program for Google's client in Go
	javaClient string // the folder of our classes for the one in Java
)

// TestMain builds what is compiled, once for all tests.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "hikyaku-clients-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if cache, err = filepath.Abs(filepath.Join(root, ".cache", "clients", "pubsub")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		binary, goClient, javaClient = filepath.Join(dir, "hikyaku"), filepath.Join(dir, "go-client"), filepath.Join(dir, "java")
		builds := [][]string{
			{"go", "build", "-tags", "gms_pure_go", "-o", binary, root + "/cmd/hikyaku"},
			{"go", "build", "-o", goClient, "./go"},
			{"javac", "-encoding", "UTF-8", "-cp", filepath.Join(cache, "java", "*"), "-d", javaClient, "java/Conformance.java"},
		}
		if built := os.Getenv(builtAlready); built != "" {
			binary, builds = built, builds[1:]
		}
		for _, args := range builds {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "%q: %v\n%s\nTo install what the clients need: scripts/need-clients\n", args, err, out)
				return 1
			}
		}
		return m.Run()
	}())
}
