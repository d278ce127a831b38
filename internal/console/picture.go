package console

import (
	"context"
	"slices"
	"sync"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/picture"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	// mostThings and mostWays bound the picture of a configuration: nobody could read a larger one.
	mostThings = httpdoor.MaxTopQueues
	mostWays   = 1000
	nowLetters = 32 // room for what is going on in a thing
	// longWait is from when on a queue is marked whose oldest message has waited longest.
	longWait = time.Second
)

// graph is what the configuration joins to what, with what is going on there.
type graph struct {
	*picture.Drawing
	Nodes []node
	Ways  []way
	// TooMany tells that it is larger than can be shown: there is nothing else then.
	TooMany bool
	Slowest *httpdoor.TopComponent // the sink whose far end takes longest to answer; nil: not known
	Oldest  *httpdoor.TopQueue     // the queue whose oldest message has waited longest; nil: none waits long
}

// node is a thing that is drawn.
type node struct {
	picture.Box
	picture.Thing
	Class string
	To    string // its page below Base; "": it has none
	Says  string // its name and what is going on, for who cannot see the picture
	Now   string // what is going on
}

// way is one that is drawn.
type way struct {
	picture.Curve
	Class string
	Whole string // the label
}

// flow is how much comes to a thing and goes from it, in a second. Of topics and doors nobody counts that.
type flow struct {
	known   bool
	in, out float64
}

// graph asks what is going on in what the configuration joins. Who may not see everything is shown the queues that he
// may see; nil: there is nothing to show.
func (a *asking) graph(ctx context.Context, everything bool) (*graph, error) {
	if a.site.config.Picture == nil {
		return nil, nil
	}
	p := a.site.config.Picture()
	if !everything {
		p = p.Only(func(t *picture.Thing) bool { return t.Kind == "queue" })
	}
	if len(p.Things) > mostThings || len(p.Ways) > mostWays {
		return &graph{TooMany: true}, nil
	}
	var names []string
	for i := range p.Things {
		if t := &p.Things[i]; t.Kind == "queue" {
			names = append(names, full(t.Name))
		}
	}
	if len(names) == 0 {
		names = []string{""} // no queue has this name: without one, all would be told
	}
	top, err := a.door.Top(ctx, httpdoor.TopRequest{Queues: names, Max: httpdoor.MaxTop})
	if err != nil {
		return nil, err
	}
	queues, components := map[string]*httpdoor.TopQueue{}, map[string]*httpdoor.TopComponent{}
	for i := range top.Queues {
		queues[top.Queues[i].Name] = &top.Queues[i]
	}
	for i := range top.Components {
		components[top.Components[i].Name] = &top.Components[i]
	}
	if !everything {
		p = p.Only(func(t *picture.Thing) bool { return queues[full(t.Name)] != nil })
	}
	if len(p.Things) == 0 {
		return nil, nil
	}
	g := &graph{}
	if everything {
		g.Drawing = a.site.layOut(p)
	} else {
		g.Drawing = p.LayOut(nowLetters)
	}
	flows := make([]flow, len(p.Things))
	for i, t := range p.Things {
		n := node{Box: g.Boxes[i], Thing: t, Class: "thing " + t.Kind}
		switch c, q := components[t.Name], queues[full(t.Name)]; {
		case t.Kind == "door":
			n.To = "#doors"
			n.Now = a.doorNow(top.Doors)
		case t.Kind == "queue" && q != nil:
			flows[i] = flow{true, q.In, q.Out}
			n.To = a.QueuePath(q.Name)
			n.Now = a.T("%s wait · %s in · %s out", a.Count(q.Ready+q.Waiting+q.Delayed), a.Rate(q.In), a.Rate(q.Out))
			if q.Oldest >= longWait.Seconds() && (g.Oldest == nil || q.Oldest > g.Oldest.Oldest) && !isGraveyard(p, i) {
				g.Oldest = q
			}
		case t.Kind == "topic":
			n.To = a.TopicPath(full(t.Name))
		case t.Kind != "queue" && c != nil:
			if flows[i] = (flow{true, c.In, c.Out}); t.Kind == "source" {
				flows[i].out = c.In // what it has taken, it has sent on
			}
			n.To = a.ComponentPath(t.Name)
			n.Now = a.T("%s · %s in flight · errors %s", a.Rate(flows[i].out), a.Count(c.InFlight), a.Count(c.Rejected))
			if t.Kind == "sink" && c.P99 > 0 && (g.Slowest == nil || c.P99 > g.Slowest.P99) {
				g.Slowest = c
			}
		}
		n.Says = a.kind(t.Kind) + " " + t.Name
		if n.Now != "" {
			n.Says += ": " + n.Now
		}
		g.Nodes = append(g.Nodes, n)
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if g.Slowest != nil && n.Kind == "sink" && n.Name == g.Slowest.Name ||
			g.Oldest != nil && n.Kind == "queue" && full(n.Name) == g.Oldest.Name {
			n.Class += " slow"
			n.Says += ". " + a.T("Slowest")
		}
	}
	for i, w := range p.Ways {
		class := "way"
		if w.Dead {
			class += " dead"
		}
		if moves(w, flows[w.From], flows[w.To]) {
			class += " moving"
		}
		g.Ways = append(g.Ways, way{g.Curves[i], class, picture.Shown(w.Label)})
	}
	return g, nil
}

