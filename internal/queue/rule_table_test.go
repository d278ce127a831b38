package queue

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// checkout is the root of the module.
const checkout = "../.."

// ruleTable is where the rules of the store stand with their tests.
const ruleTable = checkout + "/docs/store.md"

// ruleHolder says where one of the tests of a rule is: in a package, or, for what no test can look at, among the rows
// of a bench.
type ruleHolder struct{ where, name string }

const benchHolder = "hikyaku bench queue"

var quoted = regexp.MustCompile("`([^`]+)`")

// rulesOf reads the table: a rule in the first column, in the second `package`: `Test`, `Test`; `package`: `Test`.
func rulesOf(page string) (rules map[string][]ruleHolder, err error) {
	rules = map[string][]ruleHolder{}
	inTable := false
	for i, line := range strings.Split(page, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			inTable = false
			continue
		case len(cells) == 2 && strings.TrimSpace(cells[0]) == "rule" && strings.TrimSpace(cells[1]) == "test":
			inTable = true
			continue
		case !inTable || strings.HasPrefix(line, "|--"):
			continue
		case len(cells) != 2:
			return nil, fmt.Errorf("line %d: %d columns", i+1, len(cells))
		}
		rule := strings.TrimSpace(cells[0])
		if rules[rule] != nil {
			return nil, fmt.Errorf("line %d: this rule stands twice", i+1)
		}
		for _, part := range strings.Split(cells[1], ";") {
			where, names, _ := strings.Cut(part, ":")
			in := quoted.FindStringSubmatch(where)
			found := quoted.FindAllStringSubmatch(names, -1)
			if rule == "" || in == nil || len(found) == 0 {
				return nil, fmt.Errorf("line %d: %q is not `package`: `Test`, `Test`; …", i+1, strings.TrimSpace(part))
			}
			for _, name := range found {
				rules[rule] = append(rules[rule], ruleHolder{in[1], name[1]})
			}
		}
	}
	return rules, nil
}

// testsIn lists the tests of a package, "Test/part" for parts of one whose names stand in its files or whose scripts
// are there, and the texts of its sources.
func testsIn(t *testing.T, dir string) (tests, texts map[string]bool) {
	t.Helper()
	tests, texts = map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob(filepath.Join(checkout, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	if dir == "internal/journal/file" || dir == "internal/journal/memory" { // their contract tests run the suite
		more, err := filepath.Glob(filepath.Join(checkout, "internal/journal/journaltest/*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && strings.HasSuffix(name, "_test.go") &&
					(strings.HasPrefix(n.Name.Name, "Test") || strings.HasPrefix(n.Name.Name, "Fuzz")) {
					tests[n.Name.Name] = true
				}
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					texts[s] = true
				}
			}
			return true
		})
	}
	scripts, err := filepath.Glob(filepath.Join(checkout, dir, "testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		texts[strings.TrimSuffix(filepath.Base(s), ".txt")] = true
	}
	return tests, texts
}

// tested are packages that were looked at, by folder.
type tested map[string]struct{ tests, texts map[string]bool }

// unheld lists the rules that name a test which is not there.
func (packages tested) unheld(t *testing.T, rules map[string][]ruleHolder) (missing []string) {
	t.Helper()
	for rule, holders := range rules {
		for _, h := range holders {
			dir := h.where
			if dir == benchHolder {
				dir = "internal/bench/queue"
			}
			p, ok := packages[dir]
			if !ok {
				p.tests, p.texts = testsIn(t, dir)
				packages[dir] = p
			}
			test, part, parted := strings.Cut(h.name, "/")
			there := p.tests[test] && (!parted || p.texts[part])
			if h.where == benchHolder {
				there = p.texts[h.name]
			}
			if !there {
				missing = append(missing, fmt.Sprintf("%s: %s has no %s", rule, h.where, h.name))
			}
		}
	}
	return missing
}

// TestEveryRuleOfTheStoreNamesTestsThatThereAre holds the table of docs/store.md to the tests, and the tests that are
// named for rules to the table.
func TestEveryRuleOfTheStoreNamesTestsThatThereAre(t *testing.T) {
	page, err := os.ReadFile(ruleTable)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := rulesOf(string(page))
	if err != nil {
		t.Fatalf("%s: %v", ruleTable, err)
	}
	if len(rules) < 50 {
		t.Errorf("the table has only %d rules: has it changed its form?", len(rules))
	}
	for _, m := range (tested{}).unheld(t, rules) {
		t.Error(m)
	}
	named := map[ruleHolder]bool{}
	for _, holders := range rules {
		for _, h := range holders {
			named[h] = true
		}
	}
	for _, dir := range []string{"internal/queue", "internal/journal/file"} {
		tests, _ := testsIn(t, dir)
		for name := range tests {
			if strings.HasPrefix(name, "TestRule") && !named[ruleHolder{dir, name}] {
				t.Errorf("%s of %s holds no rule of %s", name, dir, ruleTable)
			}
		}
	}
}

func TestAMissingTestOfARuleIsFound(t *testing.T) {
	packages := tested{}
	const head = "text\n\n| rule | test |\n|---|---|\n"
	for row, want := range map[string]string{
		"| a | `internal/queue`: `TestAMissingTestOfARuleIsFound`, `TestScripts/keyhead`; `internal/journal/file`: " +
			"`TestContract/ReadFetchesInAnyOrderAndNumber` |": "",
		"| a | `hikyaku bench queue`: `restart` |":              "",
		"| a | `internal/queue`: `TestThatIsNot` |":             "a: internal/queue has no TestThatIsNot",
		"| a | `internal/queue`: `TestScripts/thatisnot` |":     "a: internal/queue has no TestScripts/thatisnot",
		"| a | `internal/nowhere`: `TestScripts` |":             "a: internal/nowhere has no TestScripts",
		"| a | `hikyaku bench queue`: `put-nothing` |":          "a: hikyaku bench queue has no put-nothing",
		"| a | `internal/queue`: `TestScripts`; `TestBubble` |": "line 5: \"`TestBubble`\" is not `package`: `Test`, `Test`; …",
		"| a |  |": "line 5: \"\" is not `package`: `Test`, `Test`; …",
		"| a | `internal/queue`: `TestScripts` |\n| a | `internal/queue`: `TestScripts` |": "line 6: this rule stands twice",
		"| a | b | `internal/queue`: `TestScripts` |":                                      "line 5: 3 columns",
	} {
		rules, err := rulesOf(head + row + "\n\n| other | table |\n|---|---|\n| x | y |\n")
		got := ""
		if err != nil {
			got = err.Error()
		} else if len(rules) != 1 {
			t.Errorf("%s: read %v", row, rules)
		} else {
			got = strings.Join(packages.unheld(t, rules), "; ")
		}
		if got != want {
			t.Errorf("%s: said %q, not %q", row, got, want)
		}
	}
}
