package campaign

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/allowance"
)

// Cap bounds how often a user is told something.
type Cap struct {
	Of       string        `yaml:"of" doc:"The attribute or column that says who the user is. A message without it is not bounded."`
	Most     int           `yaml:"most" min:"0" max:"1000" doc:"How many messages a user gets at most."`
	Within   time.Duration `yaml:"within" min:"0s" max:"8760h" doc:"Within which time, at least 1m."`
	Remember int           `yaml:"remember" min:"0" max:"100000000" doc:"How many messages to all users are remembered, some 100 bytes each; beyond, the oldest are forgotten. Not set: 2000000."`
}

const (
	leastWithin   = time.Minute
	usualRemember = 2_000_000
	// storeRest is how long messages wait when they could not be counted, as when the disk is full.
	storeRest = time.Second
)

// check finds what is wrong. The zero Cap is none.
func (c *Cap) check() error {
	switch {
	case *c == Cap{}:
		return nil
	case c.Of == "":
		return component.Setting("cap.of", errors.New("is missing: which attribute or column names the user"))
	case c.Most == 0:
		return component.Setting("cap.most", errors.New("is missing: how many messages a user gets at most"))
	case c.Within < leastWithin:
		return component.Setting("cap.within", fmt.Errorf("is %v, the least is %v", c.Within, leastWithin))
	}
	return nil
}

// capped is a gate with a cap. It may be used by several goroutines at once.
type capped struct {
	g         *gate
	of        string
	fields    *codec.Fields
	allowance *allowance.Allowance
	nobody    atomic.Uint64 // messages without a user
}

func newCapped(g *gate, c Cap, env component.Env) *capped {
	if c.Remember == 0 {
		c.Remember = usualRemember
	}
	of := allowance.Config{
		Room: env.Name, Most: c.Most, Within: c.Within, Remember: c.Remember, Clock: g.clock,
	}
	if env.Store != nil {
		of.Store = env.Store
	}
	return &capped{g: g, of: c.Of, fields: codec.NewFields(c.Of), allowance: allowance.New(of)}
}

// Start reads what users have had.
func (c *capped) Start(ctx context.Context) error { return c.allowance.Start(ctx) }

// Close keeps it.
func (c *capped) Close() error { return c.allowance.Close() }

// Grouping implements component.GroupTransform: while one group becomes durable, the next one gathers.
func (c *capped) Grouping() component.Grouping {
	return component.Grouping{MaxEvents: allowance.MostAtOnce, Concurrency: 1, Ordered: true}
}

// TransformGroup lets messages through, settles them, or gives them back until they may go on. Those that pass have
// been counted, durably.
func (c *capped) TransformGroup(ctx context.Context, ms []*message.Message, emit component.EmitFor) []error {
	errs := make([]error, len(ms))
	pushes, of := make([]allowance.Push, 0, len(ms)), make([]int, 0, len(ms))
	for i, m := range ms {
		passes, err := c.g.passes(m)
		push, known := c.push(m)
		switch {
		case err != nil:
			errs[i] = err
		case !passes && known: // it may have passed before, and come back
			c.allowance.Return(push)
		case passes && known:
			pushes, of = append(pushes, push), append(of, i)
		case passes:
			c.nobody.Add(1)
			emit(i, "", m)
		}
	}
	may, err := c.allowance.Take(ctx, pushes)
	for n, i := range of {
		switch {
		case err != nil:
			errs[i] = component.HoldError(storeRest, err)
		case may[n]:
			emit(i, "", ms[i])
		default:
			c.g.campaigns.Count(idOf(ms[i]), campaign.Capped, "")
		}
	}
	return errs
}

// push is a message to a user; known is false where it has none.
func (c *capped) push(m *message.Message) (p allowance.Push, known bool) {
	v, ok := m.Attributes.Get(c.of)
	if !ok {
		v = c.fields.Read(m)[0]
	}
	user := v.Text()
	return allowance.Push{User: user, Message: m.ID}, user != ""
}

// Stops implements component.Overseer. A message may have waited for the sink for long: it counts from now on.
func (c *capped) Stops(m *message.Message) (component.Outcome, bool) {
	if o, stops := c.g.Stops(m); stops {
		return o, true
	}
	if p, known := c.push(m); known {
		c.allowance.Renew(p)
	}
	return component.Outcome{}, false
}

// Heard implements component.Overseer. What was not sent does not count; what may have been does.
func (c *capped) Heard(m *message.Message, o *component.Outcome, first bool) {
	c.g.Heard(m, o, first)
	p, known := c.push(m)
	switch {
	case !known:
	case o.Verdict == component.Delivered || errors.Is(o.Reason, component.ErrMayDouble):
		c.allowance.Confirm(p)
	default:
		c.allowance.Return(p)
	}
}

// Oversee implements component.Overseer.
func (c *capped) Oversee(queues []string) { c.g.Oversee(queues) }

// Counts implements component.Counter.
func (c *capped) Counts() map[string]uint64 {
	counts, s := c.g.Counts(), c.allowance.Stats()
	counts["capped"], counts["no user"], counts["forgotten too early"] = s.Over, c.nobody.Load(), s.Forgotten
	return counts
}

// Cap implements Capper.
func (c *capped) Cap() allowance.Stats { return c.allowance.Stats() }
