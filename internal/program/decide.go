package program

// choice is if, and what is one: and, or, not.
type choice struct{ condition, yes, no expression }

func (e choice) branch(w *Work, in Value) (b expression, ok bool) {
	v, ok := e.condition.eval(w, in)
	if !ok {
		return nil, false
	}
	if v.truth() {
		return e.yes, true
	}
	return e.no, true
}

func (e choice) eval(w *Work, in Value) (v Value, ok bool) {
	b, ok := e.branch(w, in)
	if !ok {
		return v, false
	}
	return b.eval(w, in)
}

func (e choice) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	b, ok := e.branch(w, in)
	if !ok {
		return dst, false
	}
	return b.write(w, dst, in)
}

// otherwise is a // b.
type otherwise struct{ first, second expression }

func (e otherwise) eval(w *Work, in Value) (v Value, ok bool) {
	if v, ok = e.first.eval(w, in); !ok || v.truth() {
		return v, ok
	}
	return e.second.eval(w, in)
}

func (e otherwise) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	v, ok := e.first.eval(w, in)
	switch {
	case !ok:
		return dst, false
	case v.truth():
		return w.append(dst, v)
	}
	return e.second.write(w, dst, in)
}

// equality is a == b, or a != b.
type equality struct {
	a, b expression
	not  bool
}

var yes, no = literal("true"), literal("false")

func (e equality) eval(w *Work, in Value) (v Value, ok bool) {
	a, ok := e.a.eval(w, in)
	if !ok {
		return v, false
	}
	b, ok := e.b.eval(w, in)
	if !ok {
		return v, false
	}
	same, ok := w.equal(a, b)
	if same != e.not {
		return yes.value, ok
	}
	return no.value, ok
}

func (e equality) write(w *Work, dst []byte, in Value) (_ []byte, ok bool) {
	v, ok := e.eval(w, in)
	return w.evaluated(dst, v, ok)
}

// equal compares. What takes more than a look is left to gojq: arrays, objects, and numbers of several notations.
func (w *Work) equal(a, b Value) (same, ok bool) {
	x, y := a.node(), b.node()
	switch {
	case x.kind != y.kind:
		return false, true
	case x.kind < kindNumber:
		return true, true
	case x.kind == kindNumber:
		return string(a.text()) == string(b.text()), isPlainInteger(string(a.text())) &&
			isPlainInteger(string(b.text()))
	case x.kind != kindString:
		return false, false
	case x.same == y.same && string(a.t.inside(a.n)) == string(b.t.inside(b.n)):
		return true, true
	case x.same && y.same:
		return false, true
	}
	p, q := appendPlain(w.take(), a.t.inside(a.n)), appendPlain(w.take(), b.t.inside(b.n))
	same = string(p) == string(q)
	w.give(p)
	w.give(q)
	return same, true
}
