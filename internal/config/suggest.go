package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/nearest"
)

// suggest makes the hint for a name that is not among names: the nearest one and the list of all.
// what is their plural: "keys".
func suggest(s, what string, names []string) string {
	names = slices.Sorted(slices.Values(names))
	if len(names) == 0 {
		return "there are no " + what
	}
	hint := ""
	if n := nearest.Name(s, names); n != "" {
		hint = fmt.Sprintf("did you mean %q? ", n)
	}
	const most = 40
	list := names
	if len(list) > most {
		list = list[:most]
	}
	hint += what + ": " + strings.Join(list, ", ")
	if len(names) > most {
		hint += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return hint
}

func joinNames(names []string) string { return strings.Join(names, ", ") }

// indexAfter is the offset behind the first sep in s, -1 when there is none.
func indexAfter(s, sep string) int {
	if i := strings.Index(s, sep); i >= 0 {
		return i + len(sep)
	}
	return -1
}
