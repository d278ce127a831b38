package bench

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// goal is a number that is asked for.
type goal struct {
	figure string // the name of the value in the row
	atMost bool   // else at least
	number float64
	or     *goal // another that will do
}

// The goals, as they are written down where they apply.
func atLeast(figure string, n float64) goal { return goal{figure: figure, number: n} }
func atMost(figure string, n float64) goal  { return goal{figure: figure, number: n, atMost: true} }

// orElse is g, or that.
func (g goal) orElse(that goal) goal {
	g.or = &that
	return g
}

func (g goal) text() string {
	sign := ">="
	if g.atMost {
		sign = "<="
	}
	s := heading(g.figure) + " " + sign + " " + plainly(g.number)
	if g.or != nil {
		s += " or " + g.or.text()
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

func (g goal) met(r *measure.Row) bool {
	if g.or != nil && g.or.met(r) {
		return true
	}
	v, ok := r.Number(g.figure)
	return ok && (g.atMost && v <= g.number || !g.atMost && v >= g.number)
}

// The values of met.
const (
	metYes = "yes"
	metNo  = "no"
)

// judge says in a row which numbers are asked for and whether they were met; with toy, a run too small to tell, only
// which.
func judge(r *measure.Row, toy bool, goals ...goal) {
	if len(goals) == 0 {
		return
	}
	var asked, missed []string
	for _, g := range goals {
		asked = append(asked, g.text())
		if !g.met(r) {
			missed = append(missed, heading(g.figure))
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
