package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// pages are what there is to see, by the rest of the path. The templates of each are in web/NAME.html.
var pages = map[string]page{
	"{$}":                            {"overview", "Overview", overview},
	"queues":                         {"queues", "Queues", queues},
	"queue/{ns}/{queue}":             {"queue", "Queue", showQueue},
	"message/{id}":                   {"message", "Message", showMessage},
	"letter/{ns}/{queue}/{sequence}": {"letter", "Message", showLetter},
	"slow":                           {"slow", "Slow messages", slow},
	"dead":                           {"dead", "Dead letters", deadLetters},

	"topics":             {"topics", "Topics", topics},
	"topic/{ns}/{topic}": {"topic", "Topic", showTopic},

	"component/{component}": {"component", "Component", showComponent},

	"functions":           {"functions", "Functions", functions},
	"function/{function}": {"function", "Function", showFunction},

	"campaigns":                {"campaigns", "Campaigns", campaigns},
	"campaign/{ns}/{campaign}": {"campaign", "Campaign", showCampaign},

	"push":                        {"push", "Push", push},
	"push/{sink}":                 {"pushsink", "Dead devices", pushSink},
	"queue/{ns}/{queue}/do/{act}": {"operate", "What will be done", weigh},
	"sent":                        {"sent", "Sent again", showSent},
}

// notFound is what every other path gives.
var notFound = page{"problem", "Nothing here", func(context.Context, *asking) (any, error) {
	return nil, &httpdoor.Problem{Title: "there is no such page", Status: http.StatusNotFound}
}}

const (
	overviewRows = 12
	queueRows    = 200
	peekRows     = 20
	deadSample   = 1000
)

// busy is what is going on.
type busy struct {
	httpdoor.Top
	Sort   string
	Filter string
	Graph  *graph   // nil: there is none
	Ready  *problem // why the server takes no messages; nil: it does
	drawn
}

func overview(ctx context.Context, a *asking) (any, error) {
	top, err := a.door.Top(ctx, httpdoor.TopRequest{Max: overviewRows})
	if err != nil {
		return nil, err
	}
	b := &busy{Top: top}
	if err := a.door.Ready(ctx); err != nil {
		b.Ready, _ = problemOf(err)
	}
	// Who is told of the process may see everything.
	if b.Graph, err = a.graph(ctx, top.Process != nil); err != nil {
		return nil, err
	}
	return b, b.recall(ctx, a, top.Queues)
}

func queues(ctx context.Context, a *asking) (any, error) {
	q := a.r.URL.Query()
	b := &busy{Sort: q.Get("sort"), Filter: q.Get("filter")}
	var err error
	b.Top, err = a.door.Top(ctx, httpdoor.TopRequest{Sort: cmp.Or(b.Sort, "busy"), Filter: b.Filter, Max: queueRows})
	return b, err
}

// Sorts are what the queues can be sorted by.
func (b *busy) Sorts() []string { return httpdoor.TopSorts() }

// peekBytes bounds what is asked of messages at once, all of which is held.
const peekBytes = 1 << 20

// peek looks at messages. more tells that there may be others behind them.
func (a *asking) peek(ctx context.Context, n queue.Name, r httpdoor.PeekRequest) (found []httpdoor.Peeked, more bool,
	err error) {
	r.MaxBytes = peekBytes
	found, next, err := a.door.PeekPage(ctx, n, r)
	return found, next != 0 || len(found) == r.Max, err
}

// MessagePath is the path, below Base, of the page of a message in a queue.
func (v *view) MessagePath(queue string, sequence uint64) string {
	return "letter" + strings.TrimPrefix(v.QueuePath(queue), "queue") + "/" + strconv.FormatUint(sequence, 10)
}

// QueuePath is the path of a queue's page below Base, of its name as namespace/name.
func (v *view) QueuePath(name string) string {
	ns, rest, _ := strings.Cut(name, "/")
	return "queue/" + segment(ns) + "/" + segment(rest)
}

// one is a queue with the messages that are looked at.
type one struct {
	httpdoor.Stats
	Queue    queue.Name
	Where    string
	After    uint64
	Messages []httpdoor.Peeked
	Next     uint64
	// Refused is why the messages cannot be seen, for example a condition with a mistake.
	Refused *problem
	Dead    string // the queue of its dead letters; "": none
	Plots   []plot
	Can     may
}

