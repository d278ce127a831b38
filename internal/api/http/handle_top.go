package http

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
)

const (
	// MaxTop bounds the rows of a table that are told at once.
	MaxTop     = 1000
	usualTop   = 50
	maxFilter  = 200
	busiestTop = "busy"
)

// topSorts are what queues can be sorted by, each with what is compared: the most first.
var topSorts = map[string]func(*seenQueue) float64{
	busiestTop: func(q *seenQueue) float64 { return q.In + q.Out },
	"ready":    func(q *seenQueue) float64 { return float64(q.Ready) },
	"claimed":  func(q *seenQueue) float64 { return float64(q.Claimed) },
	"delayed":  func(q *seenQueue) float64 { return float64(q.Delayed) },
	"dead":     func(q *seenQueue) float64 { return float64(q.Dead) },
	"in":       func(q *seenQueue) float64 { return q.In },
	"out":      func(q *seenQueue) float64 { return q.Out },
	"oldest":   func(q *seenQueue) float64 { return q.Oldest },
	"name":     func(*seenQueue) float64 { return 0 },
}

// TopSorts are what queues can be sorted by.
func TopSorts() []string { return slices.Sorted(maps.Keys(topSorts)) }

// showTop tells how busy queues, components and doors are: the first rows of each, as they are asked for.
func showTop(c *call) error {
	if err := c.only("sort", "filter", "max"); err != nil {
		return err
	}
	q := c.r.URL.Query()
	by, known := topSorts[or(q.Get("sort"), busiestTop)]
	if !known {
		return badRequest.problemf("sort=%.40s: there is no such column", q.Get("sort")).
			withHint("sort by " + strings.Join(TopSorts(), ", "))
	}
	filter := strings.ToLower(q.Get("filter"))
	if len(filter) > maxFilter {
		return badRequest.problemf("filter has %d bytes: it may have %d", len(filter), maxFilter)
	}
	most, err := c.number("max", MaxTop)
	if err != nil {
		return err
	}
	g, err := c.d.busiest.look(c.ctx())
	if err != nil {
		return err
	}
	fits := func(name string) bool { return filter == "" || strings.Contains(strings.ToLower(name), filter) }
	t := Top{Time: g.at.UTC(), Over: g.over, Components: []TopComponent{}, Doors: []TopDoor{}}
	t.Queues, t.Count = c.topQueues(g, fits, by, or(int(most), usualTop))
	if c.overAll("see components and doors") == nil {
		t.Components = some(g.components, or(int(most), usualTop), func(x *TopComponent) bool { return fits(x.Name) })
		t.Doors = some(g.doors, or(int(most), usualTop), func(x *TopDoor) bool { return fits(x.Name) })
	}
	return c.w.json(http.StatusOK, t)
}

// topQueues are the first queues of those that the user may know of, and how many these are.
func (c *call) topQueues(g *glance, fits func(string) bool, by func(*seenQueue) float64, most int) ([]TopQueue, int) {
	type place struct {
		most float64
		at   int
	}
	var found []place
	for i := range g.queues {
		if q := &g.queues[i]; fits(q.Name) && c.d.users.Visible(c.user, q.name) {
			found = append(found, place{by(q), i})
		}
	}
	// The store lists queues by name, so those that are alike are in the order of their names.
	slices.SortFunc(found, func(a, b place) int { return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(a.at, b.at)) })
	rows := make([]TopQueue, 0, min(most, len(found)))
	for _, p := range found[:cap(rows)] {
		rows = append(rows, g.queues[p.at].TopQueue)
	}
	return rows, len(found)
}

func some[T any](all []T, most int, fits func(*T) bool) []T {
	rows := []T{}
	for i := range all {
		if len(rows) < most && fits(&all[i]) {
			rows = append(rows, all[i])
		}
	}
	return rows
}
