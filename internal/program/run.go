package program

import "bytes"

// stage is a step of a program: it makes any number of values of one.
type stage struct {
	one   expression // makes one
	each  bool       // .[]
	keep  expression // select
	comma [][]stage  // a, b; without any it is empty
}

// then takes what a stage makes: the value that an expression makes of v.
type then func(e expression, v Value) (ok bool)

// run passes a value through stages, and gives what comes out to then, in jq's order. The last expression is left to
// then, which may evaluate it or write it. ok is false when the run is left to gojq.
func (w *Work) run(stages []stage, in Value, out then) (ok bool) {
	for i := range stages {
		s := &stages[i]
		if !w.step(0) {
			return false
		}
		switch {
		case s.one != nil:
			if i == len(stages)-1 {
				return out(s.one, in)
			}
			if in, ok = s.one.eval(w, in); !ok {
				return false
			}
		case s.keep != nil:
			v, ok := s.keep.eval(w, in)
			if !ok || !v.truth() {
				return ok
			}
		case s.each:
			return w.iterate(stages[i+1:], in, out)
		default:
			for _, c := range s.comma {
				if !w.run(c, in, func(e expression, v Value) (ok bool) {
					if i == len(stages)-1 {
						return out(e, v)
					}
					if v, ok = e.eval(w, v); !ok {
						return false
					}
					return w.run(stages[i+1:], v, out)
				}) {
					return false
				}
			}
			return true
		}
	}
	return out(identity{}, in)
}

// iterate passes the elements of an array, or the members of an object in the order of their names, through stages.
func (w *Work) iterate(stages []stage, in Value, out then) (ok bool) {
	switch x := in.node(); {
	case x.kind == kindArray, x.kind == kindObject && x.same:
		step := uint32(0)
		if x.kind == kindObject {
			step = 1 // over the name
		}
		n := in.n + 1
		for range int(x.size) {
			n += step
			v := Value{in.t, n}
			n = in.t.nodes[n].next
			if !w.run(stages, v, out) {
				return false
			}
		}
		return true
	case x.kind == kindObject:
		ms, ok := w.members(in)
		defer w.free(ms)
		for i := 0; ok && i < len(ms); i++ {
			ok = w.run(stages, Value{in.t, ms[i].n + 1}, out)
		}
		return ok
	}
	return false
}

// Program is one that is simple enough. It may be used by several goroutines at once, each with a Work of its own
// scope.
type Program struct {
	stages []stage
	single expression // all of it, where it makes exactly one value
	names  map[string]string
}

// Name is a name as a string, without memory of its own when it stands in the program.
func (p *Program) Name(name []byte) string {
	if n, ok := p.names[string(name)]; ok {
		return n
	}
	return string(name)
}

// Each gives out the values that the program makes of one, in jq's order. ok is false when the run is left to gojq, or
// each returned false; what was given out before is void then.
func (p *Program) Each(w *Work, in Value, each func(Value) bool) (ok bool) {
	return w.run(p.stages, in, func(e expression, v Value) bool {
		v, ok := e.eval(w, v)
		return ok && each(v)
	})
}

// EachText gives out the values as text, as jq writes it. A text is valid until each returns. ok is as in Each.
func (p *Program) EachText(w *Work, in Value, each func(text []byte) bool) (ok bool) {
	return w.run(p.stages, in, func(e expression, v Value) bool {
		b, ok := e.write(w, w.take(), v)
		if w.bytes += len(b); w.bytes > maxBytes {
			ok = false
		}
		ok = ok && each(b)
		w.give(b)
		return ok
	})
}

// Text returns the only value that the program makes of one, as jq writes it; it is the caller's. ok is false when the
// run is left to gojq, or when the program does not make exactly one value.
func (p *Program) Text(w *Work, in Value) (text []byte, ok bool) {
	if p.single != nil {
		b, ok := p.single.write(w, w.take(), in)
		if ok {
			text = bytes.Clone(b)
		}
		w.give(b)
		return text, ok
	}
	return p.onlyText(w, in)
}

func (p *Program) onlyText(w *Work, in Value) (text []byte, ok bool) {
	n := 0
	ok = p.EachText(w, in, func(made []byte) bool {
		n++
		text = bytes.Clone(made)
		return n == 1
	})
	return text, ok && n == 1
}

// Value returns the only value that the program makes of one. n is how many it makes, at most 2; what comes with
// another than 1 is void. ok is false when the run is left to gojq.
func (p *Program) Value(w *Work, in Value) (v Value, n int, ok bool) {
	if p.single != nil {
		v, ok = p.single.eval(w, in)
		return v, 1, ok
	}
	return p.onlyValue(w, in)
}

func (p *Program) onlyValue(w *Work, in Value) (v Value, n int, ok bool) {
	ok = p.Each(w, in, func(made Value) bool {
		v = made
		n++
		return n < 2
	})
	return v, n, ok || n == 2
}

// TextOf returns a value as jq writes it; it is the caller's. ok is false when that becomes too much.
func (w *Work) TextOf(v Value) (text []byte, ok bool) {
	b, ok := w.append(w.take(), v)
	if w.bytes += len(b); ok && w.bytes <= maxBytes {
		text = bytes.Clone(b)
	}
	w.give(b)
	return text, text != nil
}
