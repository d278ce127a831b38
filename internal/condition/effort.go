package condition

// Effort is how much work it is to ask a condition, at most: it grows with the condition and with what a message has.
// A step is some ten nanoseconds.
type Effort struct {
	steps int // whatever the message has
	reads int // how often the values are read, in steps for each 64 bytes of them
}

// On is the work in steps for a message whose values, with their names, have so many bytes.
func (e Effort) On(bytes int) int { return e.steps + e.reads*(bytes/64) + e.reads*(bytes%64)/64 }

// Effort is how much work it is to ask the condition.
func (e *Expr) Effort() Effort { return e.effort }

// Effort is how much work it is to ask the condition.
func (b *Bound) Effort() Effort { return b.effort }

// Times is the work of doing the same so often.
func (e Effort) Times(n int) Effort { return Effort{e.steps * n, e.reads * n} }

// Plus is the work of doing both.
func (e Effort) Plus(f Effort) Effort { return Effort{e.steps + f.steps, e.reads + f.reads} }

// OnAll is the work in steps for so many messages with so many bytes together.
func (e Effort) OnAll(messages, bytes int) int { return Effort{e.steps * messages, e.reads}.On(bytes) }

// LookUp is the work of finding the value of a name, and of reading it once or twice.
var LookUp = Effort{steps: 1, reads: 4}

// Reads of values by what is done with them, as in Effort. They are upper bounds for values that are made to take long.
const (
	readCompared = 4 // as a number, or as a time
	readSearched = 4
	readWild     = 48 // for a like piece with _ between two %, and
	readWildMore = 4  // for each 64 characters of it
	readPattern  = 128
	readCase     = 64 // lower and upper: a letter may be of any alphabet
)

// effortOf is the work of evaluating a bound tree.
func effortOf(n *node) Effort {
	e := Effort{steps: 1}
	for _, a := range n.args {
		of := effortOf(a)
		e.steps += of.steps
		e.reads += of.reads
	}
	switch n.op {
	case opConst, opAnd, opOr, opXor, opNot:
	case opName:
		e = LookUp
	case opIn:
		e.reads += readCompared * len(n.args)
	case opLike:
		e.reads += likeReads(n.pattern)
	case opCall:
		e.reads += readSearched
		if n.function == functionLower || n.function == functionUpper {
			e.reads += readCase
		}
	default:
		e.reads += 2 * readCompared
	}
	return e
}

// likeReads is how often a pattern reads a text; nil: one that the message has.
func likeReads(p *pattern) (reads int) {
	if p == nil {
		return readPattern
	}
	reads = readSearched
	for i := range p.pieces {
		if f := p.pieces[i].finder; f != nil {
			reads += readWild + readWildMore*f.words
		}
	}
	return reads
}
