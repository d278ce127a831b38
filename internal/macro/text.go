package macro

import "strings"

// Text is a macro as it was written: what Format writes anew, and Compile makes a Script of.
type Text struct {
	body []node
	last int // the number of the last line
}

// node is a line of a text, or a block of them.
type node interface {
	// steps is how many steps it becomes, at most limit+1.
	steps(limit int) int
}

// press is a line that presses something.
type press struct {
	at     int      // its line
	words  []string // as written, in small letters, for the formatter
	motion []int    // digits; one for a mere direction, none for no direction
	with   State    // what is pressed together with the last of them
	frames int      // of each step
	final  int      // of the last one, if it differs; 0: it does not
	remark string
}

func (p *press) steps(int) int { return max(len(p.motion), 1) }

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
	at     int
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
	at         int
	kind       string
	number     int // of a loop, how often; of a player, which
	body       []node
	remark     string
	lastRemark string // of the line that ends it
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

// splitLines cuts a text into lines, whatever system wrote it.
func splitLines(text []byte) []string {
	s := strings.TrimPrefix(string(text), "\ufeff")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return strings.Split(s, "\n")
}
