package campaign

import (
	"cmp"
	"slices"
	"time"
	"unicode/utf8"
)

// made is how many messages were made.
func (c *campaign) made() (n uint64) {
	for _, one := range c.runs {
		n += one.Made
	}
	return n
}

// complete tells whether everything was made: some fanout has begun, and all that have are over.
func (c *campaign) complete() bool {
	for _, one := range c.runs {
		if !one.Over {
			return false
		}
	}
	return len(c.runs) > 0
}

// view shows a campaign. The lock is held.
func (r *Registry) view(c *campaign) View {
	n := c.tally.read()
	v := View{
		ID: c.id, Name: c.def.Name, Queue: c.def.Queue, State: r.shown(c),
		Started: c.def.Started, LocalTime: c.def.Local, Rows: c.def.Rows,
		Due: given(c.def.Due), First: given(n.First), Last: given(n.Last), Ended: given(c.def.Ended),
		Made: c.made(), Complete: c.complete(), Sent: n.Sent, Refused: n.Refused, Dropped: n.Dropped,
		Cancelled: n.Cancelled, Capped: n.Capped,
		Reasons: n.Reasons, Problem: c.problem,
	}
	if utf8.Valid(c.def.Body) {
		v.Body = string(c.def.Body)
	}
	slices.SortFunc(v.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	if v.Reasons == nil {
		v.Reasons = []Reason{}
	}
	v.Left = v.Made - min(v.Made, n.settled())
	if c.def.Ended.IsZero() && c.def.State == Running {
		v.Rate = c.pulse.rate()
		if v.Complete && v.Rate > 0 {
			end := r.clock().Add(time.Duration(float64(v.Left) / v.Rate * float64(time.Second))).UTC()
			v.End = &end
		}
	}
	return v
}

func given(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
