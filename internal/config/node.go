package config

import (
	"strconv"

	"github.com/hikyaku/hikyaku/internal/message"
)

// kind says what a node is.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindInt
	kindFloat
	kindString
	kindList
	kindMap
)

var kindNames = [...]string{"nothing", "a truth value", "a number", "a number", "text", "a list", "a mapping"}

func (k kind) String() string { return kindNames[k] }

// node is a value of the file, whatever the format: YAML, TOML and JSON are read into the same tree.
type node struct {
	kind  kind
	at    place
	text  string  // scalars: their text without quotes, after substitution
	items []*node // kindList
	pairs []pair  // kindMap, in the file's order, each key once
	token int     // offset of a scalar's first byte in the source (its quote), -1 for no scalar, or tokenAtPlace
	plain bool    // a YAML scalar without quotes: what it is depends on its text
	cuts  []cut   // where the environment was put into the text
	hide  bool    // a secret setting
	unset bool    // a variable in it is not set, which was said: what it would be is not known
}

// tokenAtPlace says that a scalar's offset has to be counted out from its place. That is done only when it is asked
// for: in a long line it takes time.
const tokenAtPlace = -2

// pair is a key and its value.
type pair struct {
	key   string
	at    place
	value *node
}

// cut is a part of a node's text that was not in the file as it is: [from, to) replaces [rawFrom, rawTo) of the raw
// text.
type cut struct {
	from, to, rawFrom, rawTo int
	name                     string // the variable; "" for an escaped $
}

// fromEnv tells whether a part of the text came from the environment, or could have.
func (n *node) fromEnv() bool {
	for _, c := range n.cuts {
		if c.name != "" {
			return true
		}
	}
	return false
}

// get returns the value of a key, nil when there is none.
func (n *node) get(key string) *node {
	if p := n.find(key); p != nil {
		return p.value
	}
	return nil
}

func (n *node) find(key string) *pair {
	if n == nil || n.kind != kindMap {
		return nil
	}
	for i := range n.pairs {
		if n.pairs[i].key == key {
			return &n.pairs[i]
		}
	}
	return nil
}

// describe names the value in a message: "the number 5", "a list". What came from the environment is never shown.
func (n *node) describe() string {
	if n.hide && n.kind != kindList && n.kind != kindMap {
		return "the value that is there"
	}
	if n.fromEnv() {
		for _, c := range n.cuts {
			if c.name != "" {
				return "the value with ${" + c.name + "}"
			}
		}
	}
	switch n.kind {
	case kindBool:
		return n.text
	case kindInt, kindFloat:
		return "the number " + shorten(n.text)
	case kindString:
		return "the text " + strconv.Quote(shorten(n.text))
	default:
		return n.kind.String()
	}
}

// shorten cuts a text for a message.
func shorten(s string) string { return message.Shorten(s, 60) }

// budget bounds a tree while it is built.
type budget struct{ nodes int }

// take counts a node at a depth; the text says which bound is broken, "" for none.
func (b *budget) take(depth int) string {
	b.nodes++
	switch {
	case b.nodes > maxNodes:
		return "the file has more than " + strconv.Itoa(maxNodes) + " values, with aliases written out"
	case depth > maxDepth:
		return "more than " + strconv.Itoa(maxDepth) + " levels of lists and mappings"
	}
	return ""
}
