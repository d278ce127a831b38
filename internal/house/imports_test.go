package house

import (
	"fmt"
	"slices"
	"strings"
)

const module = "github.com/hikyaku/hikyaku/"

// A pkg is what `go list` says of a package.
type pkg struct {
	ImportPath   string
	Dir, Doc     string
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// folder is the package's folder under the module's root. The root itself is ".".
func (p *pkg) folder() string {
	if dir, ok := strings.CutPrefix(p.ImportPath, module); ok {
		return dir
	}
	return "."
}

// breaches says what is wrong with a package's imports, a line each.
func breaches(p *pkg, used map[exception]bool) (found []string) {
	dir := p.folder()
	here, ok := locate(dir)
	if !ok {
		return []string{fmt.Sprintf("%s is on no floor: add it to floors in internal/house/floors_test.go, just "+
			"above the highest room that it imports", dir)}
	}
	for _, target := range p.Imports {
		if b := breach(dir, here, target); b != "" {
			found = append(found, b)
		}
	}
	for _, target := range slices.Concat(p.TestImports, p.XTestImports) {
		if b := testBreach(dir, here, target, used); b != "" {
			found = append(found, b)
		}
	}
	return found
}

// breach says what is wrong with an import from code; "" if nothing is.
func breach(dir string, here place, target string) string {
	to, ours := strings.CutPrefix(target, module)
	if !ours {
		if among(bare, here.room) && strings.Contains(strings.Split(target, "/")[0], ".") {
			return fmt.Sprintf("%s imports %s: it promises to depend on the standard library alone", dir, target)
		}
		return ""
	}
	there, ok := locate(to)
	switch {
	case !ok || there.room == here.room:
		return "" // a package that is on no floor is reported by itself
	case among(forTests, there.room) && !among(forTests, here.room):
		return fmt.Sprintf("%s imports %s, which is made for tests", dir, to)
	}
	return direction(dir, here, to, there)
}

// testBreach is breach for an import from a test.
func testBreach(dir string, here place, target string, used map[exception]bool) string {
	to, ours := strings.CutPrefix(target, module)
	if !ours {
		return ""
	}
	there, ok := locate(to)
	if !ok || there.room == here.room {
		return ""
	}
	for _, e := range testExceptions {
		if among([]string{e.from}, here.room) && among([]string{e.to}, there.room) {
			used[e] = true
			return ""
		}
	}
	if b := direction("a test of "+dir, here, to, there); b != "" {
		return b + "; if it must, add it to testExceptions with the reason"
	}
	return ""
}

// direction says what is wrong with the way an import goes; down is right.
func direction(from string, here place, to string, there place) string {
	switch {
	case there.floor < here.floor:
		return fmt.Sprintf("%s (floor %q) imports %s, which lies above it (floor %q)", from, floors[here.floor].name,
			to, floors[there.floor].name)
	case there.floor == here.floor:
		return fmt.Sprintf("%s imports %s, its neighbour on floor %q: what both need belongs on a floor below", from,
			to, floors[here.floor].name)
	case floors[here.floor].name == "libraries" && there.room != "batch":
		return fmt.Sprintf("%s imports %s: a public library may use batch and nothing else of ours", from, to)
	}
	return ""
}
