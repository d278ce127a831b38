package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/hikyaku/hikyaku/internal/config"
)

// Sizes of a picture, in units of SVG.
const (
	letterWidth = 7.4 // of the font's narrow letters; a wide one, as of Japanese, takes two
	boxHeight   = 44.0
	rowHeight   = 64.0
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
	*config.Picture
	spots   []*spot // of the things first
	columns [][]*spot
	chains  [][]*spot // of each way, from its left end to its right one
	back    []bool    // of each way: it goes from right to left
	width   float64
	height  float64
}

// layOut finds where everything stands: columns by the longest way to a thing, rows by the middle of its neighbours.
func layOut(p *config.Picture) *drawing {
	d := &drawing{Picture: p, back: make([]bool, len(p.Ways)), chains: make([][]*spot, len(p.Ways))}
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
	d.height = float64(highest)*rowHeight + 2*margin
	x := margin
	for _, column := range d.columns {
		width := 0.0
		for _, s := range column {
			if s.thing >= 0 {
				for _, line := range linesOf(&d.Things[s.thing]) {
					s.width = max(s.width, float64(runewidth.StringWidth(line))*letterWidth+24)
				}
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

// svgStyle shows the picture on light and dark paper.
const svgStyle = `text{font:13px -apple-system,"Segoe UI","Noto Sans","Noto Sans CJK JP","Hiragino Sans","Yu Gothic",sans-serif;` +
	`fill:#1f2933}.note{font-size:11px;fill:#66717e}.box{fill:#fff;stroke:#9aa5b1}.door{fill:#eef2f6}` +
	`.queue,.topic{fill:#fdf3ee;stroke:#b4472b}.way{fill:none;stroke:#52606d;stroke-width:1.4}.dead{stroke-dasharray:5 4}` +
	`.label{font-size:10.5px;fill:#52606d;paint-order:stroke;stroke:#fbfaf8;stroke-width:3}.paper{fill:#fbfaf8}` +
	`.tip{fill:#52606d}@media(prefers-color-scheme:dark){text{fill:#e4e7eb}.note{fill:#9aa5b1}.paper{fill:#151b21}` +
	`.box{fill:#1f2933;stroke:#616e7c}.door{fill:#26313c}.queue,.topic{fill:#33231d;stroke:#f0916f}.way{stroke:#9aa5b1}` +
	`.label{fill:#9aa5b1;stroke:#151b21}.tip{fill:#9aa5b1}}`

// radius is how round a kind's box is.
var radius = map[string]int{"door": 2, "topic": 22, "queue": 12, "source": 4, "transform": 4, "sink": 4}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(config.Shown(text))) // a Builder takes all
	return b.String()
}

func writeSVG(w io.Writer, title string, p *config.Picture) error {
	d := layOut(p)
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">`+
			"\n<title>%s</title>\n<style>%s</style>\n", d.width, d.height, d.width, d.height, escaped(title), svgStyle)
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" ` +
		`orient="auto-start-reverse"><path class="tip" d="M0 0L10 5L0 10z"/></marker></defs>` + "\n" +
		`<rect class="paper" width="100%" height="100%" rx="8"/>` + "\n")
	for i := range d.Ways {
		d.way(&b, i)
	}
	for _, s := range d.spots[:len(d.Things)] {
		t := &d.Things[s.thing]
		fmt.Fprintf(&b,
			`<g><title>%s %s</title><rect class="box %s" x="%.1f" y="%.1f" width="%.1f" height="%.0f" rx="%d"/>`,
			t.Kind, escaped(t.Name), t.Kind, s.x, s.y-boxHeight/2, s.width, boxHeight, radius[t.Kind])
		ls := linesOf(t)
		for i, line := range ls {
			class, y := "name", s.y+5
			if len(ls) > 1 {
				y = s.y - 3 + float64(i)*16
			}
			if i > 0 {
				class = "note"
			}
			fmt.Fprintf(&b, `<text class="%s" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, class, s.x+s.width/2,
				y,
				escaped(line))
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// way draws a way as a curve through the places where it passes columns.
func (d *drawing) way(b *strings.Builder, i int) {
	chain, class, tip := d.chains[i], "way", "marker-end"
	if d.Ways[i].Dead {
		class += " dead"
	}
	if d.back[i] {
		tip = "marker-start"
	}
	first := chain[0]
	x, y := first.x+first.width, first.y
	fmt.Fprintf(b, `<path class="%s" %s="url(#tip)" d="M%.1f %.1f`, class, tip, x, y)
	lx, ly := x, y
	if first == chain[len(chain)-1] { // to itself
		fmt.Fprintf(b, "C%.1f %.1f %.1f %.1f %.1f %.1f", x+40, y-30, x+40, y+30, x, y+8)
	} else {
		for n, s := range chain[1:] {
			fmt.Fprintf(b, "C%.1f %.1f %.1f %.1f %.1f %.1f", (x+s.x)/2, y, (x+s.x)/2, s.y, s.x, s.y)
			if n == 0 {
				lx, ly = (x+s.x)/2, (y+s.y)/2
			}
			if x, y = s.x+s.width, s.y; s.thing < 0 {
				x = s.x
			}
		}
	}
	b.WriteString("\"/>")
	if label := d.Ways[i].Label; label != "" {
		fmt.Fprintf(b, `<text class="label" x="%.1f" y="%.1f" text-anchor="middle"><title>%s</title>%s</text>`, lx,
			ly-4,
			escaped(label), escaped(short(label)))
	}
	b.WriteString("\n")
}
