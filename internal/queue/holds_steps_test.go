package queue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// holdsCompared are functions that sorting and heaps of the standard library call, which has no steps in its loops.
var holdsCompared = []string{"Less", "Swap", "bySequence", "byArrival", "compareNames", "beside",
	"besideNumber"}

// holdsSmall are functions whose loops turn over one message, one page or one node of a tree.
var holdsSmall = []string{"bitmap.rank", "bitmap.next", "bitmap.count", "bitmap.or", "bitmap.empty", "entryEnv.Lookup",
	"index.least", "index.branch.child", "index.leaf.search"}

// holdsPages has a page hold a quarter of the messages, so that a loop over the pages of a long queue turns often
// enough to be found.
var holdsPages = [2]string{"const pageSize = 1 << 8", "const pageSize = 1 << 6"}

// runWithSteps compiles this package with steps, and runs one of its tests in it.
func runWithSteps(t *testing.T, test string) {
	t.Helper()
	overlay := withSteps(t)
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-run", "^"+test+"$", "-v",
		"-timeout", "8m", ".")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: "+test) {
		t.Fatalf("%s did not run with steps:\n%s", test, out)
	}
}

// holdsBelow are the packages below this one that work under the Store's lock. They get steps, too.
var holdsBelow = []string{"condition", "index", "interest"}

// withSteps writes the code of this package and of those below with steps into files of the test's own, and says what
// go is to be told of them.
func withSteps(t *testing.T) (overlay string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	write := func(pkg, name, text string) {
		t.Helper()
		to := filepath.Join(dir, filepath.Base(pkg)+"-"+name)
		replace[filepath.Join(here, pkg, name)] = to
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var places []string
	locks := 0
	imports, hooks := "", ""
	for _, below := range append([]string{""}, holdsBelow...) {
		pkg, prefix := ".", ""
		if below != "" {
			pkg, prefix = filepath.Join("..", below), below+"."
			write(pkg, "holds_step.go", "package "+below+"\n\n// HoldsStep counts.\nvar HoldsStep = func(int) {}\n")
			imports += fmt.Sprintf("\t%q\n", "github.com/hikyaku/hikyaku/internal/"+below)
			hooks += "\t" + below + ".HoldsStep = holdsStep\n"
		}
		files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			stepped, n := addSteps(t, name, prefix, source, &places)
			locks += n
			write(pkg, filepath.Base(name), string(stepped))
		}
	}
	if locks != 1 {
		t.Fatalf("found %d locks of a Store: want the field mu of the type Store", locks)
	}
	write(".", "holds_places_test.go", "package queue\n\nimport (\n\t\"sync/atomic\"\n\n"+imports+
		")\n\nfunc init() {\n"+hooks+"\tholdsMade = make([]atomic.Uint32, "+fmt.Sprint(len(places))+
		")\n\tholdsCounts = make([]atomic.Uint32, len(holdsMade))\n\tholdsPlaces = []holdsPlace{\n\t\t"+
		strings.Join(places, ",\n\t\t")+",\n\t}\n}\n")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// addSteps gives a file steps, each on the line where its block begins, so that lines keep their numbers. Functions of
// a package below have its prefix. locks is how many locks of a Store it has replaced.
func addSteps(t *testing.T, name, prefix string, source []byte, places *[]string) (out []byte, locks int) {
	t.Helper()
	fset := token.NewFileSet()
	source = bytes.Replace(source, []byte(holdsPages[0]), []byte(holdsPages[1]), 1)
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	in := "" // the function that is being walked
	call := "holdsStep"
	if prefix != "" {
		call = "HoldsStep"
	}
	step := func(b *ast.BlockStmt, most string) {
		if slices.Contains(holdsSmall, in) {
			return
		}
		at := fset.Position(b.Lbrace)
		edits = append(edits, edit{at.Offset + 1, at.Offset + 1, fmt.Sprintf(" %s(%d);", call, len(*places))})
		*places = append(*places, fmt.Sprintf("{%q, %q, %s}", fmt.Sprintf("%s:%d", name, at.Line), in, most))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			step(n.Body, "holdsLoop")
		case *ast.RangeStmt:
			step(n.Body, "holdsLoop")
		case *ast.FuncLit:
			step(n.Body, "holdsLoop")
		case *ast.FuncDecl:
			if in = n.Name.Name; n.Recv != nil {
				in = receiver(n.Recv.List[0].Type) + "." + in
			}
			in = prefix + in
			if slices.Contains(holdsCompared, n.Name.Name) {
				step(n.Body, "holdsCompares")
			}
			if in == "entryEnv.Lookup" {
				at := fset.Position(n.Body.Lbrace).Offset + 1
				edits = append(edits, edit{at, at, " holdsAsk();"})
			}
		case *ast.TypeSpec:
			fields, isStruct := n.Type.(*ast.StructType)
			if !isStruct || prefix != "" || n.Name.Name != "Store" {
				return true
			}
			for _, f := range fields.Fields.List {
				if len(f.Names) == 1 && f.Names[0].Name == "mu" {
					edits = append(edits, edit{fset.Position(f.Type.Pos()).Offset, fset.Position(f.Type.End()).Offset,
						"holdsMutex"})
					locks++
				}
			}
		}
		return true
	})
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	last := 0
	for _, e := range edits {
		out = append(append(out, source[last:e.from]...), e.text...)
		last = e.to
	}
	return append(out, source[last:]...), locks
}

// receiver is the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
