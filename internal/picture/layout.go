package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Sizes of a picture, in units of SVG.
const (
	letterWidth = 7.4 // of the font's narrow letters; a wide one, as of Japanese, takes two
	boxHeight   = 44.0
	rowGap      = 20.0
	lineHeight  = 16.0
	columnGap   = 110.0 // between boxes, for the labels of ways
	margin      = 24.0
	sweeps      = 8
	mostPlaces  = 50_000 // of ways that pass columns: beyond, they go straight
)

// spot is a thing in its column, or the place where a way passes one.
type spot struct {
	thing  int // -1: a way passes
	column int
	row    float64
	before []*spot
	after  []*spot
	x, y   float64 // of its left side, and of its middle
	width  float64
}

// drawing is a picture while it is laid out, from left to right.
type drawing struct {
	*Picture
	letters int     // that a line more has room for; 0: there is none
	high    float64 // a box
	spots   []*spot // of the things first
	columns [][]*spot
	chains  [][]*spot // of each way, from its left end to its right one
	back    []bool    // of each way: it goes from right to left
	width   float64
	height  float64
}

// Drawing is where everything of a picture stands, in units of SVG from the top left.
type Drawing struct {
	Width, Height float64
	Boxes         []Box   // of the things, in their order
	Curves        []Curve // of the ways, in their order
}

// Box is where a thing stands.
type Box struct {
	X, Y, Width, Height float64
	Radius              int     // how round its corners are
	Middle              float64 // of its lines of text
	Lines               []Line  // the name, and the note if there is one
	More                float64 // where the baseline of a line more is, if LayOut was asked for one
}

// Line is a line of text.
type Line struct {
	Class, Text string
	Y           float64 // of the baseline
}

// Curve is how a way goes.
type Curve struct {
	Path           string // from its left end to its right one
	Back           bool   // messages go from right to left
	LabelX, LabelY float64
	Label          string // on one line, cut where it is long
}

// LayOut finds where everything stands: columns by the longest way to a thing, rows by the middle of its neighbours.
// With letters above 0, each box has a line more with room for so many, which whoever draws it fills.
func (p *Picture) LayOut(letters int) *Drawing {
	d := layOut(p, letters)
	out := &Drawing{Width: d.width, Height: d.height}
	for _, s := range d.spots[:len(d.Things)] {
		out.Boxes = append(out.Boxes, d.box(s))
	}
	for i := range d.Ways {
		out.Curves = append(out.Curves, d.curve(i))
	}
	return out
}

func layOut(p *Picture, letters int) *drawing {
	d := &drawing{Picture: p, letters: letters, high: boxHeight, back: make([]bool, len(p.Ways)),
		chains: make([][]*spot, len(p.Ways))}
	if letters > 0 {
		d.high += lineHeight
	}
	for i := range p.Things {
		d.spots = append(d.spots, &spot{thing: i})
	}
	d.turnCircles()
	d.setColumns()
	d.join()
	for range sweeps {
		d.order(false)
		d.order(true)
	}
	d.place()
	return d
}

// ends are the left and the right end of a way.
func (d *drawing) ends(i int) (left, right int) {
	w := &d.Ways[i]
	if d.back[i] {
		return w.To, w.From
	}
	return w.From, w.To
}

// turnCircles finds ways that close a circle, so that what is left has an order.
func (d *drawing) turnCircles() {
	const unseen, open, done = 0, 1, 2
	state, from := make([]int, len(d.Things)), make([][]int, len(d.Things))
	for i, w := range d.Ways {
		from[w.From] = append(from[w.From], i)
	}
	type step struct{ thing, next int }
	for i := range d.Things {
		if state[i] != unseen {
			continue
		}
		state[i] = open
		for way := []step{{i, 0}}; len(way) > 0; {
			top := &way[len(way)-1]
			if top.next == len(from[top.thing]) {
				state[top.thing] = done
				way = way[:len(way)-1]
				continue
			}
			edge := from[top.thing][top.next]
			top.next++
			switch to := d.Ways[edge].To; state[to] {
			case open:
				d.back[edge] = true
			case unseen:
				state[to] = open
				way = append(way, step{to, 0})
			}
		}
	}
}

