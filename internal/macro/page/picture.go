package page

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/pace"
)

// The measures of the timeline, in the picture's own units.
const (
	rowHeight  = 22
	nameWidth  = 62
	wholeWidth = 640
	axisHeight = 24
	maxBars    = 4000 // of a picture; what comes after them is left out, and said
)

// row is a line of the timeline: an input, or the direction pad.
type row struct {
	name  string
	input macro.Input
	pad   bool
}

// rowsOf are the inputs that a track uses, in the order of the names.
func rowsOf(track []macro.Step) (rows []row) {
	var used macro.State
	pointed := false
	for i := range track {
		s := &track[i].State
		for in := range s {
			if s[in] != 0 {
				used[in] = 1
			}
		}
		pointed = pointed || used[macro.Up]|used[macro.Down]|used[macro.Left]|used[macro.Right] != 0
	}
	if pointed {
		rows = append(rows, row{name: "pad", pad: true})
	}
	for in := range macro.Input(macro.Inputs) {
		if used[in] != 0 && (in < macro.Up || in > macro.Right) {
			rows = append(rows, row{name: macro.Name(in), input: in})
		}
	}
	return rows
}

// arrows are the directions of the number pad.
var arrows = [10]string{1: "↙", 2: "↓", 3: "↘", 4: "←", 6: "→", 7: "↖", 8: "↑", 9: "↗"}

// Timeline draws a script as SVG: a row for each input that a player uses, and bars where it is pressed. Colours come
// from the page's style sheet.
func Timeline(s *macro.Script, rate pace.Rate) string {
	frames := s.Frames()
	if frames == 0 {
		return ""
	}
	t := timeline{scale: float64(wholeWidth-nameWidth-10) / float64(frames), y: axisHeight}
	for _, player := range s.Players() {
		t.player(player, s.Tracks[player-1])
	}
	height := t.y + 4
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s" data-begin="%d" data-end="%.1f">`,
		wholeWidth, height, html.EscapeString(describe(s, rate)), nameWidth, t.x(frames))
	t.ruler(&b, frames, height)
	b.WriteString(t.String())
	b.WriteString("</svg>")
	return b.String()
}

// timeline is a picture that is being drawn.
type timeline struct {
	strings.Builder
	scale float64 // units a frame
	y     int
	bars  int
}

func (t *timeline) x(frame int64) float64 { return nameWidth + float64(frame)*t.scale }

// ruler draws lines at round numbers of frames.
func (t *timeline) ruler(b *strings.Builder, frames int64, height int) {
	step := int64(1)
	for _, by := range []int64{2, 5, 10} {
		for unit := int64(1); ; unit *= 10 {
			if float64(by*unit)*t.scale >= 48 {
				if step == 1 && t.scale < 48 || by*unit < step {
					step = by * unit
				}
				break
			}
		}
	}
	for f := int64(0); f <= frames; f += step {
		fmt.Fprintf(b, `<path class="rule" d="M%.1f 16V%d"/><text class="rule" x="%.1f" y="12">%d</text>`, t.x(f),
			height, t.x(f)+2, f)
	}
}

// player draws the rows of a player.
func (t *timeline) player(player int, track []macro.Step) {
	for _, r := range rowsOf(track) {
		fmt.Fprintf(t, `<text class="name" x="2" y="%d">P%d %s</text>`, t.y+15, player, r.name)
		at := int64(0)
		for i := 0; i < len(track); {
			label, on := r.mark(&track[i].State)
			begin := at
			for i < len(track) { // what goes on through several steps is one bar
				next, still := r.mark(&track[i].State)
				if next != label || still != on {
					break
				}
				at += int64(track[i].Frames)
				i++
			}
			if on {
				t.bar(player, label, begin, at)
			}
		}
		t.y += rowHeight
	}
}

// mark is what a row shows of a state; on is whether it shows anything.
func (r *row) mark(s *macro.State) (label string, on bool) {
	if r.pad {
		digit, ok := s.Direction()
		if !ok {
			return "✛", true
		}
		return arrows[digit], digit != 5
	}
	if v := s[r.input]; v != 100 {
		return fmt.Sprint(v), v != 0
	}
	return "", true
}

func (t *timeline) bar(player int, label string, from, to int64) {
	if t.bars++; t.bars > maxBars {
		return
	}
	width := max(float64(to-from)*t.scale-0.6, 0.6)
	fmt.Fprintf(t, `<rect class="p%d" x="%.1f" y="%d" width="%.1f" height="%d" rx="2"><title>%s</title></rect>`, player,
		t.x(from), t.y+3, width, rowHeight-5,
		html.EscapeString(fmt.Sprintf("frames %d to %d: %d", from, to-1, to-from)))
	if label != "" && width >= 10 {
		fmt.Fprintf(t, `<text class="bar" x="%.1f" y="%d">%s</text>`, t.x(from)+width/2, t.y+16, label)
	}
}

// describe is the timeline in words.
func describe(s *macro.Script, rate pace.Rate) string {
	steps := 0
	for _, t := range s.Tracks {
		steps += len(t)
	}
	players := "player 1"
	switch all := s.Players(); {
	case len(all) > 1:
		players = "both players"
	case len(all) == 1:
		players = fmt.Sprintf("player %d", all[0])
	}
	return fmt.Sprintf("%d frames, %.2f seconds, %d states for %s", s.Frames(), rate.Deadline(s.Frames()).Seconds(),
		steps, players)
}

// latenessPicture draws a histogram of lateness as SVG. Its bins are as wide as those before them together: 1, 2, 4, …
// microseconds.
func latenessPicture(h *pace.Histogram) string {
	const bins, barWidth, height = 18, 50, 120
	var count [bins]int64
	var most int64
	last := 0
	h.Each(func(from, _ time.Duration, n int64) bool {
		i := 0
		if us := float64(from) / float64(time.Microsecond); us >= 1 {
			i = min(bins-1, int(math.Log2(us))+1)
		}
		count[i] += n
		most, last = max(most, count[i]), max(last, i)
		return true
	})
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`,
		(last+1)*barWidth+8, height+40, html.EscapeString("lateness of the frames: "+h.String()))
	for i := range last + 1 {
		tall := 0.0
		if most > 0 {
			tall = float64(count[i]) / float64(most) * (height - 16)
		}
		if count[i] > 0 {
			tall = max(tall, 1)
		}
		x := 4 + i*barWidth
		limit := time.Duration(1<<i) * time.Microsecond
		between, label := fmt.Sprintf("from %s to %s", limit/2, limit), "<"+short(limit)
		switch i {
		case 0:
			between = "less than " + limit.String()
		case bins - 1:
			between, label = fmt.Sprintf("%s or more", limit/2), "≥"+short(limit/2)
		}
		fmt.Fprintf(&b,
			`<rect class="late" x="%d" y="%.1f" width="%d" height="%.1f"><title>%d frames: %s late</title></rect>`, x+1,
			height-tall, barWidth-2, tall, count[i], between)
		if count[i] > 0 {
			fmt.Fprintf(&b, `<text class="count tally" x="%d" y="%.1f">%d</text>`, x+barWidth/2, height-tall-3,
				count[i])
		}
		fmt.Fprintf(&b, `<text class="count" x="%d" y="%d">%s</text>`, x+barWidth/2, height+16,
			html.EscapeString(label))
	}
	b.WriteString("</svg>")
	return b.String()
}

// short writes a power of two of microseconds in few letters.
func short(d time.Duration) string {
	if d >= time.Millisecond {
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%d µs", d/time.Microsecond)
}
