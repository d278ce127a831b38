package measure

import (
	"errors"
	"io"
	"math"
	"strings"
)

// Point is one value of a series.
type Point struct{ X, Y float64 }

// Style says how a series is drawn.
type Style uint8

const (
	LineMarks Style = iota // a line through the points in their order, with marks where they are few
	Lines                  // only the line
	Marks                  // only the marks
	Dashes                 // a dashed line, for what is to be compared with: a limit, an ideal
)

// Series is a named row of points. A point that has no place in the plot (NaN, an infinity, zero or less on a
// logarithmic axis) interrupts the line.
type Series struct {
	Name   string
	Style  Style
	Points []Point
}

// Plot is a picture of series over two axes.
type Plot struct {
	Title          string
	Caption        []string // lines below the title: what was asked for, what to look at
	XLabel, YLabel string   // say the unit: "writers", "p99 (ms)"
	XLog, YLog     bool
	XNames         []string // the names of X = 0, 1, 2…: an axis of things instead of numbers
	// write the numbers at the axes; nil: with separators and as many decimals as needed
	XText, YText  func(float64) string
	Width, Height int // pixels; 0: 840 × 480
	Series        []Series
}

// The sizes of the picture's parts, in pixels.
const (
	textSize   = 13
	titleSize  = 17
	lineHeight = textSize + 5 // of the caption
	cellWidth  = 7.2          // of a column of text of textSize
	margin     = 16
	legendMark = 26
	leastWidth = 200
)

var errTooLarge = errors.New("plot is larger than 20,000 pixels; make Width and Height smaller")

// colours can be told apart by colour-blind people and in print (Okabe and Ito, "Color Universal Design", 2008).
var colours = [...]string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"}

// WriteSVG draws the plot as an SVG document on white ground. A plot without points has its axes and no more.
func (p *Plot) WriteSVG(w io.Writer) error {
	width, height := p.Width, p.Height
	if width <= 0 {
		width = 840
	}
	if height <= 0 {
		height = 480
	}
	if width > 20000 || height > 20000 {
		return errTooLarge
	}
	d := &drawing{plot: p, width: float64(max(width, leastWidth)), height: float64(max(height, leastWidth))}
	d.layOut()
	d.begin()
	d.caption()
	d.axes()
	for i := range p.Series {
		d.series(i)
	}
	d.legend()
	d.end()
	_, err := io.WriteString(w, d.out.String())
	return err
}

// SVG is WriteSVG into a string. It is empty if the plot is too large to draw.
func (p *Plot) SVG() string {
	var b strings.Builder
	if err := p.WriteSVG(&b); err != nil {
		return ""
	}
	return b.String()
}

// drawing is a plot on its way to SVG.
type drawing struct {
	plot                     *Plot
	out                      strings.Builder
	width, height            float64
	left, right, top, bottom float64 // of the area of the points
	x, y                     scale
	xTicks, yTicks           []tick
}

func textWidth(s string) float64 { return float64(cells(s)) * cellWidth }

func widest(ticks []tick) (most float64) {
	for _, t := range ticks {
		most = max(most, textWidth(t.text))
	}
	return most
}

// layOut finds the place of everything. The texts at the y axis decide where the area begins, so they come first.
func (d *drawing) layOut() {
	p := d.plot
	var xs, ys []float64
	for _, s := range p.Series {
		for _, point := range s.Points {
			// A point without a place on one axis does not stretch the other.
			if (scale{log: p.XLog}).takes(point.X) && (scale{log: p.YLog}).takes(point.Y) {
				xs, ys = append(xs, point.X), append(ys, point.Y)
			}
		}
	}
	d.top = margin
	if p.Title != "" {
		d.top += titleSize + 14
	}
	d.top += float64(len(p.Caption)) * lineHeight
	d.bottom = d.height - margin - textSize - 8
	if p.XLabel != "" {
		d.bottom -= textSize + 10
	}
	d.y = newScale(ys, p.YLog, d.bottom, d.top).fitZero().widen(6)
	d.yTicks = d.y.ticks(6, p.YText)
	d.left = margin + widest(d.yTicks) + 10
	if p.YLabel != "" {
		d.left += textSize + 10
	}
	d.right = d.width - margin
	if p.named() > 0 {
		names := 0.0
		for _, s := range p.Series {
			names = max(names, textWidth(plain(s.Name)))
		}
		d.right -= min(names+legendMark+24, d.width*0.35)
	}
	if len(p.XNames) > 0 {
		d.x = scale{low: -0.5, end: float64(len(p.XNames)) - 0.5, from: d.left, to: d.right}
		for i, name := range p.XNames {
			d.xTicks = append(d.xTicks, tick{float64(i), name})
		}
		return
	}
	d.x = newScale(xs, p.XLog, d.left, d.right)
	if !p.XLog {
		d.x = d.x.fitZero()
	}
	n := max(2, int((d.right-d.left)/90))
	d.x = d.x.widen(n)
	d.xTicks = d.x.ticks(n, p.XText)
}

// named counts the series that the legend shows.
func (p *Plot) named() (n int) {
	for _, s := range p.Series {
		if s.Name != "" {
			n++
		}
	}
	return n
}

// place returns where a point is, and false if it has no place.
func (d *drawing) place(p Point) (x, y float64, ok bool) {
	if !d.x.takes(p.X) || !d.y.takes(p.Y) {
		return 0, 0, false
	}
	x, y = d.x.at(p.X), d.y.at(p.Y)
	return x, y, !math.IsNaN(x) && !math.IsNaN(y)
}
