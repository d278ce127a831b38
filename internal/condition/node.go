package condition

import "github.com/hikyaku/hikyaku/internal/message"

type op uint8

const (
	opConst op = iota
	opName
	opNot
	opNegate
	opInvert // ~
	opAnd    // any number of args from two, as or and xor
	opXor
	opOr
	opEqual
	opNotEqual
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opNullSafe // <=>
	opIs
	opIn      // args[0] in args[1:]
	opBetween // args[0] between args[1] and args[2]
	opLike    // args[0] like args[1], with node.escape
	opBitOr
	opBitAnd
	opShiftLeft
	opShiftRight
	opAdd
	opSubtract
	opMultiply
	opDivide
	opIntDivide
	opModulo
	opBitXor
	opCall
)

// is* say what an opIs node asks for. "is unknown" is "is null".
type isTest uint8

const (
	isNull isTest = iota
	isTrue
	isFalse
)

// node is one operator, literal or name of the tree. Parsed nodes are never changed; Bind works on a copy.
type node struct {
	op       op
	negated  bool   // is not, not in, not between, not like
	test     isTest // of opIs
	height   int    // levels below and with this one
	offset   int    // byte in the text, for errors
	slot     int    // of opName: an index into Expr.names, or in a bound tree the caller's slot, -1 for none
	name     string // of opName
	value    message.Value
	escape   string   // of opLike: the escape character, "" for none
	pattern  *pattern // of opLike with a constant pattern, in a bound tree
	function function // of opCall
	args     []*node
}

func newNode(o op, offset int, args ...*node) *node {
	n := &node{op: o, offset: offset, args: args, height: 1}
	for _, a := range args {
		n.height = max(n.height, a.height+1)
	}
	return n
}

func constant(v message.Value) *node { return &node{op: opConst, value: v, height: 1} }
