package shape

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// longest is how many bytes of a value are told.
const longest = 1 << 10

// quoted is a value as the service tells it.
func quoted(s string) string {
	if len(s) > longest {
		s = s[:longest]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
		s += "…"
	}
	return "'" + s + "'"
}

// printed is a list or map as the service prints it: [a, b], {a=b}.
func printed(raw []byte) string { return printedTo(raw, deepest) }

// deepest is how deep a value is printed: each level is read anew.
const deepest = 4

func printedTo(raw []byte, depth int) string {
	var parts []string
	if depth == 0 {
		return "…"
	}
	switch raw[0] {
	case '[':
		for _, item := range elements(raw) {
			parts = append(parts, printedTo(item, depth-1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case '{':
		fields := object(raw)
		for _, key := range sortedKeys(fields) {
			parts = append(parts, key+"="+printedTo(fields[key], depth-1))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case '"':
		return unquoted(raw)
	}
	return string(raw)
}

// printedMap is a map whose numbers are printed as those of its values.
func (s *Shape) printedMap(fields map[string]json.RawMessage) string {
	var parts []string
	for _, key := range sortedKeys(fields) {
		value := printed(fields[key])
		if n, err := strconv.ParseFloat(value, 64); err == nil && s.of.kind == double {
			value = s.of.number(n)
		}
		parts = append(parts, key+"="+value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// The values below were found to be valid JSON before, so nothing can fail.

func unquoted(raw []byte) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

func elements(raw []byte) (all []json.RawMessage) {
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

func object(raw []byte) (all map[string]json.RawMessage) {
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

func null(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func sortedKeys(m map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(m)) }
