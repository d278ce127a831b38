package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	root = "../../.." // of a family's folder
	// builtAlready names a program in the environment that is used instead of one built from this tree.
	builtAlready = "HIKYAKU_CLIENTS_BINARY"
)

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
	b.Binary, b.GoClient = filepath.Join(dir, "hikyaku"), filepath.Join(dir, "go-client")
	if len(b.Java) == 0 {
		b.Java = []string{"java/Conformance.java"}
	}
	// What go run has linked is kept for the next package of tests; what go build has is not.
	builds := [][]string{
		{"go", "run", "-tags", "gms_pure_go", "-exec", "cp", root + "/cmd/hikyaku", b.Binary},
	}
	if _, err := os.Stat("go"); err == nil { // not every family has a client in Go
		builds = append(builds, []string{"go", "build", "-o", b.GoClient, "./go"})
	}
	if built := os.Getenv(builtAlready); built != "" {
		b.Binary, builds = built, builds[1:]
	}
	for _, args := range builds {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%q: %v\n%s\nTo install what the clients need: scripts/need-clients\n", args, err,
				out)
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
