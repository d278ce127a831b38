package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// A picture shows some works of a report. draw adds what a row has to say.
type picture struct {
	file  string
	plot  measure.Plot
	works []string
	draw  func(p *measure.Plot, r *measure.Row)
	bare  bool // no caption, because what is asked for is shown elsewhere
}

// pictures are all that there are.
func pictures() []picture {
	puts, claims := []string{"put", "put-group", "put-pipelined"}, []string{"claim", "claim-where"}
	return append([]picture{
		{"queue-rates.svg", measure.Plot{Title: "Durable puts a second", YLabel: "messages/s", YLog: true}, puts,
			drawRate, false},
		{"queue-latencies.svg", measure.Plot{Title: "Time of a durable put", YLabel: "ms", YLog: true}, puts, drawTimes,
			true},
		{"queue-claims.svg", measure.Plot{Title: "Messages claimed and durably settled a second", YLabel: "messages/s",
			YLog: true}, claims, drawRate, false},
		{"queue-depth.svg", measure.Plot{
			Title: "A claim by condition, by share of matches", XLabel: "messages that match", YLabel: "µs", YLog: true,
		}, []string{"claim-deep"}, drawDepth, false},
		{"queue-hand-over.svg", measure.Plot{
			Title: "From durable to the reader that waits", XLabel: "other readers that wait", YLabel: "ms", YLog: true,
		}, []string{workHandOver}, drawHandOver, false},
		{"queue-restart.svg", measure.Plot{Title: "Time of a start", XLabel: "waiting messages", YLabel: "ms",
			XLog: true, YLog: true}, []string{"restart"}, drawStart, false},
		{"queue-memory.svg", measure.Plot{Title: "Memory with messages waiting", YLabel: "MB"}, []string{"memory"},
			drawMemory, false},
		{"queue-cleaning.svg", measure.Plot{Title: "Time of a durable put while the store is cleaned", YLabel: "ms",
			YLog: true}, []string{"cleaning"}, drawCleaning, false},
	}, slices.Concat(q4mPictures(), publishPictures(), pushPictures(), sqsPictures(), flowPictures(), sinkPictures(),
		pacePictures(), functionPictures())...)
}

// writePlots draws the pictures for which there is something in the report, with the numbers asked for below their
// titles.
func writePlots(dir string, b *measure.BenchReport) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for plots: %w", err)
	}
	for _, p := range pictures() {
		if !strings.HasPrefix(p.file, b.Bench+"-") {
			continue // works of two benches may have the same name
		}
		rows := 0
		for _, r := range b.Rows {
			if work, _ := r.Get("work").(string); slices.Contains(p.works, work) {
				rows++
				p.draw(&p.plot, r)
				if !p.bare {
					caption(&p.plot, r)
				}
			}
		}
		if rows == 0 {
			continue
		}
		p.plot.Width = 1000
		if err := writePlot(filepath.Join(dir, p.file), &p.plot); err != nil {
			return err
		}
	}
	return nil
}

// caption adds what is asked of a row, what was measured and whether that will do.
func caption(p *measure.Plot, r *measure.Row) {
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
	line := fmt.Sprintf("%s: asked %s; measured %s", nameOf(r), asked, strings.Join(found, ", "))
	if met, _ := r.Get("met").(string); met != "" {
		line += "; met: " + met
	}
	p.Caption = append(p.Caption, line)
}

