package config

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modulePath is what import paths begin with.
const modulePath = "github.com/hikyaku/hikyaku/"

func TestTheReferenceIsWhatTheProgramChecks(t *testing.T) {
	golden(t, "../../docs/configuration.md", currentReference(t))
}

// currentReference is the reference, after -update with the comments that the program will have.
func currentReference(t *testing.T) string {
	if *update {
		return makeReference(parseComments(readComments(t)))
	}
	return Reference()
}

func TestTheReferenceUsesTheCommentsOfTheKinds(t *testing.T) {
	golden(t, "comments.txt", readComments(t))
}

func TestEveryKeyIsDocumented(t *testing.T) {
	for line := range strings.Lines(currentReference(t)) {
		if strings.HasPrefix(line, "| `") && strings.HasSuffix(strings.TrimSpace(line), "|  |") {
			t.Errorf("nothing is said about %s", strings.TrimSpace(line))
		}
	}
}

func TestWhatIsSeenBelowStandsBelow(t *testing.T) {
	reference := currentReference(t)
	for line := range strings.Lines(reference) {
		key, rest, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		if !strings.HasPrefix(rest, " | see below |") {
			continue
		}
		if !heading(reference, key) {
			t.Errorf("no heading of the reference is of %s, which is said to stand below", key)
		}
	}
	for _, f := range fieldsOf(reflect.TypeFor[API]()) {
		if !strings.Contains(reference, "\n### `api."+f.name+"`\n") {
			t.Errorf("the reference has no section on the door %s", f.name)
		}
	}
}

// heading tells whether a chapter is about the key, as in "## Queues: `queues.NAME`".
func heading(reference, key string) bool {
	for line := range strings.Lines(reference) {
		if title, ok := strings.CutPrefix(line, "## "); ok && strings.Contains(title, ": `"+key) {
			return true
		}
	}
	return false
}

// readComments collects what the source code says about each key of structs outside of this package.
func readComments(t *testing.T) string {
	var lines []string
	for _, pkg := range configPackages() {
		dir := filepath.Join("..", "..", strings.TrimPrefix(pkg, modulePath))
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, structComments(pkg, file)...)
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}

func structComments(pkg string, file *ast.File) (lines []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, f := range s.Fields.List {
			if f.Tag == nil {
				continue
			}
			tag, _ := strconv.Unquote(f.Tag.Value)
			key, _, _ := strings.Cut(reflect.StructTag(tag).Get("yaml"), ",")
			if _, ok := reflect.StructTag(tag).Lookup("doc"); ok {
				continue
			}
			text := f.Doc.Text()
			if text == "" {
				text = f.Comment.Text()
			}
			text = strings.Join(strings.Fields(text), " ")
			// Go's comments begin with Go's name.
			for _, name := range f.Names {
				if rest, ok := strings.CutPrefix(text, name.Name+" "); ok {
					text = "`" + key + "` " + rest
				}
			}
			if key != "" && text != "" {
				lines = append(lines, fmt.Sprintf("%s.%s.%s\t%s\n", pkg, spec.Name.Name, key, text))
			}
		}
		return true
	})
	return lines
}

// configPackages are the packages whose structs a file fills.
func configPackages() []string {
	var pkgs []string
	seen := map[reflect.Type]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		if p := t.PkgPath(); strings.HasPrefix(p, modulePath) && !strings.HasSuffix(p, "internal/config") {
			pkgs = append(pkgs, p)
		}
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				visit(t.Field(i).Type)
			}
		}
	}
	visit(reflect.TypeFor[schema]())
	visit(reflect.TypeFor[sourceCommon]())
	visit(reflect.TypeFor[userSettings]().Elem())
	for _, k := range allKinds() {
		visit(reflect.TypeOf(k.newConfig()))
	}
	slices.Sort(pkgs)
	return slices.Compact(pkgs)
}
