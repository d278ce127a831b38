package vrl

// loop takes a for_each over a parsed line that gives each field its name by its place:
//
//	for_each(parsed) -> |i, v| { if i == 0 { .at = v } else { name = "value" + to_string(i); . = set!(., [name], to_float!(v)) } }
//
// is a column at and a rest that is called value.
func (t *translator) loop(x expr) bool {
	c, ok := x.(call)
	if !ok || c.name != "for_each" || c.closure == nil || len(c.closure.params) != 2 || t.decode.Codec != "csv" {
		return false
	}
	if p, ok := c.value(0, "value").(path); !ok || !p.variable() || p.root != t.parsed {
		return false
	}
	l := &looped{t: t, index: c.closure.params[0], item: c.closure.params[1], names: map[string]expr{},
		columns: map[string]string{}, types: map[string]string{}}
	if !l.body(c.closure.body) {
		return false
	}
	return l.finish()
}

// looped is what a loop's body says.
type looped struct {
	t           *translator
	index, item string
	names       map[string]expr   // variables of the body
	columns     map[string]string // index → field
	types       map[string]string
	rest        string
	restType    string
}

func (l *looped) body(list []expr) bool {
	for _, x := range list {
		switch x := x.(type) {
		case cond:
			if !l.branch(x) {
				return false
			}
		case assign:
			if x.target.variable() {
				l.names[x.target.root] = x.value
			} else if !l.set(x) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// branch reads if index == 0 { .name = item } else { … }.
func (l *looped) branch(c cond) bool {
	b, ok := c.test.(binary)
	if !ok || b.op != "==" || !l.is(b.x, l.index) || len(c.yes) != 1 {
		return false
	}
	n, ok := b.y.(literal)
	a, isAssign := c.yes[0].(assign)
	if !ok || !isAssign {
		return false
	}
	name, ok := a.target.field()
	typ, isItem := l.converted(a.value)
	if !ok || !isItem {
		return false
	}
	l.columns[n.jq] = name
	if typ != "" {
		l.types[name] = typ
	}
	return l.body(c.other)
}

// set reads . = set!(., [name], item), where name is a text with the index behind it.
func (l *looped) set(a assign) bool {
	c, ok := a.value.(call)
	if !ok || !a.target.event() || c.name != "set" {
		return false
	}
	if p, ok := c.value(0, "value").(path); !ok || !p.event() {
		return false
	}
	at, ok := c.value(1, "path").(array)
	if !ok || len(at.items) != 1 {
		return false
	}
	name := at.items[0]
	if p, ok := name.(path); ok && p.variable() {
		name = l.names[p.root]
	}
	b, ok := name.(binary)
	if !ok || b.op != "+" {
		return false
	}
	prefix, ok := b.x.(str)
	number := b.y
	if c, isCall := number.(call); isCall && c.name == "to_string" {
		number = c.value(0, "value")
	}
	if !ok || !l.is(number, l.index) {
		return false
	}
	typ, ok := l.converted(c.value(2, "data"))
	l.rest, l.restType = prefix.text, typ
	return ok
}

func (l *looped) is(x expr, variable string) bool {
	p, ok := x.(path)
	return ok && p.variable() && p.root == variable
}

// converted tells whether an expression is the loop's item, and what type is made of it.
func (l *looped) converted(x expr) (typ string, ok bool) {
	if c, isCall := x.(call); isCall {
		if typ, ok = conversion(c); !ok {
			return "", false
		}
		x = c.value(0, "value")
	}
	return typ, l.is(x, l.item)
}

// finish gives the translator what the loop said. Fields of the rest are counted from 1, so they have to begin there.
func (l *looped) finish() bool {
	if len(l.columns) != 1 || l.columns["0"] == "" || l.rest == "" {
		return false
	}
	l.t.columns[0] = l.columns["0"]
	l.t.decode.Rest = l.rest
	for name, typ := range l.types {
		l.t.decode.Types[name] = typ
	}
	if l.restType != "" {
		l.t.decode.Types[l.rest] = l.restType
	}
	return true
}
