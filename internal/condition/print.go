package condition

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// String is the canonical text: lower-case keywords, one spelling for each operator, only the parentheses that are
// needed. It parses to the same condition. Conditions that differ in spelling alone have the same canonical text.
func (e *Expr) String() string {
	e.printed.Do(func() {
		var b strings.Builder
		e.root.print(&b)
		e.canonical = b.String()
	})
	return e.canonical
}

// The grammar's levels, from the loosest; each operator's operands must bind at least as tightly as its rule says.
const (
	levelOr = iota
	levelXor
	levelAnd
	levelNot
	levelComparison
	levelPredicate
	levelBinary // and one for each of levels
	levelUnary  = levelBinary + len(levels)
)

const levelPrimary = levelUnary + 1

type spelling struct {
	text  string
	level int
}

var spellings = map[op]spelling{
	opOr: {"or", levelOr}, opXor: {"xor", levelXor}, opAnd: {"and", levelAnd},
	opEqual: {"=", levelComparison}, opNotEqual: {"!=", levelComparison}, opLess: {"<", levelComparison},
	opLessEqual: {"<=", levelComparison}, opGreater: {">", levelComparison}, opGreaterEqual: {">=", levelComparison},
	opNullSafe: {"<=>", levelComparison},
	opBitOr:    {"|", levelBinary}, opBitAnd: {"&", levelBinary + 1},
	opShiftLeft: {"<<", levelBinary + 2}, opShiftRight: {">>", levelBinary + 2},
	opAdd: {"+", levelBinary + 3}, opSubtract: {"-", levelBinary + 3},
	opMultiply: {"*", levelBinary + 4}, opDivide: {"/", levelBinary + 4}, opIntDivide: {"div", levelBinary + 4},
	opModulo: {"%", levelBinary + 4}, opBitXor: {"^", levelBinary + 5},
}

func (n *node) level() int {
	switch n.op {
	case opNot:
		return levelNot
	case opIs:
		return levelComparison
	case opIn, opBetween, opLike:
		return levelPredicate
	case opNegate, opInvert:
		return levelUnary
	case opConst, opName, opCall:
		return levelPrimary
	default:
		return spellings[n.op].level
	}
}

// printAt prints n where the grammar wants an operand of the level.
func (n *node) printAt(b *strings.Builder, level int) {
	if n.level() >= level {
		n.print(b)
		return
	}
	b.WriteByte('(')
	n.print(b)
	b.WriteByte(')')
}

func (n *node) print(b *strings.Builder) {
	not := ""
	if n.negated {
		not = "not "
	}
	switch n.op {
	case opConst:
		printValue(b, n.value)
	case opName:
		printName(b, n.name)
	case opNot:
		b.WriteString("not ")
		n.args[0].printAt(b, levelNot)
	case opNegate, opInvert:
		b.WriteByte("-~"[n.op-opNegate])
		n.args[0].printAt(b, levelPrimary)
	case opIs:
		n.args[0].printAt(b, levelComparison)
		b.WriteString(" is " + not + [...]string{"null", "true", "false"}[n.test])
	case opIn:
		n.args[0].printAt(b, levelBinary)
		b.WriteString(" " + not + "in ")
		n.printList(b, n.args[1:])
	case opBetween:
		n.args[0].printAt(b, levelBinary)
		b.WriteString(" " + not + "between ")
		n.args[1].printAt(b, levelBinary)
		b.WriteString(" and ")
		n.args[2].printAt(b, levelPredicate)
	case opLike:
		n.args[0].printAt(b, levelBinary)
		b.WriteString(" " + not + "like ")
		n.args[1].printAt(b, levelUnary)
		if n.escape != `\` {
			b.WriteString(" escape ")
			printString(b, n.escape)
		}
	case opCall:
		b.WriteString(functions[n.function].name)
		n.printList(b, n.args)
	default:
		n.printOperator(b)
	}
}

func (n *node) printList(b *strings.Builder, args []*node) {
	b.WriteByte('(')
	for i, a := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		a.print(b)
	}
	b.WriteByte(')')
}

// printOperator prints a left-associative operator: the left operand may be of its own level, the others must bind more
// tightly. A comparison's operands are predicates.
func (n *node) printOperator(b *strings.Builder) {
	s := spellings[n.op]
	n.args[0].printAt(b, s.level)
	for _, a := range n.args[1:] {
		b.WriteString(" " + s.text + " ")
		a.printAt(b, s.level+1)
	}
}

func printName(b *strings.Builder, name string) {
	if nameLength(name) == len(name) && !keywords[strings.ToLower(name)] {
		b.WriteString(name)
		return
	}
	b.WriteString("`" + strings.ReplaceAll(name, "`", "``") + "`")
}

func printValue(b *strings.Builder, v message.Value) {
	switch v.Kind() {
	case message.KindNull:
		b.WriteString("null")
	case message.KindFloat:
		s := strconv.FormatFloat(v.AsFloat(), 'g', -1, 64)
		b.WriteString(s)
		if !math.IsInf(v.AsFloat(), 0) && strings.IndexByte(s, 'e') < 0 {
			b.WriteString("e0")
		}
	case message.KindString:
		printString(b, v.AsString())
	case message.KindBytes:
		b.WriteString("x'" + hex.EncodeToString([]byte(v.AsString())) + "'")
	case message.KindTime:
		b.WriteString("timestamp '" + v.AsTime().Format("2006-01-02 15:04:05.999999") + "'")
	default:
		b.WriteString(v.Text())
	}
}

var stringEscapes = strings.NewReplacer(`\`, `\\`, "'", "''", "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b",
	`\b`, "\x1a", `\Z`)

func printString(b *strings.Builder, s string) {
	b.WriteByte('\'')
	// Writing to a strings.Builder cannot fail.
	_, _ = stringEscapes.WriteString(b, s)
	b.WriteByte('\'')
}

func functionList() []string {
	names := make([]string, 0, len(functionNames))
	for n := range functionNames {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