// setColumns puts each thing behind all that it has its messages from.
func (d *drawing) setColumns() {
	waits, next := make([]int, len(d.Things)), make([][]int, len(d.Things))
	for i := range d.Ways {
		if left, right := d.ends(i); left != right {
			waits[right]++
			next[left] = append(next[left], right)
		}
	}
	var ready []int
	for i, n := range waits {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for ; len(ready) > 0; ready = ready[1:] {
		for _, to := range next[ready[0]] {
			d.spots[to].column = max(d.spots[to].column, d.spots[ready[0]].column+1)
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
}

// join makes the neighbours, and places where ways pass columns.
func (d *drawing) join() {
	things := d.spots
	for i := range d.Ways {
		left, right := d.ends(i)
		chain := []*spot{things[left]}
		for c := things[left].column + 1; c < things[right].column && len(d.spots) < mostPlaces; c++ {
			passing := &spot{thing: -1, column: c}
			d.spots, chain = append(d.spots, passing), append(chain, passing)
		}
		chain = append(chain, things[right])
		for j := 1; j < len(chain) && left != right; j++ {
			chain[j-1].after = append(chain[j-1].after, chain[j])
			chain[j].before = append(chain[j].before, chain[j-1])
		}
		d.chains[i] = chain
	}
	for _, s := range d.spots {
		for len(d.columns) <= s.column {
			d.columns = append(d.columns, nil)
		}
		s.row = float64(len(d.columns[s.column]))
		d.columns[s.column] = append(d.columns[s.column], s)
	}
}

// order sorts the columns by the neighbours to the left, or to the right.
func (d *drawing) order(toLeft bool) {
	columns := slices.Clone(d.columns)
	if toLeft {
		slices.Reverse(columns)
	}
	for _, column := range columns {
		middle := map[*spot]float64{}
		for _, s := range column {
			near := s.before
			if toLeft {
				near = s.after
			}
			middle[s] = s.row
			for i, n := range near {
				if i == 0 {
					middle[s] = 0
				}
				middle[s] += n.row / float64(len(near))
			}
		}
		slices.SortStableFunc(column, func(a, b *spot) int { return cmp.Compare(middle[a], middle[b]) })
		for i, s := range column {
			s.row = float64(i)
		}
	}
}

// place gives everything its place, each column in the middle.
func (d *drawing) place() {
	highest := 0
	for _, column := range d.columns {
		highest = max(highest, len(column))
	}
	rowHeight := d.high + rowGap
	d.height = float64(highest)*rowHeight + 2*margin
	x := margin
	for _, column := range d.columns {
		width := 0.0
		for _, s := range column {
			if s.thing >= 0 {
				letters := d.letters
				for _, line := range d.Things[s.thing].lines() {
					letters = max(letters, runewidth.StringWidth(line))
				}
				s.width = float64(letters)*letterWidth + 24
			}
			width = max(width, s.width)
		}
		top := (d.height - float64(len(column))*rowHeight) / 2
		for i, s := range column {
			s.x, s.y = x, top+(float64(i)+0.5)*rowHeight
			if s.thing >= 0 {
				s.width = width // boxes of a column are as wide as the widest
			}
		}
		x += width + columnGap
	}
	d.width = x - columnGap + margin
}

// radius is how round a kind's box is.
var radius = map[string]int{"door": 2, "topic": 22, "queue": 12, "source": 4, "transform": 4, "sink": 4}

// box is the box of a thing.
func (d *drawing) box(s *spot) Box {
	t := &d.Things[s.thing]
	b := Box{X: s.x, Y: s.y - d.high/2, Width: s.width, Height: d.high, Radius: radius[t.Kind], Middle: s.x + s.width/2}
	ls := t.lines()
	rows := len(ls)
	if d.letters > 0 {
		rows++
	}
	y := s.y + 5 - float64(rows-1)*lineHeight/2
	for i, text := range ls {
		class := "name"
		if i > 0 {
			class = "note"
		}
		b.Lines = append(b.Lines, Line{class, text, y})
		y += lineHeight
	}
	b.More = y
	return b
}

// curve leads a way through the places where it passes columns.
func (d *drawing) curve(i int) Curve {
	chain := d.chains[i]
	first := chain[0]
	x, y := first.x+first.width, first.y
	c := Curve{Back: d.back[i], LabelX: x, LabelY: y - 4, Label: short(d.Ways[i].Label)}
	var b strings.Builder
	fmt.Fprintf(&b, "M%.1f %.1f", x, y)
	if first == chain[len(chain)-1] { // to itself
		fmt.Fprintf(&b, "C%.1f %.1f %.1f %.1f %.1f %.1f", x+40, y-30, x+40, y+30, x, y+8)
	} else {
		for n, s := range chain[1:] {
			fmt.Fprintf(&b, "C%.1f %.1f %.1f %.1f %.1f %.1f", (x+s.x)/2, y, (x+s.x)/2, s.y, s.x, s.y)
			if n == 0 {
				c.LabelX, c.LabelY = (x+s.x)/2, (y+s.y)/2-4
			}
			if x, y = s.x+s.width, s.y; s.thing < 0 {
				x = s.x
			}
		}
	}
	c.Path = b.String()
	return c
}
