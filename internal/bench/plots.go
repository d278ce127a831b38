package bench

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// writePlots draws the queue bench: rates and latencies of every work, ours and the limit's, over the works.
func writePlots(dir string, b *measure.BenchReport) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for plots: %w", err)
	}
	rates := &measure.Plot{Title: "Durable messages a second", YLabel: "messages/s", YLog: true}
	times := &measure.Plot{Title: "Time of a durable call", YLabel: "ms", YLog: true}
	starts := &measure.Plot{Title: "Time of a start", XLabel: "waiting messages", YLabel: "ms", XLog: true, YLog: true}
	for _, r := range b.Rows {
		if r.Get("work") == "restart" {
			name := fmt.Sprintf("%v, %v", r.Get("case"), r.Get("start"))
			addPoint(starts, name, styleOf(r), number(r, "depth"), number(r, "p50_ms"))
			continue
		}
		x := place(rates, label(r))
		place(times, label(r))
		addPoint(rates, fmt.Sprint(r.Get("case")), measure.Marks, x, number(r, "per_s"))
		for _, q := range []string{"p50", "p99"} {
			addPoint(times, fmt.Sprintf("%v %s", r.Get("case"), q), measure.Marks, x, number(r, q+"_ms"))
		}
	}
	for name, p := range map[string]*measure.Plot{"queue-rates.svg": rates, "queue-latencies.svg": times, "queue-restart.svg": starts} {
		p.Width = 1100
		if err := writePlot(filepath.Join(dir, name), p); err != nil {
			return err
		}
	}
	return nil
}

// label names a work on an axis.
func label(r *measure.Row) string {
	s := fmt.Sprintf("%v %v", r.Get("work"), r.Get("writers"))
	if c := r.Get("condition"); c != nil {
		s = fmt.Sprintf("%v %v", c, measure.Count(int64(number(r, "depth"))))
	}
	return s
}

func styleOf(r *measure.Row) measure.Style {
	if r.Get("case") == caseLimit {
		return measure.Dashes
	}
	return measure.LineMarks
}

func number(r *measure.Row, name string) float64 {
	f, _ := r.Number(name)
	return f
}

// place returns where a name stands on the plot's axis, at its end if it is new.
func place(p *measure.Plot, name string) float64 {
	for i, n := range p.XNames {
		if n == name {
			return float64(i)
		}
	}
	p.XNames = append(p.XNames, name)
	return float64(len(p.XNames) - 1)
}

// addPoint adds a point to the series of that name, which is made when there is none.
func addPoint(p *measure.Plot, series string, style measure.Style, x, y float64) {
	for i := range p.Series {
		if p.Series[i].Name == series {
			p.Series[i].Points = append(p.Series[i].Points, measure.Point{X: x, Y: y})
			return
		}
	}
	p.Series = append(p.Series, measure.Series{Name: series, Style: style, Points: []measure.Point{{X: x, Y: y}}})
}

func writePlot(name string, p *measure.Plot) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write a plot: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	if err := p.WriteSVG(f); err != nil {
		return fmt.Errorf("write plot %s: %w", name, err)
	}
	return nil
}
