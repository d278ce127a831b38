package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// Comparison holds one bench of two programs side by side: of two versions of hikyaku. In each round both run it once,
// and which is first changes, so that what slows the machine down for a while slows both.
type Comparison struct {
	Before, Now []string // the commands to which Args are added: a program, bench
	Args        []string // the name of a bench and its flags
	Rounds      int      // at least MinRounds
	AtMost      float64  // fail when a figure is worse by more percent than so many; 0: never
	JSON        bool     // one JSON object instead of tables
	Out         io.Writer
	Progress    io.Writer // gets a line a run, usually stderr; nil: nowhere
}

// MinRounds is with how many rounds there are quartiles.
const MinRounds = 3

// ErrWorse is that of figures which are worse by more than Comparison.AtMost.
var ErrWorse = errors.New("figures are worse than before")

// Run measures and writes how each figure has changed. It ends early, with ctx's error, when ctx ends: then it writes
// what the rounds say that were done, if they are enough. Rows that only one program has are told in a note.
func (c Comparison) Run(ctx context.Context) error {
	if c.Rounds < MinRounds {
		return fmt.Errorf("%d rounds are too few to tell a change from noise: choose %d or more", c.Rounds, MinRounds)
	}
	var before, now []map[place]float64
	var order []place
	failed := c.measure(ctx, &before, &now, &order)
	done := min(len(before), len(now))
	if failed != nil && (ctx.Err() == nil || done < MinRounds) {
		return failed
	}
	r, worse := c.changes(order, before[:done], now[:done])
	if failed != nil {
		r.Note(fmt.Sprintf("it was ended early, after %d of %d rounds", done, c.Rounds))
	}
	if err := errors.Join(c.write(r), failed); err != nil {
		return err
	}
	if len(worse) > 0 {
		return fmt.Errorf("%w: %d by more than %v %%: %s", ErrWorse, len(worse), c.AtMost, strings.Join(worse, "; "))
	}
	return nil
}

// measure does the rounds and adds what they found.
func (c Comparison) measure(ctx context.Context, before, now *[]map[place]float64, order *[]place) error {
	for round := range c.Rounds {
		sides := []struct {
			command []string
			got     *[]map[place]float64
		}{{c.Before, before}, {c.Now, now}}
		if round%2 == 1 {
			slices.Reverse(sides)
		}
		for _, s := range sides {
			if c.Progress != nil {
				fmt.Fprintf(c.Progress, "round %d of %d: %s %s\n", round+1, c.Rounds, strings.Join(s.command, " "),
					strings.Join(c.Args, " "))
			}
			r, err := c.once(ctx, s.command)
			if err != nil {
				return err
			}
			*s.got = append(*s.got, figuresOf(r, order))
		}
	}
	return nil
}

// once runs the bench of one program.
func (c Comparison) once(ctx context.Context, command []string) (r *measure.BenchReport, err error) {
	args := slices.Concat(command[1:], c.Args, []string{"--json"})
	cmd := exec.CommandContext(ctx, command[0], args...)
	harness.OwnGroup(cmd) // a bench has processes of its own
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("run %s %s: %w: %s", command[0], strings.Join(args, " "), err,
			strings.TrimSpace(complaint.String()))
	}
	r = new(measure.BenchReport)
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		return nil, fmt.Errorf("read what %s %s says: %w", command[0], strings.Join(args, " "), err)
	}
	return r, nil
}

// place is where a figure stands in the reports of a bench.
type place struct {
	work, variant string
	with          string // the other texts of its row
	nth           int    // of the rows with these texts
	figure        string
}

// about are texts of a row that tell of its figures, and do not tell it apart.
var about = []string{"work", "case", "asked", "because"}

