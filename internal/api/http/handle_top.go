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
	MaxTop = 1000
	// MaxTopQueues bounds the queues that can be asked for by name.
	MaxTopQueues = 200

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
	if err := c.only("sort", "filter", "queue", "max"); err != nil {
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
	named := q["queue"]
	if len(named) > MaxTopQueues {
		return badRequest.problemf("%d queues are named: at most %d are possible", len(named), MaxTopQueues)
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
	wanted := fits
	if len(named) > 0 {
		are := map[string]bool{}
		for _, name := range named {
			are[name] = true
		}
		wanted = func(name string) bool { return are[name] && fits(name) }
	}
	c.topQueues(&t, g, wanted, by, or(int(most), usualTop))
	if c.overAll("see components and doors") == nil {
		t.Process = &g.process
		t.Components = some(g.components, or(int(most), usualTop), func(x *TopComponent) bool { return fits(x.Name) })
		t.Doors = some(g.doors, or(int(most), usualTop), func(x *TopDoor) bool { return fits(x.Name) })
	}
	return c.w.json(http.StatusOK, t)
}

// topQueues are the first queues of those that the user may know of, how many these are, and the sum of all.
func (c *call) topQueues(t *Top, g *glance, fits func(string) bool, by func(*seenQueue) float64, most int) {
	type place struct {
		most float64
		at   int
	}
	var found []place
	for i := range g.queues {
		q := &g.queues[i]
		if !c.d.users.Visible(c.user, q.name) {
			continue
		}
		t.Total.add(&q.TopQueue)
		if fits(q.Name) {
			found = append(found, place{by(q), i})
		}
	}
	// The store lists queues by name, so those that are alike are in the order of their names.
	slices.SortFunc(found, func(a, b place) int { return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(a.at, b.at)) })
	t.Queues, t.Count = make([]TopQueue, 0, min(most, len(found))), len(found)
	for _, p := range found[:cap(t.Queues)] {
		t.Queues = append(t.Queues, g.queues[p.at].TopQueue)
	}
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
