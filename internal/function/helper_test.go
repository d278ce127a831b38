package function_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/caller/callertest"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/function/logbook"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// built is the folder with the Go function that the tests use.
var built string

func TestMain(m *testing.M) {
	callertest.Become()
	if os.Getenv("ORPHAN_TEST") != "" {
		beOwner()
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "bootstrap")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built = dir
	if err := os.Chmod(dir, 0o755); err != nil { // functions are other users
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "bootstrap"),
		"./testdata/bootstrap").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build the function: %v\n%s", err, out)
		return 1
	}
	status := m.Run()
	if status == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return status
}

// open makes a pool that ends with the test.
func open(t *testing.T, c function.Config) *function.Pool {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	p, err := function.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("the pool does not close well: %v", err)
		}
	})
	return p
}

// deploy deploys the Go function, changed as the test wants, under the name f.
func deploy(t *testing.T, p *function.Pool, change func(*function.Definition)) function.Deployed {
	t.Helper()
	d := function.Definition{Name: "f", Runtime: "provided.al2023", Code: code.Source{Folder: built}, MemoryMB: 256,
		Timeout: time.Minute, InitTimeout: time.Minute}
	if change != nil {
		change(&d)
	}
	deployed, err := p.Deploy(d)
	if err != nil {
		t.Fatal(err)
	}
	return deployed
}

// single lets a function have one instance at a time, so that a test knows which one serves it.
func single(d *function.Definition) {
	one := 1
	d.Reserved = &one
}

// invoke invokes f with an event and returns the result.
func invoke(t *testing.T, p *function.Pool, event string) *function.Result {
	t.Helper()
	r, err := p.Invoke(t.Context(), function.Request{Function: "f", Payload: []byte(event), LogTail: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// answer invokes f and reads its answer as JSON.
func answer(t *testing.T, p *function.Pool, event string, into any) *function.Result {
	t.Helper()
	r := invoke(t, p, event)
	if r.FunctionError != "" {
		t.Fatalf("%s: %s", event, r.Payload)
	}
	if err := json.Unmarshal(r.Payload, into); err != nil {
		t.Fatalf("%s answers %q: %v", event, r.Payload, err)
	}
	return r
}

// text is the log of f so far.
func text(t *testing.T, p *function.Pool) string {
	t.Helper()
	book, err := p.Log("f", "")
	if err != nil {
		t.Fatal(err)
	}
	lines, _, _ := book.Read(0, 0)
	return joined(lines)
}

func joined(lines []logbook.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func contains(t *testing.T, where, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s has no %q:\n%s", where, p, text)
		}
	}
}

// idle waits until every instance of f has asked for its next invocation. Before that a slow one may be passed over for
// a new one.
func idle(t *testing.T, p *function.Pool) {
	t.Helper()
	waittest.Until(t, "every instance is idle", func() bool {
		s, _ := p.Stats("f", "")
		for _, i := range s.Instances {
			if i.State != "idle" {
				return false
			}
		}
		return true
	})
}
