package house

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lazily are the functions that compile a pattern when it is first asked, by the rooms that have many, and which of
// their arguments it is.
var lazily = map[string]map[string]int{
	"internal/api/mysql":  {"newForm": 0},
	"internal/api/lambda": {"Form": 0, "FormAs": 1},
}

// noImports lets the type checker go on without what a package imports: constants are the package's own.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

// TestEveryPatternCompiles: a pattern that is compiled when it is first asked would be found wrong by who asks.
func TestEveryPatternCompiles(t *testing.T) {
	for room, functions := range lazily {
		set := token.NewFileSet()
		var files []*ast.File
		names, err := filepath.Glob(filepath.Join(root, room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parser.ParseFile(set, name, text, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		found := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		checker := types.Config{Importer: noImports{}, Error: func(error) {}}
		_, _ = checker.Check(room, set, files, &found) // imports are missing
		n := 0
		for _, f := range files {
			ast.Inspect(f, func(x ast.Node) bool {
				call, ok := x.(*ast.CallExpr)
				if !ok {
					return true
				}
				name := types.ExprString(call.Fun)
				at, lazy := functions[name[strings.LastIndexByte(name, '.')+1:]]
				if !lazy {
					return true
				}
				n++
				value := found.Types[call.Args[at]].Value
				if value == nil || value.Kind() != constant.String {
					t.Errorf("%s: the pattern is no constant", set.Position(call.Pos()))
				} else if _, err := regexp.Compile(constant.StringVal(value)); err != nil {
					t.Errorf("%s: %v", set.Position(call.Pos()), err)
				}
				return true
			})
		}
		if n < 30 {
			t.Errorf("%s: %d patterns were found, want 30 at least", room, n)
		}
	}
}
