package browser_test

import (
	"flag"
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

var update = flag.Bool("update", false, "write the pictures of docs/pictures anew")

// built is what the tests run.
var built struct {
	binary  string // hikyaku
	browser string
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			built.browser = path
			break
		}
	}
	if built.browser == "" {
		fmt.Fprintln(os.Stderr, "there is no Chromium: run scripts/need-clients")
		return 1
	}
	dir, err := os.MkdirTemp("", "hikyaku-clients-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
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
