package http

import (
	"net/http"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// MaxPast bounds the names that are asked about at once.
const MaxPast = 50

// pastLines are what is recorded, in the order of a track's rings.
var pastLines = map[string][]string{
	"queue":     {"ready", "oldest_seconds", "in", "out"},
	"component": {"in", "out", "in_flight", "p99_seconds"},
	"door":      {"requests", "errors"},
	"all":       {"ready", "oldest_seconds", "in", "out"},
}

// PastKinds are of what a past is recorded.
func PastKinds() []string { return []string{"queue", "component", "door", "all"} }

// PastLines are the names of the values that are recorded of a kind of PastKinds.
func PastLines(kind string) []string { return pastLines[kind] }

// showPast tells the last 15 minutes of some queues, components or doors, or of all queues together.
func showPast(c *call) error {
	if err := c.only("of", "what"); err != nil {
		return err
	}
	q := c.r.URL.Query()
	what, names := or(q.Get("what"), "queue"), q["of"]
	lines, known := pastLines[what]
	switch {
	case !known:
		return badRequest.problemf("what=%.40s: there is no such kind", what).
			withHint("what is one of " + strings.Join(PastKinds(), ", "))
	case what == "all" && len(names) > 0:
		return badRequest.problem("of=… does not go with what=all").withHint("leave of out: the sum has no name")
	case what == "all":
		names = []string{""}
	case len(names) == 0:
		return badRequest.problem("of=NAME is missing").withHint("name a " + what + ", or several: of=A&of=B")
	case len(names) > MaxPast:
		return badRequest.problemf("of names %d: it may name %d", len(names), MaxPast)
	}
	tracks := make([]func() *track, len(names))
	for i, name := range names {
		var err error
		if what == "queue" {
			tracks[i], names[i], err = c.pastOfQueue(name)
		} else {
			tracks[i], err = c.pastOf(what, name)
		}
		if err != nil {
			return err
		}
	}
	return c.w.json(http.StatusOK, c.d.past.rows(time.Now(), names, lines, tracks))
}

// pastOfQueue finds the track of a queue, which may have none: where there are very many, quiet ones have none.
func (c *call) pastOfQueue(name string) (of func() *track, full string, err error) {
	n, err := c.resolve(relative(queue.DefaultNamespace, name))
	if err != nil {
		return nil, "", err
	}
	if !c.d.users.Visible(c.user, n) {
		return nil, "", c.invisible(n)
	}
	if _, err := c.d.store.Stats(c.ctx(), n); err != nil {
		return nil, "", err
	}
	return func() *track {
		if t := c.d.past.queues[n]; t != nil {
			return &t.track
		}
		return nil
	}, n.String(), nil
}

// pastOf finds the track of a component or a door, or that of the sum.
func (c *call) pastOf(what, name string) (func() *track, error) {
	if err := c.overAll("see what all queues, components and doors did"); err != nil {
		return nil, err
	}
	p := c.d.past
	if what == "all" {
		return func() *track { return p.sum }, nil
	}
	key := what + " " + name
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.others[key] == nil {
		return nil, noPast.problemf("there is no %s %.200q, or it has just begun", what, name)
	}
	return func() *track { return p.others[key] }, nil
}

// rows are what the tracks have.
func (p *past) rows(now time.Time, names, lines []string, tracks []func() *track) Past {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := Past{Step: pastStep.Seconds(), Rows: make([]PastRow, len(names))}
	for i, of := range tracks {
		rings, at := p.since(now, of(), len(lines))
		out.Time, out.Rows[i] = at.UTC(), PastRow{Name: names[i], Values: map[string]Points{}}
		for k, line := range lines {
			out.Rows[i].Values[line] = rings[k]
		}
	}
	return out
}
