package browser_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/built"
)

const root = "../../.."

var update = flag.Bool("update", false, "write the pictures of docs/pictures anew")

// program is what the tests run.
var program struct {
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
			program.browser = path
			break
		}
	}
	if program.browser == "" {
		fmt.Fprintln(os.Stderr, "there is no Chromium: run scripts/need-clients")
		return 1
	}
	dir, err := os.MkdirTemp("", "hikyaku-clients-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program.binary, err = built.Program(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