// nameOf names a row's work and what tells it apart.
func nameOf(r *measure.Row) string {
	depth := measure.Count(int64(number(r, "depth")))
	switch work := r.Get("work"); work {
	case "claim-deep":
		return fmt.Sprintf("%v, %v of %s", work, r.Get("matching"), depth)
	case "restart":
		return fmt.Sprintf("%v with %s, %v", work, depth, r.Get("start"))
	case "memory":
		return fmt.Sprintf("%v with %s, %v indexes", work, depth, r.Get("indexes"))
	case workHandOver:
		return fmt.Sprintf("%v, %v others", work, measure.Count(int64(number(r, "waiters"))))
	case workTakeSince, workTakeBefore, workInsert, workCompacting:
		return q4mLabel(r)
	case workHandOff:
		return fmt.Sprintf("%v, %v waiting", r.Get("case"), r.Get("waiters"))
	case workFlatOut:
		return publishLabel(r)
	case workSeed, workSteady, workDurable, workTail, workReceipts, workCampaign:
		return pushLabel(r)
	case workIdle, workBusy, workEngine, workDrift, workPacedSink, workNotBefore:
		return fmt.Sprintf("%v, %v", work, r.Get("case"))
	case workStudents, workUsersSQLite, workUsersPostgres, workOverhead:
		return fmt.Sprintf("%v, %v", work, r.Get("case"))
	default:
		if name, _ := work.(string); isSinkWork(name) {
			return name
		}
		return label(r)
	}
}

func drawRate(p *measure.Plot, r *measure.Row) {
	addPoint(p, fmt.Sprint(r.Get("case")), measure.Marks, place(p, label(r)), number(r, "per_s"))
}

func drawTimes(p *measure.Plot, r *measure.Row) {
	if c := r.Get("case"); c != caseOurs && c != caseLimit {
		return // what they write at once is something else
	}
	x := place(p, label(r))
	for _, q := range []string{"p50", "p99"} {
		addPoint(p, fmt.Sprintf("%v %s", r.Get("case"), q), measure.Marks, x, number(r, q+"_ms"))
	}
}

func drawDepth(p *measure.Plot, r *measure.Row) {
	x, depth := place(p, fmt.Sprint(r.Get("matching"))), measure.Count(int64(number(r, "depth")))
	addPoint(p, "with settling, p50 at "+depth, measure.LineMarks, x, 1000*number(r, "p50_ms"))
	addPoint(p, "looking, p50 at "+depth, measure.LineMarks, x, number(r, "look_p50_us"))
	addPoint(p, "looking, p99 at "+depth, measure.LineMarks, x, number(r, "look_p99_us"))
}

func drawHandOver(p *measure.Plot, r *measure.Row) {
	place(p, "0") // first, though it is reported last
	x := place(p, measure.Count(int64(number(r, "waiters"))))
	for _, q := range []string{"p50", "p99", "max"} {
		addPoint(p, q, measure.Marks, x, number(r, q+"_ms"))
	}
}

func drawStart(p *measure.Plot, r *measure.Row) {
	style := measure.LineMarks
	switch {
	case r.Get("start") == startKilled:
		style = measure.Marks // there is one only
	case r.Get("case") == caseLimit:
		style = measure.Dashes
	}
	addPoint(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("start")), style, number(r, "depth"), number(r, "p50_ms"))
}

func drawMemory(p *measure.Plot, r *measure.Row) {
	name := "bare"
	if n := int(number(r, "indexes")); n > 0 {
		name = fmt.Sprintf("%d indexed columns", n)
	}
	x := place(p, name)
	addPoint(p, "resident", measure.Marks, x, number(r, "rss_mb"))
	addPoint(p, "heap", measure.Marks, x, number(r, "heap_mb"))
	addPoint(p, "resident, empty", measure.Marks, x, number(r, "empty_rss_mb"))
}

func drawCleaning(p *measure.Plot, r *measure.Row) {
	name := fmt.Sprintf("%v, %v at once", r.Get("case"), r.Get("writers"))
	for _, q := range [...]struct{ name, value string }{{"p50", "p50_ms"}, {"p99", "p99_ms"}, {"p99.9", "p999_ms"},
		{"max", "max_ms"}} {
		addPoint(p, name, measure.LineMarks, place(p, q.name), number(r, q.value))
	}
}

// label names a work on an axis.
func label(r *measure.Row) string {
	if c := r.Get("condition"); c != nil {
		return fmt.Sprintf("%v %v", c, measure.Count(int64(number(r, "depth"))))
	}
	return fmt.Sprintf("%v %v", r.Get("work"), r.Get("writers"))
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
