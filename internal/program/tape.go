package program

import (
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

type kind uint8

const (
	kindNull kind = iota
	kindFalse
	kindTrue
	kindNumber
	kindString
	kindArray
	kindObject
)

// node is a value in a text. The nodes of what is in an array or object come right after its own, of an object each
// name before its value.
type node struct {
	start, end uint32 // its text
	next       uint32 // the node after it and all that is in it
	size       uint32 // members of an object, elements of an array
	kind       kind
	same       bool // its text is as jq writes it: no space, names in order and once, no escapes
}

// tape is texts and the nodes of the values in them.
type tape struct {
	text  []byte
	nodes []node
}

func (t *tape) reset() { t.text, t.nodes = t.text[:0], t.nodes[:0] }

// reader reads one value of JSON, strictly as RFC 8259 has it and in valid UTF-8.
type reader struct {
	*tape
	pos, most int // most levels
}

// read reads the only value of the text from a place on, and returns its node. ok is false when it is none, or one that
// is left to gojq.
func (t *tape) read(from, levels int) (n uint32, ok bool) {
	if len(t.text) > maxBody {
		return 0, false
	}
	r := reader{tape: t, pos: from, most: levels}
	n = uint32(len(t.nodes))
	r.space()
	if !r.value(0) {
		return 0, false
	}
	r.space()
	return n, r.pos == len(r.text)
}

func (r *reader) space() (some bool) {
	start := r.pos
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
			continue
		}
		break
	}
	return r.pos > start
}

func (r *reader) value(depth int) bool {
	if r.pos == len(r.text) {
		return false
	}
	switch c := r.text[r.pos]; c {
	case '{':
		return r.object(depth + 1)
	case '[':
		return r.array(depth + 1)
	case '"':
		return r.string()
	case 't':
		return r.word("true", kindTrue)
	case 'f':
		return r.word("false", kindFalse)
	case 'n':
		return r.word("null", kindNull)
	default:
		return r.number()
	}
}

func (r *reader) add(k kind, start int, same bool) {
	r.nodes = append(r.nodes, node{start: uint32(start), end: uint32(r.pos), next: uint32(len(r.nodes) + 1), kind: k,
		same: same})
}

func (r *reader) word(w string, k kind) bool {
	start := r.pos
	if len(r.text)-start < len(w) || string(r.text[start:start+len(w)]) != w {
		return false
	}
	r.pos += len(w)
	r.add(k, start, true)
	return true
}

func (r *reader) accept(c byte) bool {
	if r.pos < len(r.text) && r.text[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

func (r *reader) digits() bool {
	start := r.pos
	for r.pos < len(r.text) && r.text[r.pos] >= '0' && r.text[r.pos] <= '9' {
		r.pos++
	}
	return r.pos > start
}

// number reads one. Its text is what jq writes, too.
func (r *reader) number() bool {
	start := r.pos
	r.accept('-')
	if !r.accept('0') && !r.digits() {
		return false
	}
	if r.accept('.') && !r.digits() {
		return false
	}
	if r.accept('e') || r.accept('E') {
		if !r.accept('+') {
			r.accept('-')
		}
		if !r.digits() {
			return false
		}
	}
	r.add(kindNumber, start, true)
	return true
}

// Classes of bytes in strings.
const (
	plain   = iota
	wide    // a byte of a character beyond ASCII
	special // a quote, a backslash, DEL, which jq escapes, or a control character
)

var classes = func() (c [256]uint8) {
	for i := range c {
		switch {
		case i >= utf8.RuneSelf:
			c[i] = wide
		case i < ' ' || i == '"' || i == '\\' || i == 0x7f:
			c[i] = special
		}
	}
	return c
}()

// string reads one; its node's text is with the quotes.
func (r *reader) string() bool {
	start, beyond, same := r.pos, false, true
	for i := start + 1; i < len(r.text); i++ {
		switch classes[r.text[i]] {
		case plain:
			continue
		case wide:
			beyond = true
			continue
		}
		switch r.text[i] {
		case '"':
			r.pos = i + 1
			r.add(kindString, start, same)
			return !beyond || utf8.Valid(r.text[start:r.pos])
		case '\\':
			n := jsontext.Escape(r.text[i:])
			if n == 0 {
				return false
			}
			same = false
			i += n - 1
		case 0x7f:
			same = false
		default:
			return false
		}
	}
	return false
}

func (r *reader) array(depth int) bool {
	if depth > r.most {
		return false
	}
	start, n := r.pos, len(r.nodes)
	r.add(kindArray, start, true)
	r.pos++
	same := !r.space()
	size := uint32(0)
	for !r.accept(']') {
		if size > 0 {
			if !r.accept(',') {
				return false
			}
			same = !r.space() && same
		}
		first := len(r.nodes)
		if !r.value(depth) {
			return false
		}
		same = !r.space() && r.nodes[first].same && same
		size++
	}
	r.close(n, size, same)
	return true
}

func (r *reader) object(depth int) bool {
	if depth > r.most {
		return false
	}
	start, n := r.pos, len(r.nodes)
	r.add(kindObject, start, true)
	r.pos++
	same := !r.space()
	size, before := uint32(0), -1 // the node of the name before
	for !r.accept('}') {
		if size++; size > maxMembers {
			return false
		}
		if size > 1 {
			if !r.accept(',') {
				return false
			}
			same = !r.space() && same
		}
		name := len(r.nodes)
		if r.pos == len(r.text) || r.text[r.pos] != '"' || !r.string() {
			return false
		}
		same = same && r.nodes[name].same &&
			(before < 0 || string(r.inside(uint32(before))) < string(r.inside(uint32(name))))
		before = name
		same = !r.space() && same
		if !r.accept(':') {
			return false
		}
		same = !r.space() && same
		if !r.value(depth) {
			return false
		}
		same = !r.space() && r.nodes[name+1].same && same
	}
	r.close(n, size, same)
	return true
}

func (r *reader) close(n int, size uint32, same bool) {
	c := &r.nodes[n]
	c.end, c.next, c.size, c.same = uint32(r.pos), uint32(len(r.nodes)), size, same
}

// inside is the text of a string between its quotes.
func (t *tape) inside(n uint32) []byte {
	x := &t.nodes[n]
	return t.text[x.start+1 : x.end-1]
}
