package page

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/dop251/goja"
)

// TestEveryMistakeIsKnownInJapanese asks the page's own code for what the golden files of macros say is wrong.
func TestEveryMistakeIsKnownInJapanese(t *testing.T) {
	code, err := web.ReadFile("web/mistakes.js")
	if err != nil {
		t.Fatal(err)
	}
	vm := goja.New()
	if _, err := vm.RunString(strings.ReplaceAll(string(code), "export function", "function")); err != nil {
		t.Fatal(err)
	}
	var inJapanese func(string) string
	if err := vm.ExportTo(vm.Get("inJapanese"), &inJapanese); err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{
		`there is no button "lq"`:            `"lq"というボタンはありません`,
		"write 5 1 to let go for 1 frame":    "1フレーム離すなら5 1と書いてください",
		"<loop> wants one number":            "<loop>には数が一つ要ります",
		"there is nothing behind this comma": "このカンマの後に何もありません",
		"what nobody says":                   "what nobody says",
	} {
		if got := inJapanese(said); got != want {
			t.Errorf("%s: %s", said, got)
		}
	}
	files, err := filepath.Glob("../testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	mistake := regexp.MustCompile(`(?m)^text:\d+:\d+: (.*)\n((?:  .*\n)*)`)
	known := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mistake.FindAllStringSubmatch(string(text), -1) {
			sentences := []string{m[1]}
			lines := strings.Split(strings.TrimSuffix(m[2], "\n"), "\n")
			// Below its line stands the mark, and below that the hint.
			if last := strings.TrimSpace(lines[len(lines)-1]); last != "" && strings.Trim(last, "^ \u3000") != "" &&
				len(lines) != 1 {
				sentences = append(sentences, last)
			}
			for _, s := range sentences {
				if known++; !strings.ContainsFunc(inJapanese(s), japanese) || inJapanese(s) == s {
					t.Errorf("%s: not in Japanese: %s", filepath.Base(file), s)
				}
			}
		}
	}
	if known < 100 {
		t.Errorf("the golden files have %d sentences", known)
	}
}

func japanese(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) }
