package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// stateImports is all that the state of the store may import: nothing that waits, reads a clock or does input or
// output by itself. Of internal/journal it takes addresses, positions and errors.
var stateImports = []string{
	"bufio", "bytes", "cmp", "container/heap", "encoding/binary", "encoding/hex", "errors", "fmt", "hash/maphash", "io",
	"iter", "maps", "math", "math/bits", "slices", "strconv", "strings", "time", "unicode/utf8",
	"github.com/tidwall/btree",
	module + "internal/condition", module + "internal/index", module + "internal/interest", module + "internal/journal",
	module + "internal/message",
}

// stateNever is what the state may not name of these.
var stateNever = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"},

	module + "internal/journal": {"Journal"},
	module + "internal/message": {"NewID"},
}

// A queueFile is a file of internal/queue.
type queueFile struct {
	name    string
	store   string              // why it is the store's; "": it is the state's
	types   []string            // that it declares
	methods map[string][]string // that it declares, by the type
}

// lookAtQueueFile tells whose a file of internal/queue is. What only computes is the state's.
func lookAtQueueFile(name string, source []byte) (*queueFile, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &queueFile{name: name, methods: map[string][]string{}}
	because := func(at token.Pos, why string) {
		if f.store == "" {
			f.store = fmt.Sprintf("line %d %s", set.Position(at).Line, why)
		}
	}
	never := map[string][]string{}
	for _, i := range file.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(stateImports, path) {
			because(i.Pos(), "imports "+path)
		}
		as := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			as = i.Name.Name
		}
		never[as] = stateNever[path]
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				of := receiver(d)
				f.methods[of] = append(f.methods[of], d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					f.types = append(f.types, t.Name.Name)
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if n.Name == "Store" {
				because(n.Pos(), "names Store")
			}
		case *ast.GoStmt:
			because(n.Pos(), "starts a goroutine")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(never[x.Name], n.Sel.Name) {
				because(n.Pos(), "names "+x.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
	return f, nil
}

func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	if g, ok := t.(*ast.IndexExpr); ok {
		t = g.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// TestTheStateOfTheStoreCompilesWithoutTheStore lets the compiler build the files of internal/queue that only compute,
// and no others: so nothing that the state needs, of whatever it is made, can wait, read a clock, or reach the journal.
func TestTheStateOfTheStoreCompilesWithoutTheStore(t *testing.T) {
	dir := filepath.Join(root, "internal", "queue")
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*queueFile
	pure, of := []string{}, map[string]bool{} // files, and the types that these declare
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := lookAtQueueFile(filepath.Base(name), source)
		if err != nil {
			t.Fatal(err)
		}
		if files = append(files, f); f.store == "" {
			pure = append(pure, f.name)
			for _, name := range f.types {
				of[name] = true
			}
		}
	}
	if !of["state"] {
		t.Fatal("the type state is in none of the files that only compute")
	}
	for _, f := range files {
		for name, methods := range f.methods {
			if f.store != "" && of[name] {
				t.Errorf("%s has methods of %s (%s), which is the state's, and is the store's: %s. Return what is to "+
					"be done, and let the store do it", f.name, name, strings.Join(methods, ", "), f.store)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", os.DevNull}, pure...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the files of internal/queue that only compute do not compile by themselves: what the state needs is "+
			"in one of the store's, or has become its: %v\n%s", err, out)
	}
}

func TestWhatIsNotForTheStateIsFound(t *testing.T) {
	const filed = "line 2 imports " + module + "internal/journal/file"
	for source, want := range map[string]string{
		"import \"time\"\nfunc f(t time.Time) time.Duration { return t.Sub(t) }": "",
		"// A Store says time.Now.\nfunc f() {}":                                 "",
		"import \"time\"\nvar t = time.Now()":                                    "line 3 names time.Now",
		"import clock \"time\"\nvar t = clock.Now()":                             "line 3 names clock.Now",
		"import \"sync\"\nvar m sync.Mutex":                                      "line 2 imports sync",
		"import \"" + module + "internal/journal/file\"":                         filed,
		"import \"" + module + "internal/journal\"\nvar j journal.Journal":       "line 3 names journal.Journal",
		"import \"" + module + "internal/journal\"\nvar a journal.Address":       "",
		"func f(s *Store) {}":                                                    "line 2 names Store",
		"func f() { go f() }":                                                    "line 2 starts a goroutine",
		"func (s *state) f() {}":                                                 "",
	} {
		f, err := lookAtQueueFile("f.go", []byte("package queue\n"+source))
		if err != nil {
			t.Fatal(err)
		}
		if f.store != want {
			t.Errorf("%q: %q, want %q", source, f.store, want)
		}
	}
	f, err := lookAtQueueFile("f.go", []byte("package queue\ntype a struct{}\nfunc (*a) f() {}\nfunc (b[T]) g() {}"))
	if got := fmt.Sprint(f.types, f.methods); err != nil || got != "[a] map[a:[f] b:[g]]" {
		t.Errorf("%s, %v", got, err)
	}
}
