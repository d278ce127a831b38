package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the checkout.
const root = "../.."

// page is one document.
type page struct {
	path   string // relative to root
	lines  []string
	blocks []block
}

// block is a fenced block of a page.
type block struct {
	language string
	note     string   // the comment directly before it, without its marks; "" is none
	first    int      // index in page.lines of its first line within the fence
	lines    []string // between the fences
}

func (b *block) text() string { return strings.Join(b.lines, "\n") + "\n" }

// line is where the block begins, counted from 1.
func (b *block) line() int { return b.first + 1 }

// ours are the pages whose blocks are run.
func ours(t *testing.T) []*page {
	t.Helper()
	var pages []*page
	for _, p := range documents(t) {
		if p.path != "docs/configuration.md" { // made and checked by internal/config
			pages = append(pages, p)
		}
	}
	return pages
}

// documents are all pages for readers.
func documents(t *testing.T) []*page {
	t.Helper()
	var pages []*page
	for _, pattern := range []string{"README*.md", "docs/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			pages = append(pages, readPage(t, f))
		}
	}
	if len(pages) < 5 {
		t.Fatalf("found only %d documents: is %s the checkout?", len(pages), root)
	}
	return pages
}

func readPage(t *testing.T, file string) *page {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Rel(root, file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePage(filepath.ToSlash(name), text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func parsePage(path string, text []byte) (*page, error) {
	p := &page{path: path, lines: strings.Split(string(bytes.TrimSuffix(text, []byte("\n"))), "\n")}
	var open *block
	note := ""
	for i, line := range p.lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case open != nil && line == "```":
			open.lines = p.lines[open.first:i]
			p.blocks = append(p.blocks, *open)
			open, note = nil, ""
		case open != nil:
		case strings.HasPrefix(line, "```"):
			open = &block{language: strings.TrimPrefix(line, "```"), note: note, first: i + 1}
		case strings.HasPrefix(trimmed, "<!--") && strings.HasSuffix(trimmed, "-->"):
			note = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(trimmed, "<!--"), "-->"))
		case trimmed != "":
			note = ""
		}
	}
	if open != nil {
		return nil, &pageError{path, open.first, "the block that begins here has no end"}
	}
	return p, nil
}

func TestBlocksAreFoundWithTheirNotes(t *testing.T) {
	p, err := parsePage("x.md", []byte("# X\n\n```sh\nls\n```\n\n<!-- numbers differ "+
		"-->\n\n```text\n1\n2\n```\n\nand\n\n<!-- not run: no -->\n```sh\n```\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.blocks) != 3 {
		t.Fatalf("found %d blocks", len(p.blocks))
	}
	shell, text, last := p.blocks[0], p.blocks[1], p.blocks[2]
	if shell.language != "sh" || shell.text() != "ls\n" || shell.line() != 4 {
		t.Errorf("the first block is %+v", shell)
	}
	if text.language != "text" || text.text() != "1\n2\n" || text.note != "numbers differ" {
		t.Errorf("the second block is %+v", text)
	}
	if last.note != "not run: no" || len(last.lines) != 0 {
		t.Errorf("the third block is %+v", last)
	}
	if _, err := parsePage("x.md", []byte("```sh\nls\n")); err == nil ||
		err.Error() != "x.md:1: the block that begins here has no end" {
		t.Errorf("an open block says %v", err)
	}
}
