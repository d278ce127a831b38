// Package campaign is the transform that lets the messages of campaigns through as long as these go on, and at the time
// of day that suits their users:
//
//	transforms:
//	  gate:
//	    type: campaign
//	    inputs: [waiting]
//	    time_zone: tz
//	    default_zone: Asia/Tokyo
//	    quiet: { from: "22:00", to: "08:00" }
//	    cap: { of: user, most: 3, within: 24h }
//
// It stands between the source of the queue that a fanout has filled and the sinks that push. A message of a paused
// campaign goes back to its queue, without counting as a try; one of a cancelled campaign is settled without being
// sent. What has passed and still waits before a sink that pushes (of type apns, fcm and their like) is asked for once
// more when its turn comes. What becomes of each message below is counted to its campaign. Messages of no campaign that
// is known pass, but for quiet hours and the cap, which are for all. What is one too many by the cap is settled without
// being sent, and counted.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/receipt"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Config are the settings of a campaign.
type Config struct {
	TimeZone    string `yaml:"time_zone" doc:"The attribute with the user's time zone, as Asia/Tokyo. Not set: all have default_zone."`
	DefaultZone string `yaml:"default_zone" doc:"The time zone of users whose own is not known. Not set: UTC."`
	Quiet       Quiet  `yaml:"quiet" doc:"When nobody is to be disturbed: messages wait in their queue until it is over there."`
	Cap         Cap    `yaml:"cap" doc:"How often a user is told something at most. What is one too many is settled without being sent. Not set: there is no bound."`
}

// Quiet are hours of the day.
type Quiet struct {
	From string `yaml:"from" doc:"When it begins, as \"22:00\"."`
	To   string `yaml:"to" doc:"When it ends, as \"08:00\", on the next day if that is earlier."`
}

// pausedFor is how long a message of a paused campaign sleeps in its queue. Sources of queues do not take it before the
// campaign goes on.
const pausedFor = time.Second

// longestWait is how long a message sleeps before it is looked at again, however far its time is: a clock that was
// wrong when it was looked at makes it late by no more than that.
const longestWait = 6 * time.Hour

var (
	errPaused = errors.New("its campaign is paused")
	errTime   = errors.New("it is not the time for it where the user is")
)

// gate may be used by several goroutines at once.
type gate struct {
	campaigns *campaign.Registry
	clock     func() time.Time
	attribute string
	zones     zones
	quiet     hours
	unknown   atomic.Uint64 // messages whose time zone is not known
}

// New checks the settings. Errors are *component.SettingError. With a cap it makes a component.GroupTransform, as what
// passes waits until it has been counted; else a component.Transform.
func New(c Config, env component.Env) (any, error) {
	g, err := newGate(c, env, time.Now)
	switch {
	case err != nil:
		return nil, err
	case c.Cap == Cap{}:
		return g, nil
	}
	return newCapped(g, c.Cap, env), nil
}

func newGate(c Config, env component.Env, clock func() time.Time) (*gate, error) {
	g := &gate{
		campaigns: env.Campaigns, clock: clock, attribute: c.TimeZone,
		zones: zones{byName: map[string]*time.Location{}, otherwise: time.UTC},
	}
	if c.DefaultZone != "" {
		zone, err := load(c.DefaultZone)
		if err != nil {
			return nil, component.Setting("default_zone", err)
		}
		g.zones.otherwise = zone
	}
	for _, one := range []struct {
		name, text string
		minute     *int
	}{{"from", c.Quiet.From, &g.quiet.from}, {"to", c.Quiet.To, &g.quiet.to}} {
		if c.Quiet == (Quiet{}) {
			continue
		}
		at, err := time.Parse("15:04", one.text)
		if err != nil {
			return nil, component.Setting("quiet."+one.name, fmt.Errorf("%q is no time of day: write it as \"22:00\"",
				one.text))
		}
		*one.minute = at.Hour()*60 + at.Minute()
	}
	if c.Quiet != (Quiet{}) && g.quiet.from == g.quiet.to {
		return nil, component.Setting("quiet.to", errors.New("is when it begins"))
	}
	if err := c.Cap.check(); err != nil {
		return nil, err
	}
	return g, nil
}

// Transform lets a message through, settles it, or gives it back until it may go on.
func (g *gate) Transform(_ context.Context, m *message.Message, emit component.Emit) error {
	passes, err := g.passes(m)
	if passes {
		emit("", m)
	}
	return err
}

// passes tells whether a message may go on now. Without an error, one that does not is settled.
func (g *gate) passes(m *message.Message) (bool, error) {
	switch g.state(m) {
	case campaign.Paused:
		return false, component.BackError(pausedFor, errPaused)
	case campaign.Cancelled:
		g.campaigns.Count(idOf(m), campaign.Withdrawn, "")
		return false, nil
	}
	if wait := g.wait(m); wait > 0 {
		return false, component.BackError(min(wait, longestWait), errTime)
	}
	return true, nil
}

// state is that of the message's campaign: Paused, Cancelled or "".
func (g *gate) state(m *message.Message) campaign.State {
	stopped := g.campaigns.Stopped()
	if stopped.None() {
		return ""
	}
	return stopped.State(idOf(m))
}

// idOf is the id of a campaign that need not be known.
func idOf(m *message.Message) string {
	v, _ := m.Attributes.Get(campaign.Attribute)
	return v.AsString()
}

// Stops implements component.Overseer.
func (g *gate) Stops(m *message.Message) (component.Outcome, bool) {
	switch g.state(m) {
	case campaign.Paused:
		return component.GiveBack(pausedFor, errPaused), true
	case campaign.Cancelled:
		return component.Drop(component.ErrCancelled), true
	}
	return component.Outcome{}, false
}

// Heard implements component.Overseer.
func (g *gate) Heard(m *message.Message, o *component.Outcome, first bool) {
	id := idOf(m)
	if id == "" || !first {
		return
	}
	switch {
	case o.Verdict == component.Delivered:
		g.campaigns.Count(id, campaign.Sent, "")
	case o.Verdict == component.Rejected:
		g.campaigns.Count(id, campaign.Refused, receipt.Reason(*o))
	case errors.Is(o.Reason, component.ErrCancelled):
		g.campaigns.Count(id, campaign.Withdrawn, "")
	default:
		g.campaigns.Count(id, campaign.Dropped, receipt.Reason(*o))
	}
}

// Oversee implements component.Overseer.
func (g *gate) Oversee(queues []string) {
	for _, text := range queues {
		if n, err := queue.ParseName(text); err == nil {
			g.campaigns.Guard(n)
		}
	}
}

// Counts implements component.Counter.
func (g *gate) Counts() map[string]uint64 {
	return map[string]uint64{"unknown time zone": g.unknown.Load()}
}