// laidOut is where everything of a picture stands. A configuration is drawn for each look, and laid out once.
type laidOut struct {
	mu      sync.Mutex
	of      *picture.Picture
	drawing *picture.Drawing // nobody changes it
}

// layOut lays a picture out, if it is not the one that was laid out last.
func (s *Console) layOut(p *picture.Picture) *picture.Drawing {
	s.laidOut.mu.Lock()
	defer s.laidOut.mu.Unlock()
	if s.laidOut.of != p {
		s.laidOut.of, s.laidOut.drawing = p, p.LayOut(nowLetters)
	}
	return s.laidOut.drawing
}

// full is the name of a queue with its namespace. What is no name, since it comes from messages, stays as it is.
func full(text string) string {
	n, err := queue.ParseName(text)
	if err != nil {
		return text
	}
	return n.String()
}

// isGraveyard tells whether nothing but dead letters comes to a thing: they may stay for long.
func isGraveyard(p *picture.Picture, i int) bool {
	comes := func(w picture.Way) bool { return w.To == i }
	return slices.ContainsFunc(p.Ways, comes) &&
		!slices.ContainsFunc(p.Ways, func(w picture.Way) bool { return comes(w) && !w.Dead })
}

// moves tells whether messages go a way, as far as its ends tell. What of the messages of a thing went which way nobody
// counts; a dead letter goes from what gets some and comes to what gets some.
func moves(w picture.Way, from, to flow) bool {
	gives := from.out
	if w.Dead {
		gives += from.in
	}
	return (from.known || to.known) && (!from.known || gives > 0) && (!to.known || to.in > 0)
}

// doorNow is what is going on at all doors together.
func (v *view) doorNow(doors []httpdoor.TopDoor) string {
	var sum httpdoor.TopDoor
	for _, d := range doors {
		sum.Requests, sum.Errors, sum.Connections = sum.Requests+d.Requests, sum.Errors+d.Errors,
			sum.Connections+d.Connections
	}
	return v.T("%s · connections %s · errors %s", v.Rate(sum.Requests), v.Count(sum.Connections), v.Rate(sum.Errors))
}

// kind is what a kind of things is called.
func (v *view) kind(kind string) string {
	switch kind {
	case "queue":
		return v.T("Queue")
	case "door":
		return v.T("Door")
	}
	return v.T(kind)
}

// SlowPath is the path, below Base, of the page of the messages that took long at a sink.
func (v *view) SlowPath(sink string) string { return "slow?" + query("sink", sink) }
