package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of floors into docs/architecture.md")

const root = "../.."

// systems are those that code is written for. What is built for one of them alone counts, too.
var systems = []string{"linux", "darwin", "windows"}

// list asks `go list` for the module's packages as they are built for a system.
func list(t *testing.T, system string) (all []*pkg) {
	t.Helper()
	lookAround(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e",
		"-json=ImportPath,Dir,Doc,GoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+system)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("what go list printed: %v", err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages: is %s the module's root?", len(all), root)
	}
	return all
}

// lookAround reads every folder of the module. What go list reads is unknown to go test, which would go on showing an
// old result; what the test itself reads it knows, and runs the test again when a file there has changed.
func lookAround(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestARoomImportsOnlyRoomsOfLowerFloors(t *testing.T) {
	used, said := map[exception]bool{}, map[string]bool{}
	for _, system := range systems {
		for _, p := range list(t, system) {
			for _, b := range breaches(p, used) {
				if !said[b] {
					said[b] = true
					t.Error(b)
				}
			}
		}
	}
	for _, e := range testExceptions {
		if !used[e] {
			t.Errorf("no test of %s imports %s any more: take the exception away", e.from, e.to)
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range list(t, "linux") {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment: say what it is for, what not, and how to use it", p.folder())
		}
	}
}

func TestNoFileOfCodeOutgrowsItsSubject(t *testing.T) {
	const most = 500
	for _, p := range list(t, "linux") {
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(text, []byte("\n")); n > most && !bytes.Contains(text, []byte("\n// Code generated ")) {
				t.Errorf("%s/%s has %d lines, over %d: give each subject a file of its own", p.folder(), name, n, most)
			}
		}
	}
}

func TestTheArchitectureShowsTheFloors(t *testing.T) {
	name := filepath.Join(root, "docs", "architecture.md")
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return // nothing is said that could be wrong
	}
	if err != nil {
		t.Fatal(err)
	}
	before, shown, after, err := cut(string(text))
	if err != nil {
		t.Fatalf("docs/architecture.md: %v", err)
	}
	if shown == table() {
		return
	}
	if !*update {
		t.Fatalf("docs/architecture.md does not show the floors as they are: run `go test ./internal/house -update`. "+
			"It should have\n\n%s", table())
	}
	if err := os.WriteFile(name, []byte(before+"\n"+table()+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The marks between which docs/architecture.md shows the map.
const (
	openMark  = "<!-- floors -->"
	closeMark = "<!-- /floors -->"
)

// cut splits a document around the table that it shows. The marks stay in before and after.
func cut(text string) (before, shown, after string, err error) {
	head, rest, ok := strings.Cut(text, openMark)
	if !ok {
		return "", "", "", errors.New("it has no line " + openMark + ": put it before the table of floors and " +
			closeMark + " behind it")
	}
	body, tail, ok := strings.Cut(rest, closeMark)
	if !ok {
		return "", "", "", errors.New("no line " + closeMark + " follows " + openMark)
	}
	return head + openMark, strings.TrimSpace(body) + "\n", closeMark + tail, nil
}
