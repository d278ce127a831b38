package house

import (
	"path"
	"strings"
	"testing"
)

func TestBreachesAreFound(t *testing.T) {
	for _, c := range []struct {
		name     string
		from     string
		code     []string
		tests    []string
		breached string // part of what is said; "": nothing is wrong
	}{
		{"down", "internal/queue", []string{"internal/journal", "internal/condition", "internal/message"}, nil, ""},
		{"down over many floors", "cmd/hikyaku", []string{"internal/queue", "batch"}, nil, ""},
		{"up", "internal/queue", []string{"internal/pipeline"}, nil, "lies above it"},
		{"neighbours of one pattern", "internal/api/http", []string{"internal/api/sqs"}, nil, "its neighbour"},
		{"neighbours of two patterns", "internal/source/queue", []string{"internal/sink/queue"}, nil, "its neighbour"},
		{"neighbours by name", "internal/component", []string{"internal/access"}, nil, "its neighbour"},
		{"a folder of the same room", "internal/api/http", []string{"internal/api/http/page"}, nil, ""},
		{"a folder of a room goes up", "internal/queue/deep", []string{"internal/component"}, nil, "lies above it"},
		{"into a folder of a higher room", "internal/queue", []string{"internal/pipeline/deep"}, nil, "lies above it"},
		{"the contract below its implementation", "internal/journal", []string{"internal/journal/file"}, nil,
			"lies above it"},
		{"the implementation over its contract", "internal/journal/file", []string{"internal/journal"}, nil, ""},
		{"a package that nobody put on the map", "internal/util", nil, nil, "on no floor"},
		{"the folder of kinds is no kind", "internal/sink", nil, nil, "on no floor"},
		{"code uses what is made for tests", "internal/queue", []string{"internal/journal/journaltest"}, nil,
			"made for tests"},
		{"tests use what is made for tests", "internal/journal/file", nil, []string{"internal/journal/journaltest"},
			""},
		{"tests go up with a reason", "internal/sink/webhook", nil, []string{"internal/sandbox/webhook"}, ""},
		{"tests go up without one", "internal/sink/webhook", nil, []string{"internal/pipeline"}, "testExceptions"},
		{"tests import themselves", "internal/queue", nil, []string{"internal/queue"}, ""},
		{"a library over batch", "publisher", []string{"batch"}, nil, ""},
		{"a library over more than batch", "tsurugi", []string{"pace"}, nil, "nothing else of ours"},
		{"the ground imports a library", "batch", []string{"flow"}, nil, "lies above it"},
		{"the ground's neighbours", "batch", []string{"pace"}, nil, "its neighbour"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, breaches(made(c.from, c.code, c.tests), map[exception]bool{}), c.breached)
		})
	}
}

func TestABareLibraryDependsOnTheStandardLibraryAlone(t *testing.T) {
	p := made("batch", nil, nil)
	p.Imports = []string{"context", "encoding/json"}
	p.XTestImports = []string{"pgregory.net/rapid"}
	expect(t, breaches(p, map[exception]bool{}), "")
	p.Imports = []string{"golang.org/x/sync/errgroup"}
	expect(t, breaches(p, map[exception]bool{}), "standard library alone")
}

func TestTheMapNamesEachRoomOnce(t *testing.T) {
	seen := map[string]string{}
	for _, f := range floors {
		for _, r := range f.rooms {
			if before, twice := seen[r]; twice {
				t.Errorf("%s stands on floor %q and on floor %q", r, before, f.name)
			}
			seen[r] = f.name
			if _, err := path.Match(r, ""); err != nil {
				t.Errorf("%s: %v", r, err)
			}
		}
	}
	for _, r := range append(forTests, bare...) {
		if seen[r] == "" {
			t.Errorf("%s is spoken of, but on no floor", r)
		}
	}
	for _, e := range testExceptions {
		if seen[e.from] == "" || seen[e.to] == "" || e.why == "" {
			t.Errorf("the exception from %q to %q names no room or no reason", e.from, e.to)
		}
	}
}

func TestTheTableIsFoundBetweenItsMarks(t *testing.T) {
	before, shown, after, err := cut("# House\n" + openMark + "\n\n" + table() + "\n" + closeMark + "\nrest\n")
	if err != nil || shown != table() {
		t.Errorf("cut shows %q, %v", shown, err)
	}
	if got, want := before+"\n"+table()+after, "# House\n"+openMark+"\n"+table()+closeMark+"\nrest\n"; got != want {
		t.Errorf("written anew:\n%s\nwant\n%s", got, want)
	}
	for _, text := range []string{"", "# House\n" + table(), openMark + "\n" + table()} {
		if _, _, _, err := cut(text); err == nil || !strings.Contains(err.Error(), closeMark) {
			t.Errorf("cut(%q) says %v: the marks are missing", text, err)
		}
	}
}

// made is a package with imports given as folders of ours.
func made(from string, code, tests []string) *pkg {
	p := &pkg{ImportPath: module + from}
	for _, c := range code {
		p.Imports = append(p.Imports, module+c)
	}
	for _, c := range tests {
		p.XTestImports = append(p.XTestImports, module+c)
	}
	return p
}

func expect(t *testing.T, found []string, part string) {
	t.Helper()
	switch {
	case part == "" && len(found) > 0:
		t.Errorf("%q, though nothing is wrong", found)
	case part != "" && (len(found) != 1 || !strings.Contains(found[0], part)):
		t.Errorf("%q; want one breach with %q", found, part)
	}
}
