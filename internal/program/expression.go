package program

import "strings"

// expression makes exactly one value of one. ok is false when the run is left to gojq.
type expression interface {
	// eval returns the value, to be looked into.
	eval(w *Work, in Value) (v Value, ok bool)
	// write appends the value as jq writes it.
	write(w *Work, dst []byte, in Value) (_ []byte, ok bool)
}

// written makes a value of what an expression has written to a buffer of w's, which it gives back.
func (w *Work) written(b []byte, ok bool) (v Value, _ bool) {
	if ok {
		v, ok = w.keep(b)
	}
	w.give(b)
	return v, ok
}

// evaluated appends what an expression has evaluated.
func (w *Work) evaluated(dst []byte, v Value, ok bool) (_ []byte, _ bool) {
	if !ok {
		return dst, false
	}
	return w.append(dst, v)
}

// identity is ".".
type identity struct{}

func (identity) eval(_ *Work, in Value) (Value, bool)                    { return in, true }
func (identity) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) { return w.append(dst, in) }

// constant is a literal.
type constant struct{ value Value }

func literal(text string) constant {
	t := &tape{text: []byte(text)}
	n, _ := t.read(0, 1) // made here
	return constant{Value{t, n}}
}

// null is what is not there.
var null = literal("null").value

func (c constant) eval(*Work, Value) (Value, bool) { return c.value, true }
func (c constant) write(_ *Work, dst []byte, _ Value) (_ []byte, ok bool) {
	return append(dst, c.value.text()...), true
}

// variable is one of the scope's.
type variable struct{ i int }

func (e variable) eval(w *Work, _ Value) (Value, bool) { return w.variable(e.i) }
func (e variable) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	v, ok := e.eval(w, in)
	return w.evaluated(dst, v, ok)
}

// variableField is a field of a variable that knows its fields.
type variableField struct {
	i    int
	name string
}

func (e variableField) eval(w *Work, in Value) (Value, bool) {
	return w.written(e.write(w, w.take(), in))
}
func (e variableField) write(w *Work, dst []byte, _ Value) (_ []byte, ok bool) {
	return w.scope.variables[e.i].Field(dst, w.message, e.name)
}

// fieldOf is .name.
type fieldOf struct{ name string }

func (e fieldOf) eval(w *Work, in Value) (Value, bool) { return w.field(in, e.name) }
func (e fieldOf) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	v, ok := e.eval(w, in)
	return w.evaluated(dst, v, ok)
}

// elementOf is .[i].
type elementOf struct{ i int }

func (e elementOf) eval(w *Work, in Value) (Value, bool) { return w.element(in, e.i) }
func (e elementOf) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	v, ok := e.eval(w, in)
	return w.evaluated(dst, v, ok)
}

// chain is a | b | c.
type chain []expression

func (c chain) eval(w *Work, in Value) (_ Value, ok bool) {
	for _, e := range c {
		if in, ok = e.eval(w, in); !ok {
			return in, false
		}
	}
	return in, true
}

func (c chain) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	last := len(c) - 1 // there is always one
	for _, e := range c[:last] {
		if in, ok = e.eval(w, in); !ok {
			return dst, false
		}
	}
	return c[last].write(w, dst, in)
}

// object is {…}, with names that stand in the program.
type object []objectField // in the order of their names

type objectField struct {
	name  string
	begin string // what comes before the value
	value expression
}

func (o object) eval(w *Work, in Value) (Value, bool) { return w.written(o.write(w, w.take(), in)) }
func (o object) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	for i := range o {
		dst = append(dst, o[i].begin...)
		if dst, ok = o[i].value.write(w, dst, in); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

// array is […].
type array struct{ stages []stage }

func (a array) eval(w *Work, in Value) (Value, bool) { return w.written(a.write(w, w.take(), in)) }
func (a array) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	dst = append(dst, '[')
	first := true
	ok = w.run(a.stages, in, func(e expression, v Value) (ok bool) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst, ok = e.write(w, dst, v)
		return ok && len(dst) <= maxBytes
	})
	return append(dst, ']'), ok
}

// text is a string with values in it.
type text []textPart

type textPart struct {
	plain string     // escaped, where there is no value
	value expression // or nil
}

func (t text) eval(w *Work, in Value) (Value, bool) { return w.written(t.write(w, w.take(), in)) }
func (t text) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	dst = append(dst, '"')
	for i := range t {
		if t[i].value == nil {
			dst = append(dst, t[i].plain...)
			continue
		}
		v, ok := t[i].value.eval(w, in)
		if !ok {
			return dst, false
		}
		if dst, ok = w.appendInside(dst, v); !ok {
			return dst, false
		}
	}
	return append(dst, '"'), true
}

// toString is tostring.
type toString struct{}

func (e toString) eval(w *Work, in Value) (Value, bool) {
	if in.node().kind == kindString {
		return in, true
	}
	return w.written(e.write(w, w.take(), in))
}

func (e toString) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	if in.node().kind == kindString {
		return w.append(dst, in)
	}
	dst, ok = w.appendInside(append(dst, '"'), in)
	return append(dst, '"'), ok
}

// toNumber is tonumber, of numbers and of strings that are plain integers.
type toNumber struct{}

func (e toNumber) eval(w *Work, in Value) (Value, bool) {
	if in.node().kind == kindNumber {
		return in, true
	}
	return w.written(e.write(w, w.take(), in))
}

func (toNumber) write(_ *Work, dst []byte, in Value) (_ []byte, ok bool) {
	switch in.node().kind {
	case kindNumber:
		return append(dst, in.text()...), true
	case kindString:
		digits := in.t.inside(in.n)
		return append(dst, digits...), isPlainInteger(string(digits))
	}
	return dst, false
}

// isPlainInteger tells whether a text is an integer of at most 15 digits, as every notation of jq's numbers writes it.
func isPlainInteger(text string) bool {
	digits, minus := strings.CutPrefix(text, "-")
	if digits == "" || len(digits) > 15 || digits[0] == '0' && (len(digits) > 1 || minus) {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}
