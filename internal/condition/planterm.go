package condition

import (
	"github.com/hikyaku/hikyaku/internal/message"
)

// matching is the set of messages for which n is true (want) or false (not want). For unknown a message is in neither,
// so a negation is planned by asking for the other truth value, never by a complement.
func matching(n *node, want bool) set {
	switch n.op {
	case opConst:
		switch truthOf(n.value) {
		case triOf(want):
			return everything()
		default:
			return nothing()
		}
	case opName:
		// A value is true when it is a number other than 0.
		return compared(n.name, pick(want, opNotEqual, opEqual), message.Int(0))
	case opNot:
		return matching(n.args[0], !want)
	case opAnd:
		return joined(n.args, want, want)
	case opOr:
		return joined(n.args, want, !want)
	case opEqual, opNotEqual, opLess, opLessEqual, opGreater, opGreaterEqual:
		return comparison(n, want)
	case opNullSafe:
		if want {
			return nullSafe(n.args[0], n.args[1])
		}
	case opIs:
		// What is not true may be unknown: only the plain test narrows.
		if want != n.negated && n.test != isNull {
			return matching(n.args[0], n.test == isTrue)
		}
	case opIn:
		return inList(n, want != n.negated)
	case opBetween:
		low := newNode(opGreaterEqual, n.offset, n.args[0], n.args[1])
		high := newNode(opLessEqual, n.offset, n.args[0], n.args[2])
		inside := want != n.negated
		return joined([]*node{low, high}, inside, inside)
	case opLike:
		if want != n.negated {
			return likePrefix(n)
		}
	}
	return notServed()
}

func pick(want bool, then, otherwise op) op {
	if want {
		return then
	}
	return otherwise
}

// joined is the intersection (conjunction) or union of the sets where each of args is true or false.
func joined(args []*node, want, conjunction bool) set {
	if !conjunction {
		result := nothing()
		for _, a := range args {
			result = result.or(matching(a, want))
		}
		return result
	}
	result := everything()
	for _, a := range args {
		result, _ = result.and(matching(a, want))
	}
	return result
}

// mirrored is the operator with its operands swapped; opposite the one that is true when it is false.
var (
	mirrored = map[op]op{opEqual: opEqual, opNotEqual: opNotEqual, opLess: opGreater, opLessEqual: opGreaterEqual,
		opGreater: opLess, opGreaterEqual: opLessEqual}
	opposite = map[op]op{opEqual: opNotEqual, opNotEqual: opEqual, opLess: opGreaterEqual, opLessEqual: opGreater,
		opGreater: opLessEqual, opGreaterEqual: opLess}
)

func comparison(n *node, want bool) set {
	left, right, o := n.args[0], n.args[1], n.op
	if left.op == opConst {
		left, right, o = right, left, mirrored[o]
	}
	if right.op != opConst {
		return notServed()
	}
	if right.value.IsNull() {
		return nothing()
	}
	if left.op != opName {
		return notServed()
	}
	if !want {
		o = opposite[o]
	}
	return compared(left.name, o, right.value)
}

// nullSafe is where a <=> b is true: for a constant that is not null the same as =.
func nullSafe(a, b *node) set {
	if a.op == opConst {
		a, b = b, a
	}
	if a.op != opName || b.op != opConst || b.value.IsNull() {
		return notServed()
	}
	return compared(a.name, opEqual, b.value)
}

func inList(n *node, inside bool) set {
	if n.args[0].op != opName {
		return notServed()
	}
	if inside && len(n.args)-1 > MaxBranches {
		return notServed()
	}
	result := everything()
	if inside {
		result = nothing()
	}
	for _, a := range n.args[1:] {
		if a.op != opConst {
			return notServed()
		}
		switch {
		case !inside && a.value.IsNull():
			return nothing()
		case inside && !a.value.IsNull():
			result = result.or(compared(n.args[0].name, opEqual, a.value))
		case !inside:
			result, _ = result.and(compared(n.args[0].name, opNotEqual, a.value))
		}
	}
	return result
}

// compared is the set of messages where name o constant holds. The constant is not null.
func compared(name string, o op, c message.Value) set {
	switch c.Kind() {
	case message.KindString, message.KindBytes:
		return comparedWithText(name, o, c)
	case message.KindTime:
		return section(Field{name, AsInstant}, o, c, End{}, End{})
	default:
		return section(Field{name, AsNumber}, o, c, End{}, End{})
	}
}

// comparedWithText looks in three places: texts compare with the text, numbers and times with what it reads as.
func comparedWithText(name string, o op, c message.Value) set {
	f := Field{name, AsIs}
	result := section(f, o, message.String(c.AsString()), closedAt(firstText()), End{})
	if number, ok := parseNumber(c.AsString()); ok {
		result = result.or(section(f, o, number, End{}, openAt(firstTime())))
	}
	if instant, ok := instantOf(c); ok {
		result = result.or(section(f, o, instant, closedAt(firstTime()), openAt(firstText())))
	}
	return result
}

// section is the set of keys of the field, between two ends, that compare so with the constant.
func section(f Field, o op, c message.Value, low, high End) set {
	key, ok := f.View.Key(c)
	if !ok {
		return nothing()
	}
	var ranges []Range
	switch o {
	case opEqual:
		return set{branches: []Branch{{Equal: []Equal{{f, key}}}}, exact: true}
	case opNotEqual:
		ranges = []Range{{f, low, openAt(key)}, {f, openAt(key), high}}
	case opLess:
		ranges = []Range{{f, low, openAt(key)}}
	case opLessEqual:
		ranges = []Range{{f, low, closedAt(key)}}
	case opGreater:
		ranges = []Range{{f, openAt(key), high}}
	default:
		ranges = []Range{{f, closedAt(key), high}}
	}
	result := nothing()
	for _, r := range ranges {
		if !r.empty() {
			result.branches = append(result.branches, Branch{Range: &r})
		}
	}
	return result
}

// likePrefix is the range of texts that begin with a pattern's literal part.
func likePrefix(n *node) set {
	if n.args[1].op == opConst && n.args[1].value.IsNull() {
		return nothing()
	}
	if n.args[0].op != opName || n.pattern == nil {
		return notServed()
	}
	prefix, rest := n.pattern.prefix()
	f := Field{n.args[0].name, AsText}
	if rest == restNothing {
		return set{branches: []Branch{{Equal: []Equal{{f, message.String(prefix)}}}}, exact: true}
	}
	if prefix == "" {
		return notServed()
	}
	r := Range{Field: f, Low: closedAt(message.String(prefix)), High: afterPrefix(prefix)}
	return set{branches: []Branch{{Range: &r}}, exact: rest == restAnything}
}

// afterPrefix is the first text after all that begin with the prefix.
func afterPrefix(prefix string) End {
	b := []byte(prefix)
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return End{}
	}
	b[len(b)-1]++
	return openAt(message.String(string(b)))
}
