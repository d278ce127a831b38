package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A keeper may name queue.Store: the rest of the house asks a queue.Service, which may be another machine's.
type keeper struct {
	where string // a file, or a folder with those below it, as in floor.rooms
	why   string
}

var keepers = []keeper{
	{"internal/bench/*", "benches measure the store itself"},
	{"internal/push/pushtest", "it opens one for tests"},
}

// TestOnlyWhoOpensAStoreNamesIt looks at every file of code, whatever it is built for. Tests may open one.
func TestOnlyWhoOpensAStoreNamesIt(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		switch {
		case d.IsDir() && (dir == "internal/queue" || name != root && strings.HasPrefix(d.Name(), ".")),
			d.IsDir() && d.Name() == "node_modules":
			return filepath.SkipDir
		case d.IsDir(), filepath.Ext(name) != ".go", strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		lines, err := namesStore(source)
		if err != nil || len(lines) == 0 {
			return err
		}
		i := slices.IndexFunc(keepers, func(k keeper) bool { _, ok := within(k.where, dir); return ok })
		if i < 0 {
			t.Errorf("%s:%d names queue.Store: take a queue.Service, or the smallest part of it that is enough", dir,
				lines[0])
			return nil
		}
		used[keepers[i].where] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keepers {
		if !used[k.where] {
			t.Errorf("nothing in %s names queue.Store any more: take it off the list", k.where)
		}
	}
}

func TestNamesOfTheStoreAreFound(t *testing.T) {
	const from = `"` + module + `internal/queue"`
	for source, want := range map[string]string{
		"import " + from + "\nvar s *queue.Store":               "[3]",
		"import q " + from + "\nfunc f(map[string]*q.Store) {}": "[3]",
		"import . " + from + "\nvar s *Store":                   "[2]",
		"import " + from + "\nvar s queue.Service":              "[]",
		"import " + from + "\n// queue.Store is one.\n":         "[]",
		"import \"other/queue\"\nvar s *queue.Store":            "[]",
	} {
		lines, err := namesStore([]byte("package p\n" + source))
		if got := fmt.Sprint(lines); err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", source, got, err, want)
		}
	}
}

// namesStore returns the lines of a file that name queue.Store, or that import package queue so that nobody can see it.
func namesStore(source []byte) (lines []int, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	name := ""
	for _, i := range file.Imports {
		if path, err := strconv.Unquote(i.Path.Value); err != nil || path != module+"internal/queue" {
			continue
		}
		if name = "queue"; i.Name != nil {
			name = i.Name.Name
		}
		if name == "." {
			lines = append(lines, set.Position(i.Pos()).Line)
		}
	}
	if name == "" {
		return nil, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Store" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == name {
				lines = append(lines, set.Position(s.Pos()).Line)
			}
		}
		return true
	})
	return lines, nil
}
