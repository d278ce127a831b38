package macro

import "strings"

// Text is a macro as it was written: what Format writes anew, and Compile makes a Script of.
type Text struct {
	body []node
	last int // the number of the last line
}

// Steps is how many steps the text becomes, with loops written out, before states that follow themselves are made one:
// at most MaxSteps+1, which means too many. It takes time for the lines of the text, not for the rounds of its loops.
func (t *Text) Steps() int { return stepsOf(t.body, MaxSteps) }

// node is a line of a text, or a block of them.
type node interface {
	// steps is how many steps it becomes, at most limit+1.
	steps(limit int) int
}

// place is where in a text something stands.
type place struct{ line, column, length int }

// mistake is one at this place.
func (p place) mistake(text, hint string) Mistakes {
	return Mistakes{{p.line, p.column, max(p.length, 1), text, hint}}
}

// press is a line that presses something.
type press struct {
	at     place    // of what is pressed first
	words  []string // as written, in small letters, for the formatter
	motion []int    // digits; one for a mere direction, none for no direction
	with   State    // what is pressed together with the last of them
	frames int      // of each step
	final  int      // of the last one, if it differs; 0: it does not
	remark string
}

func (p *press) steps(int) int {
	n := max(len(p.motion), 1)
	for i := 1; i < len(p.motion); i++ {
		if p.again(i) {
			n++
		}
	}
	return n
}

// again tells whether a motion points where it did just before: in 66, a dash, the pad is let go of between the two, or
// there would be one.
func (p *press) again(i int) bool { return p.motion[i] == p.motion[i-1] && p.motion[i] != 5 }

// last is the state that the line ends with.
func (p *press) last() State {
	s := p.with
	if n := len(p.motion); n > 0 {
		s.point(p.motion[n-1])
	}
	return s
}

// blank is an empty line, or one with a remark alone.
type blank struct{ remark string }

func (*blank) steps(int) int { return 0 }

// meeting is <sync>: all players wait here for the one who is last.
type meeting struct {
	at     place
	remark string
}

func (*meeting) steps(int) int { return 1 }

// The kinds of blocks.
const (
	loopBlock   = "loop"
	mirrorBlock = "mirror"
	playerBlock = "player"
	syncTag     = "sync"
)

// block is what stands between a tag and its end.
type block struct {
	at         place // of the tag that begins it
	kind       string
	number     int // of a loop, how often; of a player, which
	body       []node
	remark     string
	lastRemark string // of the line that ends it
	wrong      bool   // its tag is a mistake; in the parser only
	meets      bool   // there is a <sync> in it; known to prune only
}

func (b *block) steps(limit int) int {
	n := stepsOf(b.body, limit)
	if b.kind == loopBlock && n > 0 {
		if b.number > limit/n {
			return limit + 1
		}
		n *= b.number
	}
	return n
}

// stepsOf adds up what the nodes become, at most limit+1.
func stepsOf(nodes []node, limit int) int {
	total := 0
	for _, n := range nodes {
		if total += n.steps(limit); total > limit {
			return limit + 1
		}
	}
	return total
}

// prune leaves out what becomes no steps, so that loops are not walked around it, and tells whether there is a <sync>
// in what is left. Nodes are not changed.
func prune(nodes []node) (left []node, meets bool) {
	for _, n := range nodes {
		switch n := n.(type) {
		case *press:
			left = append(left, n)
		case *meeting:
			left, meets = append(left, n), true
		case *block:
			b := *n
			if b.body, b.meets = prune(n.body); len(b.body) > 0 {
				left, meets = append(left, &b), meets || b.meets
			}
		}
	}
	return left, meets
}

// splitLines cuts a text into lines, whatever system wrote it.
func splitLines(text []byte) []string {
	s := strings.TrimPrefix(string(text), "\ufeff")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return strings.Split(s, "\n")
}
