package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hikyaku/hikyaku/internal/nearest"
)

// likely finds keys of which the values are secrets, by their names. What cannot be read, or has no such setting, has
// no other sign of them.
var likely = regexp.MustCompile(`(?i)([\w-]*(?:secret|secrt|scret|passw|passphrase|credential|authorization|` +
	`api[_-]?key|access[_-]?key|private[_-]?key)[\w-]*)["']?\s*[:=]\s*`)

// anyKey finds keys, and firstKey the one that a line begins with; the latter is not what encoded bytes end with.
var (
	anyKey   = regexp.MustCompile(`([\w-]+)["']?\s*[:=]\s*`)
	firstKey = regexp.MustCompile(`^[\s{"'-]*(\w[\w.-]*)["']?\s*(?::(?:\s|$)|=\s*[^=\s])`)
)

// secretSettings are the names of settings that are secret, in whatever component.
var secretSettings = sync.OnceValue(func() []string {
	names := map[string]bool{}
	seen := map[reflect.Type]bool{}
	secretFields(reflect.TypeFor[schema](), seen, names)
	for _, k := range allKinds() {
		secretFields(reflect.TypeOf(k.newConfig()), seen, names)
	}
	return sortedKeys(names)
})

// secretFields notes the names of a type's settings that are secret, and of those below them.
func secretFields(t reflect.Type, seen map[reflect.Type]bool, names map[string]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for _, f := range fieldsOf(t) {
		if f.secret() || f.typ == secretType {
			names[f.name] = true
		}
		secretFields(f.typ, seen, names)
	}
}

// isLikely tells whether the values of a key are likely to be secret. unknown: nothing else tells what the key is, and
// one that is nearly a secret setting's is taken for it.
func isLikely(key string, unknown bool) bool {
	return likely.MatchString(key+":") || unknown && nearest.Name(key, secretSettings()) != ""
}

// fromOutside is what a value begins with that names the environment and no default, which says nothing.
var fromOutside = regexp.MustCompile(`^["']?\$\{\w+\}`)

// guarded shows the values of keys that are likely to be secret as asterisks. unread: the file cannot be read, and a
// value may go on to the end of the line.
func guarded(line string, unread bool) string {
	var b strings.Builder
	from := 0
	for _, m := range anyKey.FindAllStringSubmatchIndex(line, -1) {
		name := strings.ToLower(line[m[2]:m[3]])
		value := line[m[1]:]
		if m[0] < from || !isLikely(name, unread) || strings.HasSuffix(name, "_file") ||
			fromOutside.MatchString(value) ||
			!unread && strings.HasPrefix(value, "{") { // its keys say which of them are
			continue
		}
		b.WriteString(line[from:m[1]])
		if unread {
			return b.String() + stars(value)
		}
		from = m[1] + valueEnd(value)
		b.WriteString(starWords(line[m[1]:from]))
	}
	return b.String() + line[from:]
}

// starWords is stars for a value whose quotes, brackets and commas are the file's.
func starWords(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"'[], \t", r) {
			return r
		}
		return '*'
	}, s)
}

// valueEnd is where a value ends that begins a text: one in quotes or in [ ] behind them, another at what follows
// it in a list or a mapping.
func valueEnd(text string) int {
	if text == "" {
		return 0
	}
	ends := map[byte]string{'"': `"`, '\'': "'", '[': "]"}[text[0]]
	if ends == "" {
		if i := strings.IndexAny(text, ",}]"); i >= 0 {
			return i
		}
		return len(text)
	}
	if i := strings.Index(text[1:], ends); i >= 0 {
		return i + 2
	}
	return len(text)
}

// unreadLine is a line of a file that cannot be read, with what may be secret as asterisks: also what stands below a
// key of which the values are, and what has no key behind one.
func unreadLine(src []byte, number int, line string) string {
	lines := strings.Split(string(src), "\n")
	if below(lines[:min(max(number-1, 0), len(lines))], line) {
		indent := indentOf(line)
		return line[:indent] + stars(line[indent:])
	}
	return guarded(line, true)
}

// below tells whether a line belongs to a key, above it, of which the values are likely to be secret.
func below(above []string, line string) bool {
	indent, item, keyless := indentOf(line), isItem(line), !firstKey.MatchString(line)
	for _, up := range slices.Backward(above) {
		if strings.TrimSpace(up) == "" {
			continue
		}
		key := firstKey.FindStringSubmatch(up)
		higher := indentOf(up) < indent || item && !isItem(up) && indentOf(up) == indent
		if key != nil && (higher || keyless) && isLikely(key[1], true) {
			return true
		}
		keyless = keyless && key == nil
		if higher {
			indent, item = indentOf(up), isItem(up)
		}
	}
	return false
}

func isItem(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), "-") }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
