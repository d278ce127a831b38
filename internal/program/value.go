package program

import (
	"bytes"
	"slices"
)

// Value is a value in a body, or one that a program made. It is valid until its Work has ended.
type Value struct {
	t *tape
	n uint32
}

func (v Value) node() *node  { return &v.t.nodes[v.n] }
func (v Value) text() []byte { x := v.node(); return v.t.text[x.start:x.end] }
func (v Value) truth() bool  { return v.node().kind != kindNull && v.node().kind != kindFalse }

// IsNull tells whether it is null.
func (v Value) IsNull() bool { return v.node().kind == kindNull }

// IsObject tells whether it is an object.
func (v Value) IsObject() bool { return v.node().kind == kindObject }

// Bool returns a truth value; ok is false when it is none.
func (v Value) Bool() (b, ok bool) {
	k := v.node().kind
	return k == kindTrue, k == kindTrue || k == kindFalse
}

// Text returns a string without its quotes and escapes; ok is false when it is none.
func (v Value) Text() (text string, ok bool) {
	if v.node().kind != kindString {
		return "", false
	}
	if v.node().same {
		return string(v.t.inside(v.n)), true
	}
	return string(appendPlain(nil, v.t.inside(v.n))), true
}

// Number returns a number's digits as they stand; ok is false when it is none.
func (v Value) Number() (digits string, ok bool) {
	if v.node().kind != kindNumber {
		return "", false
	}
	return string(v.text()), true
}

// Size is how many members an object has, with those of the same name, or elements an array.
func (v Value) Size() int { return int(v.node().size) }

// Members gives out an object's members in the order of their names, of a name the last one, until each returns false.
// A name is valid until then. ok is false when it did, or when the work became too much.
func (v Value) Members(w *Work, each func(name []byte, member Value) bool) (ok bool) {
	ms, ok := w.members(v)
	defer w.free(ms)
	for i := 0; ok && i < len(ms); i++ {
		ok = each(ms[i].name, Value{v.t, ms[i].n + 1})
	}
	return ok
}

// member is one of an object that is not as jq writes it.
type member struct {
	name []byte // without escapes
	n    uint32 // its node
}

// members lists those of an object in order, of a name the last one. They are to be freed.
func (w *Work) members(v Value) (ms []member, ok bool) {
	if !w.step(int(v.node().size)) {
		return nil, false
	}
	ms = w.takeMembers()
	for n, end := v.n+1, v.node().next; n < end; n = v.t.nodes[n+1].next {
		name := v.t.inside(n)
		if !v.t.nodes[n].same {
			name = appendPlain(nil, name)
		}
		ms = append(ms, member{name, n})
	}
	slices.SortStableFunc(ms, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	kept := ms[:0]
	for i := range ms {
		if i+1 == len(ms) || !bytes.Equal(ms[i].name, ms[i+1].name) {
			kept = append(kept, ms[i])
		}
	}
	return kept, true
}

// field finds an object's member, of several the last one; null when there is none. ok is false for what is neither an
// object nor null.
func (w *Work) field(v Value, name string) (found Value, ok bool) {
	switch v.node().kind {
	case kindNull:
		return v, true
	case kindObject:
	default:
		return v, false
	}
	if !w.step(int(v.node().size)) {
		return v, false
	}
	found = null
	nodes := v.t.nodes
	for n, end := v.n+1, v.node().next; n < end; n = nodes[n+1].next {
		if nodes[n].same {
			if string(v.t.inside(n)) == name {
				found = Value{v.t, n + 1}
			}
		} else if string(appendPlain(nil, v.t.inside(n))) == name {
			found = Value{v.t, n + 1}
		}
	}
	return found, true
}

// element finds an array's element, from the end when i is negative; null when there is none. ok is false for what is
// neither an array nor null.
func (w *Work) element(v Value, i int) (found Value, ok bool) {
	switch v.node().kind {
	case kindNull:
		return v, true
	case kindArray:
	default:
		return v, false
	}
	size := int(v.node().size)
	if i < 0 {
		i += size
	}
	if i < 0 || i >= size {
		return null, true
	}
	n := v.n + 1
	for range i {
		n = v.t.nodes[n].next
	}
	return Value{v.t, n}, w.step(i)
}

// append appends a value as jq writes it. ok is false when that becomes too much.
func (w *Work) append(dst []byte, v Value) (_ []byte, ok bool) {
	x, text := v.node(), v.text()
	if len(dst)+len(text) > maxBytes {
		return dst, false
	}
	if x.same {
		return append(dst, text...), true
	}
	switch x.kind {
	case kindString:
		return w.appendString(dst, v.t.inside(v.n)), true
	case kindArray:
		dst = append(dst, '[')
		for n := v.n + 1; n < x.next; n = v.t.nodes[n].next {
			if n > v.n+1 {
				dst = append(dst, ',')
			}
			if dst, ok = w.append(dst, Value{v.t, n}); !ok {
				return dst, false
			}
		}
		return append(dst, ']'), true
	default:
		return w.appendObject(dst, v)
	}
}

func (w *Work) appendObject(dst []byte, v Value) (_ []byte, ok bool) {
	ms, ok := w.members(v)
	defer w.free(ms)
	dst = append(dst, '{')
	for i := 0; ok && i < len(ms); i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, ms[i].name), ':')
		dst, ok = w.append(dst, Value{v.t, ms[i].n + 1})
	}
	return append(dst, '}'), ok
}

// appendString appends a string with escapes, as jq writes it.
func (w *Work) appendString(dst, inside []byte) []byte {
	b := appendPlain(w.take(), inside)
	dst = appendQuoted(dst, b)
	w.give(b)
	return dst
}

// appendInside appends what is between the quotes of a value's tostring.
func (w *Work) appendInside(dst []byte, v Value) (_ []byte, ok bool) {
	switch x := v.node(); {
	case x.kind == kindString:
		at := len(dst)
		if dst, ok = w.append(dst, v); !ok {
			return dst, false
		}
		return append(dst[:at], dst[at+1:len(dst)-1]...), true
	case x.kind < kindString:
		return append(dst, v.text()...), true
	}
	b, ok := w.append(w.take(), v)
	dst = appendEscaped(dst, b)
	w.give(b)
	return dst, ok && len(dst) <= maxBytes
}