func showQueue(ctx context.Context, a *asking) (any, error) {
	n := a.queue()
	s, err := a.door.Stats(ctx, n)
	if err != nil {
		return nil, err
	}
	past, err := a.door.Past(ctx, httpdoor.PastRequest{Of: []string{n.String()}})
	if err != nil {
		return nil, err
	}
	o := &one{Stats: s, Queue: n, Where: a.r.URL.Query().Get("where")}
	o.Plots = a.plots(a.QueuePath(n.String())+"/", past.Rows[0])
	if o.Can, err = a.may(ctx, n); err != nil {
		return nil, err
	}
	if d := s.Definition.DeadLetter; d != "" {
		if o.Dead = d; !strings.Contains(d, "/") {
			o.Dead = n.Namespace + "/" + d
		}
	}
	o.After, _ = strconv.ParseUint(a.r.URL.Query().Get("after"), 10, 64) // 0: from the first
	var more bool
	o.Messages, more, err = a.peek(ctx, n, httpdoor.PeekRequest{Where: o.Where, After: o.After, Max: peekRows + 1,
		NoBody: true})
	if err != nil {
		if _, told := errors.AsType[*httpdoor.Problem](err); !told {
			return nil, err
		}
		o.Refused, _ = problemOf(err)
	}
	if o.Messages = o.Messages[:min(len(o.Messages), peekRows)]; more && len(o.Messages) > 0 {
		o.Next = o.Messages[len(o.Messages)-1].Sequence
	}
	return o, nil
}

// letter is one message of a queue with its body, or the beginning of it.
type letter struct {
	httpdoor.Peeked
	Queue  string
	Before string // the sequence before
	Text   string
	Size   int64 // of the whole body
	Seen   int64
	Cut    bool
	Held   bool // by this browser
	Can    may
}

// seenBody is how much of a body a page shows.
const seenBody = 64 << 10

func showLetter(ctx context.Context, a *asking) (any, error) {
	n := a.queue()
	sequence, err := strconv.ParseUint(a.r.PathValue("sequence"), 10, 64)
	if err != nil || sequence == 0 {
		return notFound.data(ctx, a)
	}
	found, _, err := a.peek(ctx, n, httpdoor.PeekRequest{After: sequence - 1, Max: 1, MaxBody: seenBody})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].Sequence != sequence {
		return nil, &httpdoor.Problem{Title: a.T("the message is not in the queue any more"),
			Status: http.StatusNotFound}
	}
	l := &letter{Peeked: found[0], Queue: n.String(), Before: strconv.FormatUint(sequence-1, 10),
		Held: a.held(n, sequence) != ""}
	if l.Can, err = a.may(ctx, n); err != nil {
		return nil, err
	}
	body, err := l.Bytes()
	if err != nil {
		return nil, err
	}
	l.Seen = int64(len(body))
	if l.Size = l.Seen; l.Peeked.BodyBytes > l.Seen {
		l.Size, l.Cut = l.Peeked.BodyBytes, true
	}
	l.Text = readable(body, l.Cut)
	return l, nil
}

// readable is a body for people: JSON indented, text as it is, and anything else as a dump.
func readable(body []byte, cut bool) string {
	var b bytes.Buffer
	if !cut && json.Indent(&b, body, "", "  ") == nil {
		return b.String()
	}
	if utf8.Valid(body) && !bytes.ContainsFunc(body, notText) {
		return string(body)
	}
	const dumped = 4 << 10
	text := hex.Dump(body[:min(len(body), dumped)])
	if len(body) > dumped {
		text += "…\n"
	}
	return text
}

// notText tells whether a letter is none that a text has.
func notText(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f }

// find leads to what somebody looks for: a message by its id, a queue by its name, or the queues that have it in
// theirs.
func (s *Console) find(w http.ResponseWriter, r *http.Request) {
	wanted := strings.TrimSpace(r.URL.Query().Get("for"))
	to := "queues?" + query("filter", wanted)
	if _, err := message.ParseID(wanted); err == nil {
		to = "message/" + segment(wanted)
	} else if wanted != "" {
		n := queue.Name{Namespace: queue.DefaultNamespace, Name: wanted}
		if ns, name, ok := strings.Cut(wanted, "/"); ok {
			n = queue.Name{Namespace: ns, Name: name}
		}
		if _, err := s.ask(r).Stats(r.Context(), n); err == nil {
			to = (&view{}).QueuePath(n.String())
		}
	}
	http.Redirect(w, r, Base+to, http.StatusSeeOther)
}

