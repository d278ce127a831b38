package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A function that the architecture names, and the room in which it says it is.
var (
	roomOf   = regexp.MustCompile("`([a-z/]+)`:")
	function = regexp.MustCompile("`((?:[A-Za-z]+\\.)?[A-Za-z]+)`")
)

func TestTheArchitectureNamesFunctionsThatThereAre(t *testing.T) {
	p := readPage(t, filepath.Join(root, "docs", "architecture.md"))
	checked := 0
	for i, line := range p.lines {
		cells := cellsOf(line)
		if len(cells) != 3 || !roomOf.MatchString(cells[2]) {
			continue
		}
		for _, part := range strings.Split(cells[2], ";") {
			m := roomOf.FindStringSubmatch(part)
			if m == nil {
				continue
			}
			there := functionsOf(t, m[1])
			for _, f := range function.FindAllStringSubmatch(strings.TrimPrefix(strings.TrimSpace(part), m[0]), -1) {
				checked++
				if !there[f[1]] {
					t.Errorf("%s:%d: internal/%s has no function or method %s", p.path, i+1, m[1], f[1])
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d functions are named: has the table of the life of a message changed its form?", checked)
	}
}

// functionsOf are the names of a package's functions, methods and types; a method's stands both alone and behind its
// type.
func functionsOf(t *testing.T, room string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	dir := filepath.Join(root, "internal", filepath.FromSlash(room))
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != dir {
			return fs.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			note(names, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func note(names map[string]bool, d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		for _, s := range d.Specs {
			ts, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			names[ts.Name.Name] = true
			if in, ok := ts.Type.(*ast.InterfaceType); ok {
				for _, m := range in.Methods.List {
					for _, n := range m.Names {
						names[n.Name], names[ts.Name.Name+"."+n.Name] = true, true
					}
				}
			}
		}
	case *ast.FuncDecl:
		names[d.Name.Name] = true
		if d.Recv == nil {
			return
		}
		kind := d.Recv.List[0].Type
		if star, ok := kind.(*ast.StarExpr); ok {
			kind = star.X
		}
		if id, ok := kind.(*ast.Ident); ok {
			names[id.Name+"."+d.Name.Name] = true
		}
	}
}
