package console

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// exports are the files of the plots, by their endings.
var exports = map[string]func(*exported, io.Writer) error{".csv": (*exported).csv, ".json": (*exported).json,
	".svg": (*exported).svg}

// exported is a row whose plot, or all of it, is saved.
type exported struct {
	*view
	httpdoor.Past
	id    string // of figures; "": all of them
	lines []string
	title string
}

// export saves the points of a queue, or of all queues, as a file.
func (s *Console) export(w http.ResponseWriter, r *http.Request) {
	v := &view{Lang: language(r), Now: time.Now(), Path: r.URL.RequestURI(), site: s}
	ask := httpdoor.PastRequest{What: "all"}
	e := &exported{view: v, id: r.URL.Query().Get("of"), title: "hikyaku"}
	if name := r.PathValue("queue"); name != "" {
		e.title = r.PathValue("ns") + "/" + name
		ask = httpdoor.PastRequest{Of: []string{e.title}}
	}
	ending := path.Ext(r.URL.Path)
	if e.id == "" && ending == ".svg" {
		e.id = figures[0].id
	}
	for _, f := range figures {
		if e.id == "" || e.id == f.id {
			e.lines = append(e.lines, f.lines...)
		}
	}
	if len(e.lines) == 0 {
		s.show(w, r, notFound)
		return
	}
	var err error
	if e.Past, err = s.ask(r).Past(r.Context(), ask); err != nil {
		s.show(w, r, page{"problem", "The last 15 minutes", func(context.Context, *asking) (any, error) {
			return nil, err
		}})
		return
	}
	var b strings.Builder
	if err := exports[ending](e, &b); err != nil {
		s.broken(w, r, err)
		return
	}
	kind := types[ending]
	if kind == "" {
		kind = mime.TypeByExtension(ending)
	}
	file := strings.ReplaceAll(strings.Trim(e.title+"-"+e.id, "-"), "/", "-") + ending
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file}))
	_, _ = io.WriteString(w, b.String()) // who went away misses it
}

// moment is when a point is from.
func (e *exported) moment(i int) time.Time {
	return e.Time.Add(-time.Duration(float64(len(e.Rows[0].Values[e.lines[0]])-1-i) * e.Step * float64(time.Second)))
}

func (e *exported) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(append([]string{"time"}, e.lines...)); err != nil {
		return err
	}
	for i := range e.Rows[0].Values[e.lines[0]] {
		row := []string{e.moment(i).Format(time.RFC3339)}
		for _, line := range e.lines {
			text := ""
			if v := float64(e.Rows[0].Values[line][i]); !math.IsNaN(v) {
				text = strconv.FormatFloat(v, 'f', -1, 32)
			}
			row = append(row, text)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (e *exported) json(w io.Writer) error {
	row := httpdoor.PastRow{Name: e.Rows[0].Name, Values: map[string]httpdoor.Points{}}
	for _, line := range e.lines {
		row.Values[line] = e.Rows[0].Values[line]
	}
	return json.NewEncoder(w).Encode(httpdoor.Past{Time: e.Time, Step: e.Step, Rows: []httpdoor.PastRow{row}})
}

// svg draws a plot by itself, on white ground: it has no page that says which colours there are.
func (e *exported) svg(w io.Writer) error {
	p := measure.Plot{Title: e.title + ": " + e.titled(e.id), Caption: []string{e.Clock(e.Time)}, XLabel: "min",
		// A point that is not seen lets the axes begin 15 minutes ago, and at zero.
		Series: []measure.Series{{Style: measure.Lines,
			Points: []measure.Point{{X: e.moment(0).Sub(e.Time).Minutes()}}}}}
	if e.id == "oldest" {
		p.YText = func(s float64) string { return measure.Duration(time.Duration(s * float64(time.Second))) }
	}
	for i, line := range e.lines {
		s := measure.Series{Name: e.worded(line), Style: measure.Lines}
		if i > 0 {
			s.Style = measure.Dashes
		}
		values := e.Rows[0].Values[line].Floats()
		for k, v := range values {
			s.Points = append(s.Points, measure.Point{X: e.moment(k).Sub(e.Time).Minutes(), Y: v})
		}
		p.Caption = append(p.Caption, fmt.Sprintf("%s: %s", e.worded(line), e.told(line, e.Rows[0].Values[line])))
		p.Series = append(p.Series, s)
	}
	return p.WriteSVG(w)
}