// trail is where a message has been, drawn along the time.
type trail struct {
	httpdoor.Journey
	Steps []step
	Took  time.Duration
	Width float64
}

// step is a hop with its place in the picture.
type step struct {
	httpdoor.JourneyHop
	X, W    float64 // where it begins and how long it lasts, of Width
	Since   time.Duration
	Until   time.Duration // the next hop of all
	Slowest bool
}

const trailWidth = 600

func showMessage(ctx context.Context, a *asking) (any, error) {
	j, err := a.door.Trace(ctx, a.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	t := &trail{Journey: j, Width: trailWidth}
	if len(j.Hops) == 0 {
		return t, nil
	}
	first, last := j.Hops[0].Time, j.Hops[len(j.Hops)-1].Time
	t.Took = last.Sub(first)
	slowest := 0
	for i, h := range j.Hops {
		s := step{JourneyHop: h, Since: h.Time.Sub(first)}
		if i+1 < len(j.Hops) {
			s.Until = j.Hops[i+1].Time.Sub(h.Time)
		}
		if t.Took > 0 {
			s.X = trailWidth * float64(s.Since) / float64(t.Took)
			s.W = trailWidth * float64(s.Until) / float64(t.Took)
		}
		t.Steps = append(t.Steps, s)
		if s.Until > t.Steps[slowest].Until {
			slowest = i
		}
	}
	t.Steps[slowest].Slowest = t.Took > 0
	return t, nil
}

// slowest are messages that took long.
type slowest struct {
	httpdoor.Slowest
	Queue, Sink string
}

func slow(ctx context.Context, a *asking) (any, error) {
	q := a.r.URL.Query()
	s := &slowest{Queue: q.Get("queue"), Sink: q.Get("sink")}
	var err error
	s.Slowest, err = a.door.Slowest(ctx, httpdoor.SlowestRequest{Queue: s.Queue, Sink: s.Sink, Max: 50})
	return s, err
}

// graves are the dead letters of a queue, by why they died.
type graves struct {
	Queue   string // "": which queues have some is all that is told
	Queues  []httpdoor.TopQueue
	Groups  []grave
	Looked  int
	More    bool // there are more than were looked at
	Refused *problem
	Can     may
}

// Slow tells that it costs much to look: it counts dead letters.
func (g *graves) Slow() bool { return g.Queue != "" }

type grave struct {
	Reason, From string
	Count        int
	Attempts     int // the most
	Newest       time.Time
	Sample       httpdoor.Peeked
}

func deadLetters(ctx context.Context, a *asking) (any, error) {
	g := &graves{Queue: a.r.URL.Query().Get("queue")}
	if g.Queue == "" {
		top, err := a.door.Top(ctx, httpdoor.TopRequest{Sort: "dead", Max: queueRows})
		for _, q := range top.Queues {
			if q.Dead > 0 {
				g.Queues = append(g.Queues, q)
			}
		}
		return g, err
	}
	ns, name, _ := strings.Cut(g.Queue, "/")
	n := queue.Name{Namespace: ns, Name: name}
	found, more, err := a.peek(ctx, n, httpdoor.PeekRequest{Max: deadSample, NoBody: true})
	if err == nil {
		g.Can, err = a.may(ctx, n)
	}
	if err != nil {
		return nil, err
	}
	g.Looked, g.More = len(found), more
	g.Groups = graveyard(found)
	return g, nil
}

// graveyard groups dead letters by why they died, the most first.
func graveyard(found []httpdoor.Peeked) (groups []grave) {
	places := map[[2]string]int{}
	for i := range found {
		d := found[i].Death
		if d == nil {
			continue
		}
		key := [2]string{d.Reason, cmp.Or(d.Step, d.Queue)}
		at, known := places[key]
		if !known {
			at = len(groups)
			places[key] = at
			groups = append(groups, grave{Reason: key[0], From: key[1], Sample: found[i]})
		}
		x := &groups[at]
		x.Count++
		x.Attempts = max(x.Attempts, d.Attempts)
		if d.Time.After(x.Newest) {
			x.Newest = d.Time
		}
	}
	slices.SortStableFunc(groups, func(a, b grave) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}