// figuresOf are those of a report. The places that order does not have yet are added.
func figuresOf(r *measure.BenchReport, order *[]place) map[place]float64 {
	seen, figures := map[place]int{}, map[place]float64{}
	for _, row := range r.Rows {
		var p place
		p.work, _ = row.Get("work").(string)
		p.variant, _ = row.Get("case").(string)
		var with []string
		for _, name := range row.Names() {
			if text, is := row.Get(name).(string); is && text != "" && !slices.Contains(about, name) {
				with = append(with, text)
			}
		}
		p.with = strings.Join(with, ", ")
		seen[p]++
		p.nth = seen[p]
		for _, name := range row.Names() {
			value, is := row.Number(name)
			if _, known := better(name); !is || !known || value <= 0 {
				continue
			}
			at := p
			at.figure = name
			if figures[at] = value; !slices.Contains(*order, at) {
				*order = append(*order, at)
			}
		}
	}
	return figures
}

// better tells whether more of a figure is better, or less of it; known is false of what is no figure, of ratios of
// others, and of the longest of many times, which is chance.
func better(name string) (more, known bool) {
	switch {
	case name == "max_ms", name == "min_ms":
		return false, false
	case strings.HasSuffix(name, "per_s"):
		return true, true
	}
	for _, less := range []string{"_ms", "_us", "_ns", "_mb", "_kb", "_bytes", "amplification"} {
		if strings.HasSuffix(name, less) {
			return false, true
		}
	}
	return false, false
}

// changes are the report of how figures have changed, and those that are worse by more than allowed. What is the same
// in all runs is a setting.
func (c Comparison) changes(order []place, before, now []map[place]float64) (r *measure.BenchReport, worse []string) {
	r = measure.NewBenchReport("compare " + c.Args[0])
	named := slices.ContainsFunc(order, func(p place) bool { return p.with != "" })
	several := slices.ContainsFunc(order, func(p place) bool { return p.nth > 1 })
	for _, at := range order {
		var was, is, ratios []float64
		for round := range before {
			x, inBefore := before[round][at]
			y, inNow := now[round][at]
			if inBefore && inNow {
				was, is, ratios = append(was, x), append(is, y), append(ratios, y/x)
			}
		}
		if len(ratios) == 0 {
			r.Note(fmt.Sprintf("%s, %s, %s: only one of the two programs measures it", at.work, at.variant, at.with))
			continue
		}
		was, is, ratios = harness.Sorted(was), harness.Sorted(is), harness.Sorted(ratios)
		if all := harness.Sorted(slices.Concat(was, is)); all[0] == all[len(all)-1] {
			continue
		}
		low, change, high := percent(ratios, 0.25), percent(ratios, 0.5), percent(ratios, 0.75)
		verdict := ""
		switch more, _ := better(at.figure); {
		case more && high < 0, !more && low > 0:
			verdict = "worse"
			if c.AtMost > 0 && math.Abs(change) > c.AtMost {
				worse = append(worse, fmt.Sprintf("%s of %s, %s: %+.1f %%", harness.Heading(at.figure), at.work,
					at.variant, change))
			}
		case more && low > 0, !more && high < 0:
			verdict = "better"
		}
		row := r.Row(at.variant, at.work)
		if named {
			row.Set("with", at.with)
		}
		if several {
			row.Set("nth", at.nth)
		}
		row.Set("figure", harness.Heading(at.figure)).Set("rounds", len(ratios)).
			Set("before", harness.Hundredths(harness.Quantile(was, 0.5))).
			Set("now", harness.Hundredths(harness.Quantile(is, 0.5))).
			Set("change_pct", change).Set("change_pct_q1", low).Set("change_pct_q3", high).Set("verdict", verdict)
	}
	return r, worse
}

// percent is a quantile of rising ratios, as what it has changed by.
func percent(rising []float64, q float64) float64 {
	return harness.Hundredths(100 * (harness.Quantile(rising, q) - 1))
}

// headings are those of a comparison.
var headings = map[string]string{"change_pct": "change %", "change_pct_q1": "q1", "change_pct_q3": "q3"}

func (c Comparison) write(r *measure.BenchReport) error {
	if c.JSON {
		return r.WriteJSON(c.Out)
	}
	err := r.Table(func(name string) string {
		if h := headings[name]; h != "" {
			return h
		}
		return harness.Heading(name)
	}).WriteText(c.Out)
	for _, n := range r.Notes {
		if err == nil {
			_, err = fmt.Fprintf(c.Out, "\nNote: %s.\n", n)
		}
	}
	return err
}
