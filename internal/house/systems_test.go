//go:build !race

package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestTheHouseFitsEverySystem lets Go's type checker go through every package for each system that code is written for,
// with all that it depends on. That finds what a compiler would, in a tenth of the time; `make systems` compiles and
// links as well.
//
// It checks one thing at a time, so the race detector, which would make it take minutes, has nothing to find here.
func TestTheHouseFitsEverySystem(t *testing.T) {
	lookAround(t)
	read := &reader{set: token.NewFileSet(), files: map[string]*ast.File{}}
	for _, system := range systems {
		packages := needed(t, system, "gms_pure_go", "./...")
		files, err := read.all(packages)
		if err != nil {
			t.Fatalf("%s: %v", system, err)
		}
		for _, complaint := range complaints(read.set, packages, files) {
			t.Errorf("%s: %v", system, complaint)
		}
	}
}

// TestWhatATagLeavesOutIsNotBuiltIn goes through the program as each tag leaves it.
func TestWhatATagLeavesOutIsNotBuiltIn(t *testing.T) {
	lookAround(t)
	for tag, out := range map[string]string{
		"no_mysql":   "github.com/dolthub/go-mysql-server",
		"no_cluster": "go.etcd.io/raft",
	} {
		packages := needed(t, "linux", "gms_pure_go,"+tag, "./cmd/hikyaku")
		for _, p := range packages {
			if strings.HasPrefix(p.ImportPath, out) {
				t.Errorf("with the tag %s the program still has %s", tag, p.ImportPath)
			}
		}
		read := &reader{set: token.NewFileSet(), files: map[string]*ast.File{}}
		files, err := read.all(packages)
		if err != nil {
			t.Fatalf("%s: %v", tag, err)
		}
		for _, complaint := range complaints(read.set, packages, files) {
			t.Errorf("%s: %v", tag, complaint)
		}
	}
}

func TestWhatDoesNotFitASystemIsFound(t *testing.T) {
	for name, text := range map[string]string{
		"a name that is nowhere":   "package p\n\nvar x = nowhere",
		"another type":             "package p\n\nvar x string = 1",
		"in a function":            "package p\n\nfunc f() int { return \"\" }",
		"a variable without use":   "package p\n\nfunc f() { x := 1 }",
		"an import without use":    "package p\n\nimport \"unsafe\"",
		"an import that is not on": "package p\n\nimport _ \"elsewhere\"",
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "p.go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p := &source{ImportPath: module + "p"}
		if found := complaints(set, []*source{p}, [][]*ast.File{{file}}); len(found) != 1 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// A source is what `go list` says of a package that is needed for a system.
type source struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // import paths as written, where they mean another package
	Module     *struct{ GoVersion string }
}

// ours tells whether the package is one of this module, which is checked wholly.
func (s *source) ours() bool { return strings.HasPrefix(s.ImportPath+"/", module) }

// needed asks `go list` for all packages of the module and what they depend on, each after those that it imports.
func needed(t *testing.T, system, tags, of string) (all []*source) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-tags", tags, "-deps",
		"-json=ImportPath,Dir,GoFiles,ImportMap,Module", of)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v\n%s", system, err, stderr.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		s := new(source)
		if err := d.Decode(s); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("what go list printed: %v", err)
		}
		all = append(all, s)
	}
}

// A reader parses files, each once: most are the same for every system.
type reader struct {
	set   *token.FileSet
	files map[string]*ast.File
}

// all returns the files of each package.
func (r *reader) all(packages []*source) ([][]*ast.File, error) {
	type one struct {
		name string
		ours bool
	}
	var wanted []one
	for _, p := range packages {
		for _, name := range p.GoFiles {
			if name = filepath.Join(p.Dir, name); r.files[name] == nil {
				wanted = append(wanted, one{name, p.ours()})
			}
		}
	}
	parsed, errs := make([]*ast.File, len(wanted)), make([]error, len(wanted))
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var work sync.WaitGroup
	for i, w := range wanted {
		turns <- struct{}{}
		work.Go(func() {
			parsed[i], errs[i] = parse(r.set, w.name, w.ours)
			<-turns
		})
	}
	work.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i, w := range wanted {
		r.files[w.name] = parsed[i]
	}
	files := make([][]*ast.File, len(packages))
	for i, p := range packages {
		for _, name := range p.GoFiles {
			files[i] = append(files[i], r.files[filepath.Join(p.Dir, name)])
		}
	}
	return files, nil
}

// parse reads a file. Of what others wrote the functions' bodies are forgotten: they were checked when it was released.
func parse(set *token.FileSet, name string, ours bool) (*ast.File, error) {
	file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
	if err != nil || ours {
		return file, err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			f.Body = &ast.BlockStmt{}
		}
	}
	return file, nil
}

// complaints are what the type checker says of packages that come each after those that they import, the first of a
// package.
func complaints(set *token.FileSet, packages []*source, files [][]*ast.File) (found []error) {
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	for i, p := range packages {
		if p.ImportPath == "unsafe" {
			continue
		}
		config := types.Config{
			Importer:         importer{checked, p.ImportMap},
			Sizes:            types.SizesFor("gc", "amd64"),
			IgnoreFuncBodies: !p.ours(),
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		done, err := config.Check(p.ImportPath, set, files[i], nil)
		checked[p.ImportPath] = done
		if err != nil {
			found = append(found, err)
		}
	}
	return found
}

// An importer knows what was checked already.
type importer struct {
	checked map[string]*types.Package
	renamed map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if other, ok := i.renamed[path]; ok {
		path = other
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("no package " + path + " was found before")
}
