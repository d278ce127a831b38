package config

import (
	"path/filepath"
	"strings"
)

// read makes the tree of a file in the format that its name's ending says.
func read(s *source) (*node, *Error) {
	switch strings.ToLower(filepath.Ext(s.name)) {
	case ".yaml", ".yml":
		return readYAML(s)
	case ".toml":
		return readTOML(s)
	case ".json":
		return readJSON(s)
	}
	return nil, s.error(place{}, "name it .yaml, .yml, .toml or .json", "the file's ending does not say its format")
}

// duplicate is the mistake of a key that stands twice in one mapping.
func duplicate(s *source, at place, key string, first place) *Error {
	return s.error(at, "", "the key %q stands here a second time, first on line %d", shorten(key), first.line)
}

// keys finds keys that stand twice while a mapping is read.
type keys map[string]place

// add notes a key; the place of the first one and false when it was there.
func (k keys) add(key string, at place) (place, bool) {
	if first, ok := k[key]; ok {
		return first, false
	}
	k[key] = at
	return place{}, true
}
