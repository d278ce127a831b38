package console

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// drawn is what a page shows of the last 15 minutes.
type drawn struct {
	Plots  []plot
	sparks map[string]httpdoor.Points // messages that waited, by the queue
}

// Drawn is itself, for templates.
func (d *drawn) Drawn() *drawn { return d }

// Sparks tells whether the queues of the page have small plots.
func (d *drawn) Sparks() bool { return d.sparks != nil }

// plot is a picture along the last 15 minutes.
type plot struct {
	ID    string // of figures
	At    string // the path of its exports below Base, up to the file
	Title string
	Top   string // what the upper end of the axis is
	Told  string // the picture in words, for those who do not see it
	Lines []plotLine
}

type plotLine struct {
	Word  string
	Class string // "a" or "b": colours and dashes
	Path  string
}

// figures are the plots of a queue or of all queues, with the values that each shows.
var figures = []struct {
	id    string
	lines []string // of httpdoor.PastLines
}{{"ready", []string{"ready"}}, {"rates", []string{"in", "out"}}, {"oldest", []string{"oldest_seconds"}}}

// titled is what a plot is called.
func (v *view) titled(id string) string {
	switch id {
	case "ready":
		return v.T("Messages that wait")
	case "rates":
		return v.T("In and out each second")
	}
	return v.T("Age of the oldest message")
}

// worded is what a line of a plot is called.
func (v *view) worded(line string) string {
	switch line {
	case "in":
		return v.T("in")
	case "out":
		return v.T("out")
	case "ready":
		return v.T("ready")
	}
	return v.T("oldest")
}

// valued is a value of a line for people.
func (v *view) valued(line string, value float64) string {
	switch {
	case math.IsNaN(value):
		return v.T("not known")
	case line == "ready":
		return v.Count(int64(value))
	case line == "oldest_seconds":
		return measure.Duration(time.Duration(value * float64(time.Second)))
	}
	return v.Rate(value)
}

// told is a line in words.
func (v *view) told(line string, p httpdoor.Points) string {
	now, least, most := p.Range()
	if math.IsNaN(most) {
		return v.T("nothing is known yet")
	}
	return v.T("now %s, at least %s, at most %s", v.valued(line, now), v.valued(line, least), v.valued(line, most))
}

// recall asks for the plots of all queues, and for the small ones of some. Who may not see the sum sees no plot of it.
func (d *drawn) recall(ctx context.Context, a *asking, queues []httpdoor.TopQueue) error {
	all, err := a.door.Past(ctx, httpdoor.PastRequest{What: "all"})
	if refused := new(httpdoor.Problem); err != nil && !errors.As(err, &refused) {
		return err
	} else if err == nil {
		d.Plots = a.plots("", all.Rows[0])
	}
	d.sparks = map[string]httpdoor.Points{}
	if len(queues) == 0 {
		return nil
	}
	names := make([]string, len(queues))
	for i, q := range queues {
		names[i] = q.Name
	}
	some, err := a.door.Past(ctx, httpdoor.PastRequest{Of: names})
	if gone := new(httpdoor.Problem); errors.As(err, &gone) {
		return nil // one of them, since: the next look knows
	}
	for _, row := range some.Rows {
		d.sparks[row.Name] = row.Values["ready"]
	}
	return err
}

// plots are those of a row.
func (v *view) plots(at string, row httpdoor.PastRow) []plot {
	all := make([]plot, 0, len(figures))
	for _, f := range figures {
		p := plot{ID: f.id, At: at, Title: v.titled(f.id)}
		highest := 0.0
		for _, line := range f.lines {
			if _, _, most := row.Values[line].Range(); most > highest {
				highest = most
			}
		}
		var top float64
		top, p.Top = roundTop(f.id, highest)
		var told []string
		for i, line := range f.lines {
			values := row.Values[line]
			p.Lines = append(p.Lines, plotLine{Word: v.worded(line), Class: string(rune('a' + i)),
				Path: curve(values.Floats(), top, plotLeft, plotRight, plotTop, plotBottom)})
			told = append(told, v.worded(line)+": "+v.told(line, values))
		}
		p.Told = strings.Join(told, "; ")
		all = append(all, p)
	}
	return all
}

// Where the curves of web/past.html are in their pictures.
const (
	plotLeft, plotRight, plotTop, plotBottom = 56, 396, 10, 100
	sparkWidth, sparkHeight                  = 90, 20
	sparkPoints                              = 60
)

// curve is the path of values from zero to top. Where values are NaN it has a gap; one between two gaps is a dot.
func curve(values []float64, top, left, right, upper, lower float64) string {
	var path []byte
	at := func(mark byte, place float64) {
		path = strconv.AppendFloat(append(path, mark), math.Round(place*10)/10, 'f', -1, 64)
	}
	open := false
	for i, v := range values {
		if math.IsNaN(v) {
			open = false
			continue
		}
		pen := byte('L')
		if !open {
			pen = 'M'
		}
		at(pen, left+(right-left)*float64(i)/float64(len(values)-1))
		at(' ', lower-(lower-upper)*min(v/top, 1))
		if !open && (i+1 == len(values) || math.IsNaN(values[i+1])) {
			path = append(path, "h0"...)
		}
		open = true
	}
	return string(path)
}

// Spark is the small plot of the messages that waited in a queue.
func (v *view) Spark(d *drawn, queue string) template.HTML {
	points := d.sparks[queue]
	_, _, most := points.Range()
	few := make([]float64, min(len(points), sparkPoints))
	for i := range few {
		_, _, few[i] = points[i*len(points)/len(few) : (i+1)*len(points)/len(few)].Range()
	}
	words := v.Attr("aria-label", v.T("ready")+": "+v.told("ready", points))
	line := v.Attr("d", curve(few, max(most, 1), 1, sparkWidth-1, 2, sparkHeight-2))
	return template.HTML(fmt.Sprintf(`<svg class="spark" viewBox="0 0 %d %d" role="img" %s><path class="line a" %s/></svg>`,
		sparkWidth, sparkHeight, words, line))
}

// Desc is the text of a picture, which changes.
func (v *view) Desc(id, text string) template.HTML {
	return template.HTML(`<desc id="` + id + `" ` + v.cell(text) + `>` + place + `</desc>`)
}

// roundTop is a round number that is not below a value, and how people write it.
func roundTop(id string, value float64) (top float64, text string) {
	if id == "oldest" {
		return roundTime(value)
	}
	if value <= 0 {
		value = 1
	}
	power := math.Pow(10, math.Floor(math.Log10(value)))
	for _, m := range []float64{1, 2, 5, 10} {
		if top = m * power; top >= value {
			break
		}
	}
	if id == "ready" {
		top = max(top, 1)
	}
	if text = strconv.FormatFloat(top, 'f', -1, 64); top >= 1000 {
		text = measure.Number(top)
	}
	if id == "rates" {
		text += "/s"
	}
	return top, text
}

func roundTime(seconds float64) (top float64, text string) {
	for _, u := range []struct {
		size  float64
		name  string
		steps []float64
	}{{1e-3, "ms", []float64{1, 2, 5, 10, 20, 50, 100, 200, 500}}, {1, "s", []float64{1, 2, 5, 10, 20, 30}},
		{60, "min", []float64{1, 2, 5, 10, 20, 30}}, {3600, "h", []float64{1, 2, 6, 12}}} {
		for _, m := range u.steps {
			if top = m * u.size; top >= seconds {
				return top, strconv.FormatFloat(m, 'f', -1, 64) + " " + u.name
			}
		}
	}
	days, text := roundTop("ready", seconds/86400)
	return days * 86400, text + " d"
}
