package harness

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// Goal is a number that is asked for.
type Goal struct {
	Figure string // the name of the value in the row
	atMost bool   // else at least
	Number float64
	or     *Goal // another that will do
}

// The goals, as they are written down where they apply.
func AtLeast(figure string, n float64) Goal { return Goal{Figure: figure, Number: n} }
func AtMost(figure string, n float64) Goal  { return Goal{Figure: figure, Number: n, atMost: true} }

// OrElse is g, or that.
func (g Goal) OrElse(that Goal) Goal {
	g.or = &that
	return g
}

// Text is the goal as a row shows it.
func (g Goal) Text() string {
	sign := ">="
	if g.atMost {
		sign = "<="
	}
	s := Heading(g.Figure) + " " + sign + " " + plainly(g.Number)
	if g.or != nil {
		s += " or " + g.or.Text()
	}
	return s
}

// plainly writes a number that was asked for: without the zeros that would tell how well it was measured.
func plainly(f float64) string {
	if f == math.Trunc(f) {
		return measure.Count(int64(f))
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func (g Goal) met(r *measure.Row) bool {
	if g.or != nil && g.or.met(r) {
		return true
	}
	v, ok := r.Number(g.Figure)
	return ok && (g.atMost && v <= g.Number || !g.atMost && v >= g.Number)
}

// The values of met.
const (
	metYes = "yes"
	metNo  = "no"
)

// Judge says in a row which numbers are asked for and whether they were met; with toy, a run too small to tell, only
// which.
func Judge(r *measure.Row, toy bool, goals ...Goal) {
	if len(goals) == 0 {
		return
	}
	var asked, missed []string
	for _, g := range goals {
		asked = append(asked, g.Text())
		if !g.met(r) {
			missed = append(missed, Heading(g.Figure))
		}
	}
	r.Set("asked", strings.Join(asked, ", "))
	switch {
	case toy:
		r.Set("met", nil)
	case len(missed) == 0:
		r.Set("met", metYes)
	case len(goals) == 1:
		r.Set("met", metNo)
	default:
		r.Set("met", metNo+": "+strings.Join(slices.Compact(missed), ", "))
	}
}
