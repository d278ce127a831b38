package config

import (
	"path/filepath"
	"strings"
)

// reader is the reader of the format that a file's ending says; nil for any other ending.
func reader(name string) func(*source) (*node, *Error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return readYAML
	case ".toml":
		return readTOML
	case ".json":
		return readJSON
	}
	return nil
}

// read makes the tree of a file.
func read(s *source) (*node, *Error) {
	format := reader(s.name)
	if format == nil {
		return nil, unknownFormat(s.name)
	}
	root, failure := format(s)
	if failure != nil {
		failure.Message = maskUserinfo(failure.Message)
	}
	return root, failure
}

// unknownFormat is about a file that may hold anything, and says nothing of what it holds.
func unknownFormat(name string) *Error {
	s := &source{name: name, lines: []int{0}}
	return s.error(place{}, "name it .yaml, .yml, .toml or .json", "the file's ending does not say its format")
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
