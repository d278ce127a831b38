package console

import (
	"context"
	"errors"
	"slices"
	"strings"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// slowestRows are the messages on the page of a component.
const slowestRows = 10

// component is a step of a pipeline with what became of messages at it.
type component struct {
	httpdoor.Component
	Failed  []grave // its dead letters, by reason
	Slowest []httpdoor.SlowMessage
	Watched bool
	Sample  []httpdoor.TapLine // the newest last
	Ended   string             // why no more come
}

// Slow tells that it costs much to look: it counts dead letters.
func (c *component) Slow() bool { return !c.Watched }

// ComponentPath is the path of a component's page below Base.
func (v *view) ComponentPath(name string) string { return "component/" + segment(name) }

func showComponent(ctx context.Context, a *asking) (any, error) {
	name, watched := a.r.PathValue("component"), watchedIn(ctx)
	told, err := a.door.Component(ctx, name)
	if err != nil {
		return nil, err
	}
	c := &component{Component: told, Watched: watched != nil}
	if told.Kind == "sink" {
		s, err := a.door.Slowest(ctx, httpdoor.SlowestRequest{Sink: name, Max: slowestRows})
		if err != nil {
			return nil, err
		}
		c.Slowest = s.Slowest
	}
	if told.Dead > 0 && told.DeadLetter != "" {
		ns, at, _ := strings.Cut(told.DeadLetter, "/")
		found, _, err := a.peek(ctx, queue.Name{Namespace: ns, Name: at},
			httpdoor.PeekRequest{Max: deadSample, NoBody: true})
		if _, refused := errors.AsType[*httpdoor.Problem](err); err != nil && !refused {
			return nil, err
		}
		c.Failed = graveyard(slices.DeleteFunc(found, func(p httpdoor.Peeked) bool {
			return p.Death == nil || p.Death.Step != name
		}))
	}
	if watched != nil {
		c.Sample, c.Ended = watched.newest()
	}
	return c, nil
}
