package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)|\b(?:src|href)="([^"]+)"`)

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	for _, p := range documents(t) {
		for i, line := range prose(p) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				target := m[1] + m[2]
				if strings.Contains(target, "://") {
					continue
				}
				file, anchor, _ := strings.Cut(target, "#")
				where := p.path
				if file != "" {
					where = path.Join(path.Dir(p.path), file)
				}
				if _, err := os.Stat(filepath.Join(root, where)); err != nil {
					t.Errorf("%s:%d: %s leads to %s, which is not there", p.path, i+1, target, where)
					continue
				}
				if anchor != "" && !anchors(readPage(t, filepath.Join(root, where)))[anchor] {
					t.Errorf("%s:%d: %s has no heading for #%s", p.path, i+1, where, anchor)
				}
			}
		}
	}
}

// prose is a page's lines with those of its blocks emptied.
func prose(p *page) []string {
	lines := slices.Clone(p.lines)
	for _, b := range p.blocks {
		for i := range b.lines {
			lines[b.first+i] = ""
		}
	}
	return lines
}

// anchors are the names that GitHub gives to the headings of a page.
func anchors(p *page) map[string]bool {
	names := map[string]bool{}
	for _, line := range prose(p) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		title := strings.TrimSpace(strings.TrimLeft(line, "#"))
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, title)] = true
	}
	return names
}

func TestEveryPageIsInTheIndex(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(root, "docs", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range documents(t) {
		name, inDocs := strings.CutPrefix(p.path, "docs/")
		if inDocs && name != "README.md" && !strings.Contains(string(index), "("+name+")") {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}
