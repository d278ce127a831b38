// Package jsontexttest holds, for tests, all readers of JSON strings that are written by hand to what encoding/json
// does: the same text of the same string, also of halves of surrogate pairs, and no text of what is no string.
package jsontexttest

import (
	"encoding/json"
	"strings"
	"testing"
)

// parts are what strings are put together of: characters, halves of surrogate pairs, other escapes, and what is none.
var parts = []string{`x`, `飛`, `\ud83d`, `\uDE00`, `\ud800`, `\u0041`, `\u00E9`, `\uFFFD`, `\n`, `\b`, `\f`,
	`\r`, `\t`, `\/`, `\"`, `\\`, `u`, `\u12`, `\ud8`, `\uD83g`, `\x`, `\'`, `\U0041`}

// Check gives read JSON strings, quotes included, and wants the text that encoding/json makes of each, or false where
// that takes it for none.
func Check(t *testing.T, read func(quoted string) (text string, ok bool)) {
	t.Helper()
	one := func(of ...string) {
		quoted := `"` + strings.Join(of, "") + `"`
		var want string
		valid := json.Unmarshal([]byte(quoted), &want) == nil
		if got, ok := read(quoted); ok != valid || ok && got != want {
			t.Errorf("%s is read as %q, %v; encoding/json reads %q, %v", quoted, got, ok, want, valid)
		}
	}
	one()
	for _, a := range parts {
		one(a)
		for _, b := range parts {
			one(a, b)
			for _, c := range parts[:9] {
				one(a, b, c)
			}
		}
	}
}
