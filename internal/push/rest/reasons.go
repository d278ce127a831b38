package rest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of the names in what Reasons tells. The log shows 500 bytes of it, of which most say what is to be done.
const (
	mostNamed  = 3
	namesBytes = 160
)

// Reasons tells why nothing is sent for some of a sink's apps, or what the far end calls so: the reason of the first by
// name, and where several wait, the names of the others before it. nil: none waits.
func Reasons[A any](kind string, all map[string]A, why func(A) error) error {
	var first error
	var waiting []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		reason := why(all[name])
		if reason == nil {
			continue
		}
		if first == nil {
			first = reason
		}
		waiting = append(waiting, name)
	}
	if len(waiting) < 2 {
		return first
	}
	return fmt.Errorf("%d %ss wait: %s; the first: %w", len(waiting), kind, listed(waiting), first)
}

// listed names some of them, and tells how many more there are.
func listed(names []string) string {
	text, n := names[0], 1
	for n < min(len(names), mostNamed) && len(text)+len(names[n]) < namesBytes {
		text += ", " + names[n]
		n++
	}
	if more := len(names) - n; more > 0 {
		return fmt.Sprintf("%s and %d more", text, more)
	}
	if at := strings.LastIndex(text, ", "); at >= 0 {
		return text[:at] + " and " + text[at+2:]
	}
	return text
}
