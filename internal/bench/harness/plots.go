package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// A picture shows some works of a report. draw adds what a row has to say.
type Picture struct {
	File  string
	Plot  measure.Plot
	Works []string
	Draw  func(p *measure.Plot, r *measure.Row)
	Bare  bool // no caption, because what is asked for is shown elsewhere
}

// WritePlots draws the pictures for which there is something in the report, with the numbers asked for below their
// titles.
func (v View) WritePlots(dir string, b *measure.BenchReport) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for plots: %w", err)
	}
	for _, p := range v.Pictures {
		rows := 0
		for _, r := range b.Rows {
			if work, _ := r.Get("work").(string); slices.Contains(p.Works, work) {
				rows++
				p.Draw(&p.Plot, r)
				if !p.Bare {
					v.Caption(&p.Plot, r)
				}
			}
		}
		if rows == 0 {
			continue
		}
		p.Plot.Width = 1000
		if err := WritePlot(filepath.Join(dir, p.File), &p.Plot); err != nil {
			return err
		}
	}
	return nil
}

// Caption adds what is asked of a row, what was measured and whether that will do.
func (v View) Caption(p *measure.Plot, r *measure.Row) {
	asked, _ := r.Get("asked").(string)
	if asked == "" {
		return
	}
	var found []string
	for _, s := range shown {
		if v, ok := r.Number(s.name); ok && strings.Contains(asked, s.heading+" ") {
			found = append(found, s.heading+" "+measure.Number(v))
		}
	}
	line := fmt.Sprintf("%s: asked %s; measured %s", v.Label(r), asked, strings.Join(found, ", "))
	if met, _ := r.Get("met").(string); met != "" {
		line += "; met: " + met
	}
	p.Caption = append(p.Caption, line)
}

// Number is a value of a row; 0 if it has none of that name.
func Number(r *measure.Row, name string) float64 {
	f, _ := r.Number(name)
	return f
}

// Place returns where a name stands on the plot's axis, at its end if it is new.
func Place(p *measure.Plot, name string) float64 {
	for i, n := range p.XNames {
		if n == name {
			return float64(i)
		}
	}
	p.XNames = append(p.XNames, name)
	return float64(len(p.XNames) - 1)
}

// AddPoint adds a point to the series of that name, which is made when there is none.
func AddPoint(p *measure.Plot, series string, style measure.Style, x, y float64) {
	for i := range p.Series {
		if p.Series[i].Name == series {
			p.Series[i].Points = append(p.Series[i].Points, measure.Point{X: x, Y: y})
			return
		}
	}
	p.Series = append(p.Series, measure.Series{Name: series, Style: style, Points: []measure.Point{{X: x, Y: y}}})
}

// WritePlot writes a plot into a file, which is replaced.
func WritePlot(name string, p *measure.Plot) (err error) {
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
