package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/built"
)

const root = "../../.." // of a family's folder

// Built is what the tests of a family run. It is there once Main runs the tests.
type Built struct {
	Cache      string // where scripts/need-clients puts what it installs
	Binary     string // the real program
	GoClient   string // our program for the client in Go, if there is one
	JavaClient string // the folder of our classes for the clients in Java

	// Java are the sources of those; none: java/Conformance.java. What was compiled is kept in Cache as long as they
	// and the jars stay the same.
	Java []string
}

// Main is the TestMain of a family of clients, the folder beside this one: it builds what is compiled, once for all
// tests, and runs them.
func (b *Built) Main(m *testing.M, family string) {
	os.Exit(b.run(m, family))
}

func (b *Built) run(m *testing.M, family string) int {
	dir, err := os.MkdirTemp("", "hikyaku-clients-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if b.Cache, err = filepath.Abs(filepath.Join(root, ".cache", "clients", family)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if b.Binary, err = built.Program(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if len(b.Java) == 0 {
		b.Java = []string{"java/Conformance.java"}
	}
	if _, err := os.Stat("go"); err == nil { // not every family has a client in Go
		b.GoClient = filepath.Join(dir, "go-client")
		if out, err := exec.Command("go", "build", "-o", b.GoClient, "./go").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build the client in Go: %v\n%s\nTo install what the clients need: "+
				"scripts/need-clients\n", err, out)
			return 1
		}
	}
	if _, err := os.Stat("java"); err == nil { // nor one in Java
		if b.JavaClient, err = b.classes(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}
