package http

import (
	"net/http"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// maxSlowest bounds how many of the slowest are told at once.
const maxSlowest = 1000

// traced leaves of a journey what the user may see, and tells whether that is anything: the hops in queues that he may
// take from and, if those are all, what steps of pipelines did and which messages were made of which.
func (c *call) traced(j *journey.Journey) bool {
	whole := true
	seen := make([]journey.Step, 0, len(j.Steps))
	for _, s := range j.Steps {
		n := queue.Name{Namespace: s.Place.Namespace, Name: s.Place.Name}
		if !s.Place.IsStep() && !c.d.users.Allowed(c.user, access.Take, n) {
			whole = false
			continue
		}
		seen = append(seen, s)
	}
	if j.Steps = seen; whole {
		return true
	}
	j.Steps = seen[:0]
	for _, s := range seen {
		if !s.Place.IsStep() {
			j.Steps = append(j.Steps, s)
		}
	}
	return len(j.Steps) > 0
}

func (c *call) sampled() Sampled {
	s := c.d.trace.Stats()
	return Sampled{Every: s.Every, Keep: Duration(s.Keep)}
}

// showTrace tells where a message has been.
func showTrace(c *call) error {
	if err := c.only(); err != nil {
		return err
	}
	if c.d.trace == nil {
		return noTrace.problem("this server remembers no journeys").withHint("leave trace: off: true out")
	}
	text := c.r.PathValue("id")
	id, err := message.ParseID(text)
	if err != nil {
		return badRequest.problemf("%.60q is no id of a message", text).
			withHint("it is what a door answered to the put: id, MessageId or messageId")
	}
	j, ok := c.d.trace.Find(id)
	if !ok || !c.traced(&j) {
		s := c.sampled()
		return noTrace.problemf("of message %s nothing is remembered (kept: one in %d, all that failed or were slow, "+
			"for %v and as long as there is room)", id, s.Every, time.Duration(s.Keep))
	}
	answer := Journey{ID: id.String(), LeftOut: j.LeftOut, Late: j.Late, Sampled: c.sampled(),
		Hops: make([]JourneyHop, len(j.Steps))}
	for i := range j.Steps {
		answer.Hops[i] = shownHop(&j.Steps[i])
	}
	return c.w.json(http.StatusOK, answer)
}

// listSlowest tells which messages took longest in a queue, at a sink, or anywhere.
func listSlowest(c *call) error {
	if err := c.only("slowest", "queue", "sink", "last"); err != nil {
		return err
	}
	if c.d.trace == nil {
		return noTrace.problem("this server remembers no journeys").withHint("leave trace: off: true out")
	}
	most, err := c.number("slowest", maxSlowest)
	if err != nil {
		return err
	}
	q := c.r.URL.Query()
	at, last := journey.Place{Name: q.Get("sink")}, time.Hour
	if text := q.Get("queue"); text != "" {
		if at.Name != "" {
			return badRequest.problem("queue and sink exclude each other")
		}
		n, err := c.resolve(relative(queue.DefaultNamespace, text))
		if err != nil {
			return err
		}
		if err := c.may(access.Take, n); err != nil {
			return err
		}
		at = journey.Place{Namespace: n.Namespace, Name: n.Name}
	}
	if text := q.Get("last"); text != "" {
		if last, err = time.ParseDuration(text); err != nil || last <= 0 {
			return badRequest.problemf("last=%.40s is no time that has passed", text).withHint("write it as 30m or 1h")
		}
	}
	sink := at.Name != "" && at.IsStep()
	found := c.d.trace.Slowest(at, last, or(int(most), 10), func(j *journey.Journey) bool {
		n := len(j.Steps)
		return c.traced(j) && (!sink || len(j.Steps) == n) // who does not see all of it does not see its requests
	})
	answer := Slowest{Slowest: make([]SlowMessage, len(found)), Sampled: c.sampled()}
	for i, x := range found {
		answer.Slowest[i] = SlowMessage{ID: x.ID.String(), Took: Duration(x.Took), Ended: x.Ended}
	}
	return c.w.json(http.StatusOK, answer)
}
