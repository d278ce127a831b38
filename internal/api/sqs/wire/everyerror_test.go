package wire

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// A new error is held to the service's words as soon as it is in everyError, and this asks for it there.
func TestEveryErrorIsAmongThoseThatAreTested(t *testing.T) {
	tested := map[string]bool{}
	for _, d := range declarations(t, "sdk_test.go") {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		ast.Inspect(g, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if name, ok := c.Fun.(*ast.Ident); ok {
					tested[name.Name] = true
				}
			}
			return true
		})
	}
	for _, file := range []string{"error.go", "errorcommon.go"} {
		for _, d := range declarations(t, file) {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.IsExported() && !tested[f.Name.Name] {
				t.Errorf("everyError has no %s", f.Name.Name)
			}
		}
	}
}

func declarations(t *testing.T, file string) []ast.Decl {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f.Decls
}
