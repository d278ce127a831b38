package measure

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const manyMarks = 60 // a line with more points is drawn without marks

func (d *drawing) put(format string, args ...any) { fmt.Fprintf(&d.out, format+"\n", args...) }

// xmlText escapes a text for content and attributes; what XML cannot hold becomes U+FFFD.
func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(plain(s))) // a Builder takes everything
	return b.String()
}

// px writes a place in the picture, to a tenth of a pixel.
func px(f float64) string {
	s := strconv.FormatFloat(f, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

func (d *drawing) begin() {
	p := d.plot
	d.put(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img"`+
		` font-family="system-ui, 'Noto Sans', 'Noto Sans CJK JP', 'Hiragino Sans', 'Yu Gothic UI', sans-serif" font-size="%d" fill="#222">`,
		px(d.width), px(d.height), px(d.width), px(d.height), textSize)
	if p.Title != "" {
		d.put(`<title>%s</title>`, xmlText(p.Title))
	}
	d.put(`<rect width="100%%" height="100%%" fill="#fff"/>`)
	if p.Title != "" {
		d.put(`<text x="%s" y="%d" font-size="%d" font-weight="bold">%s</text>`, px(margin), margin+titleSize-3,
			titleSize, xmlText(cut(plain(p.Title), int(d.width/9.6))))
	}
}

// caption stands between the title and the area.
func (d *drawing) caption() {
	first := d.top - float64(len(d.plot.Caption))*lineHeight
	for i, line := range d.plot.Caption {
		d.put(`<text x="%s" y="%s" fill="#555">%s</text>`, px(margin), px(first+float64(i)*lineHeight+2),
			xmlText(cut(plain(line), int(d.width/cellWidth)-4)))
	}
}

func (d *drawing) end() { d.put(`</svg>`) }

func (d *drawing) axes() {
	p := d.plot
	d.put(`<g stroke="#ddd" stroke-width="1">`)
	for _, t := range d.yTicks {
		d.put(`<path d="M%s %sH%s"%s/>`, px(d.left), px(d.y.at(t.value)), px(d.right), faint(t))
	}
	for _, t := range d.xTicks {
		d.put(`<path d="M%s %sV%s"%s/>`, px(d.x.at(t.value)), px(d.top), px(d.bottom), faint(t))
	}
	d.put(`</g>`)
	d.put(`<path d="M%s %sV%sH%s" fill="none" stroke="#444"/>`, px(d.left), px(d.top), px(d.bottom), px(d.right))
	d.put(`<g text-anchor="end">`)
	for _, t := range d.yTicks {
		if t.text != "" {
			d.put(`<text x="%s" y="%s">%s</text>`, px(d.left-8), px(d.y.at(t.value)+textSize*0.35), xmlText(t.text))
		}
	}
	d.put(`</g>`)
	d.put(`<g text-anchor="middle">`)
	free := math.Inf(-1) // where the next text may begin
	for _, t := range d.xTicks {
		x, half := d.x.at(t.value), textWidth(t.text)/2
		if t.text == "" || x-half < free {
			continue
		}
		free = x + half + 6
		d.put(`<text x="%s" y="%s">%s</text>`, px(x), px(d.bottom+textSize+6), xmlText(t.text))
	}
	if p.XLabel != "" {
		d.put(`<text x="%s" y="%s">%s</text>`, px((d.left+d.right)/2), px(d.height-margin+2), xmlText(p.XLabel))
	}
	if p.YLabel != "" {
		x, y := px(margin+textSize/2), px((d.top+d.bottom)/2)
		d.put(`<text x="%s" y="%s" transform="rotate(-90 %s %s)">%s</text>`, x, y, x, y, xmlText(p.YLabel))
	}
	d.put(`</g>`)
}

func faint(t tick) string {
	if t.text == "" {
		return ` stroke="#f1f1f1"`
	}
	return ""
}

func colour(i int) string { return colours[i%len(colours)] }

func (d *drawing) series(i int) {
	s := d.plot.Series[i]
	d.put(`<g stroke="%s" fill="%s">`, colour(i), colour(i))
	if s.Style != Marks {
		d.line(s)
	}
	if s.Style == Marks || s.Style == LineMarks && len(s.Points) <= manyMarks {
		d.marks(i, s)
	}
	d.put(`</g>`)
}

// line draws runs of points. A run of points within the same pixel column is drawn as its first, lowest, highest and
// last point: it looks the same, and a million points do not make a picture of a hundred megabytes.
func (d *drawing) line(s Series) {
	var path strings.Builder
	var column []Point
	pen := byte('M')
	to := func(p Point) {
		path.WriteByte(pen)
		path.WriteString(px(p.X) + " " + px(p.Y))
		pen = 'L'
	}
	flush := func() {
		if len(column) <= 4 {
			for _, p := range column {
				to(p)
			}
		} else {
			low, high := 0, 0
			for i, p := range column {
				if p.Y < column[low].Y {
					low = i
				}
				if p.Y > column[high].Y {
					high = i
				}
			}
			to(column[0])
			to(column[min(low, high)])
			to(column[max(low, high)])
			to(column[len(column)-1])
		}
		column = column[:0]
	}
	for _, p := range s.Points {
		x, y, ok := d.place(p)
		if len(column) > 0 && (!ok || math.Floor(column[0].X) != math.Floor(x)) {
			flush()
		}
		if !ok {
			pen = 'M'
			continue
		}
		column = append(column, Point{x, y})
	}
	flush()
	if path.Len() == 0 {
		return
	}
	dash := ""
	if s.Style == Dashes {
		dash = ` stroke-dasharray="7 5"`
	}
	d.put(`<path d="%s" fill="none" stroke-width="2" stroke-linejoin="round"%s/>`, path.String(), dash)
}

// marks draws a mark a point, one where several fall on the same half pixel.
func (d *drawing) marks(i int, s Series) {
	drawn := make(map[[2]int]bool)
	for _, p := range s.Points {
		x, y, ok := d.place(p)
		at := [2]int{int(2 * x), int(2 * y)}
		if ok && !drawn[at] {
			drawn[at] = true
			d.mark(i, x, y)
		}
	}
}

// mark draws the i-th series' mark. The shapes differ so that series can be told apart without colours.
func (d *drawing) mark(i int, x, y float64) {
	switch i % 4 {
	case 0:
		d.put(`<circle cx="%s" cy="%s" r="3.5"/>`, px(x), px(y))
	case 1:
		d.put(`<path d="M%s %sh7v7h-7z"/>`, px(x-3.5), px(y-3.5))
	case 2:
		d.put(`<path d="M%s %sl4.5 8h-9z"/>`, px(x), px(y-5))
	default:
		d.put(`<path d="M%s %sl4.5 4.5l-4.5 4.5l-4.5 -4.5z"/>`, px(x), px(y-4.5))
	}
}

// legend stands to the right of the area, where it never hides a point.
func (d *drawing) legend() {
	y := d.top + textSize
	room := int(math.Round((d.width - margin - d.right - legendMark - 24) / cellWidth))
	for i, s := range d.plot.Series {
		if s.Name == "" {
			continue
		}
		x, middle := d.right+18, y-textSize*0.35
		d.put(`<g stroke="%s" fill="%s">`, colour(i), colour(i))
		switch s.Style {
		case Dashes:
			d.put(`<path d="M%s %sh%d" stroke-width="2" stroke-dasharray="7 5"/>`, px(x), px(middle), legendMark-4)
		case Lines, LineMarks:
			d.put(`<path d="M%s %sh%d" stroke-width="2"/>`, px(x), px(middle), legendMark-4)
		}
		if s.Style == Marks || s.Style == LineMarks {
			d.mark(i, x+(legendMark-4)/2, middle)
		}
		d.put(`</g>`)
		d.put(`<text x="%s" y="%s">%s</text>`, px(x+legendMark+2), px(y), xmlText(cut(plain(s.Name), max(room, 4))))
		y += textSize + 9
	}
}
