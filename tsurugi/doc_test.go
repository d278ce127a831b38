package tsurugi_test

import (
	"os"
	"strings"
	"testing"
)

// The page about the client shows code of the examples, which run.
func TestThePageShowsCodeThatRuns(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/tsurugi.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("there are %d blocks of Go code", len(blocks))
	}
	for _, b := range blocks {
		code, _, _ := strings.Cut(b, "```")
		if !strings.Contains(string(examples), code) {
			t.Errorf("no example has this code:\n%s", code)
		}
	}
}
