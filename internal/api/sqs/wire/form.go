package wire

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A form is the parameters of a request of the query protocol.
type form struct {
	values url.Values
	path   string // of the request, when it can be a queue's: /000000000000/news
}

// get returns a parameter's first value.
func (f *form) get(name string) (string, bool) {
	if values := f.values[name]; len(values) > 0 {
		return values[0], true
	}
	return "", false
}

func (f *form) either(one, other string) (string, bool) {
	if value, ok := f.get(one); ok {
		return value, true
	}
	return f.get(other)
}

// list returns the values of numbered parameters, NAME.1, NAME.2, …, in the order of their numbers. A single one may
// come without.
func (f *form) list(name string) []string {
	var values []string
	for _, prefix := range f.numbered(name) {
		if value, ok := f.get(prefix); ok {
			values = append(values, value)
		}
	}
	return values
}

// numbered returns the beginnings, with their numbers and in their order, of the parameters that are numbered NAME.1,
// NAME.2, … There may be gaps. Some clients write NAME.member.1 or NAME.entry.1, and leave the number out where there
// is one only.
func (f *form) numbered(name string) []string {
	type place struct {
		number uint64
		prefix string
	}
	var places []place
	for key := range f.values {
		rest, ok := strings.CutPrefix(key, name)
		if !ok {
			continue
		}
		if value, _ := f.get(key); rest == "" && value == "" {
			continue // how an empty list is written
		}
		if rest == "" || rest == ".Name" || rest == ".Key" || rest == ".Value" || strings.HasPrefix(rest, ".Value.") ||
			rest == ".Id" {
			places = append(places, place{0, name})
			continue
		}
		if rest, ok = strings.CutPrefix(rest, "."); !ok {
			continue // a longer name that begins alike
		}
		for _, word := range []string{"member.", "entry."} {
			rest = strings.TrimPrefix(rest, word)
		}
		digits, _, _ := strings.Cut(rest, ".")
		number, err := strconv.ParseUint(digits, 10, 32)
		if err != nil {
			continue
		}
		places = append(places, place{number, key[:len(key)-len(rest)+len(digits)]})
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.prefix, b.prefix))
	})
	places = slices.Compact(places)
	prefixes := make([]string, len(places))
	for i, p := range places {
		prefixes[i] = p.prefix
	}
	return prefixes
}
