// Package gamepad is a sink that plays messages on a game pad: each is a macro, and they are played in their order, one
// after the other.
//
//	sinks:
//	  pad: { type: gamepad, inputs: [combos], device: uinput }
//
// A macro is delivered when its last frame is over. One with a mistake in it is rejected with all of its mistakes, and
// nothing of it is played. When the device is missing or goes away in the middle, everything that can be is let go and
// the message is tried again as the sink's request settings say: from its beginning, since a half macro is of no use.
//
// A message whose attribute play_at is a moment waits for it, and those behind it wait too; one whose moment is over
// when its turn comes is rejected. The setting lead lets it begin that much earlier, for a device that takes so long to
// have what is written to it.
//
// With a request.timeout_secs all of that has to be over within it: what would take longer is rejected before anything
// is pressed.
//
// The frames are kept by a process of its own (package pace), where the program has made that possible; packages macro
// and play say more.
package gamepad

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

// Config is the sink's settings.
type Config struct {
	// Device is what is played on: trace:FILE, uinput, serial:FILE, titanone-hid, titanone or vigem.
	Device string `yaml:"device"`
	// Device of player 2, if it is another one.
	Device2 string `yaml:"device_2"`
	// Rate of the frames, as in 60000/1001/s, which is what consoles have where television had 60 fields a second, or
	// 50/s.
	Rate pace.Rate `yaml:"rate"`
	// Player is whose lines those are that stand in no player's block: 1 or 2.
	Player int `yaml:"player"`
	// Mirror changes left and right, for someone who faces left.
	Mirror bool `yaml:"mirror"`
	// Lead is by how much earlier than its moment a macro with the attribute play_at is written, because the device
	// takes that long.
	Lead time.Duration `yaml:"lead"`
}

// MomentAttribute is the attribute of a message that says when its macro's first frame is to have its effect, as RFC
// 3339 writes moments.
const MomentAttribute = "play_at"

// Sink plays macros.
type Sink struct {
	devices []string
	rate    pace.Rate
	options macro.Options
	lead    time.Duration
	host    *pace.Host
	pads    *play.Pads

	mu     sync.Mutex
	played uint64
	late   pace.Histogram
	missed uint64
}

// New checks the settings.
func New(c Config, env component.Env) (component.Sink, error) {
	s := &Sink{rate: c.Rate, options: macro.Options{Player: c.Player, Mirror: c.Mirror}, lead: c.Lead, host: env.Pacer}
	if c.Device == "" {
		return nil, component.Setting("device", errors.New("it is not said what is played on: write device: uinput, "+
			"or trace:FILE to look at it first"))
	}
	if err := play.Check([]string{c.Device}); err != nil {
		return nil, component.Setting("device", err)
	}
	s.devices = []string{c.Device}
	if c.Device2 != "" {
		if err := play.Check([]string{c.Device2}); err != nil {
			return nil, component.Setting("device_2", err)
		}
		s.devices = append(s.devices, c.Device2)
	}
	if c.Player < 0 || c.Player > macro.Players {
		return nil, component.Setting("player", fmt.Errorf("there are players 1 and %d", macro.Players))
	}
	if c.Lead < 0 || c.Lead > play.MostLead {
		return nil, component.Setting("lead", fmt.Errorf("%s is not from 0 to %s", c.Lead, play.MostLead))
	}
	if s.host == nil {
		s.host = pace.Plain(play.Players())
	}
	return s, nil
}

// Limits: one macro after the other, as long as it is.
func (s *Sink) Limits() component.SinkLimits {
	return component.SinkLimits{MaxEvents: 1, Concurrency: 1, DefaultTimeout: longest}
}

// Start makes what has to be there before the first macro, such as a virtual pad.
func (s *Sink) Start(context.Context) error {
	pads, err := play.Keep(s.devices, []int{1, 2})
	s.pads = pads
	return err
}

// Send plays the messages of the batch.
func (s *Sink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	out := make([]component.Outcome, len(batch))
	for i, m := range batch {
		out[i] = s.play(ctx, m)
	}
	return out, nil
}

func (s *Sink) play(ctx context.Context, m *message.Message) component.Outcome {
	script, err := macro.Read(m.Body, s.options)
	if err != nil {
		return component.Reject(err)
	}
	job := play.Job{Script: script, Rate: s.rate, Lead: s.lead}
	if v, ok := m.Attributes.Get(MomentAttribute); ok {
		if job.At, err = time.Parse(time.RFC3339Nano, v.Text()); err != nil {
			return component.Reject(fmt.Errorf("the attribute %s: %w", MomentAttribute, err))
		}
	}
	if err := s.fits(ctx, &job); err != nil {
		return component.Reject(err)
	}
	run, err := s.pads.Start(ctx, s.host, job)
	if err != nil {
		if errors.Is(err, play.ErrDevice) || errors.Is(err, play.ErrOver) {
			return component.Reject(err)
		}
		return component.Again(0, err)
	}
	report, err := run.Wait()
	s.note(&report)
	if err != nil {
		return component.Again(0, fmt.Errorf("after %d of %d frames: %w", report.Played, script.Frames(), err))
	}
	return component.OK(time.Now())
}

// fits says whether a macro, with its wait for its moment, would be over when the request has to be. One that is not
// would be broken off, and tried again only for that.
func (s *Sink) fits(ctx context.Context, j *play.Job) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil
	}
	rate := j.Rate
	if rate.IsZero() {
		rate = pace.NTSC()
	}
	takes, left := beginning+rate.Deadline(j.Script.Frames()), time.Until(deadline)
	if takes > left {
		return fmt.Errorf("the macro takes %s with its beginning, and the sink's request.timeout_secs leaves it %s: "+
			"set that to more", brief(takes), brief(left))
	}
	if wait := time.Until(j.At) - j.Lead; !j.At.IsZero() && wait > left-takes {
		return fmt.Errorf("the macro takes %s with its beginning, from %s on, and the sink's request.timeout_secs "+
			"leaves it %s: set that to more, or let the message sleep until shortly before", brief(takes),
			j.At.Format(time.RFC3339Nano), brief(left))
	}
	return nil
}

// longest is more than a macro of macro.MaxFrames takes at the usual rate, and how far away the moment of a short one
// may be.
const longest = 48 * time.Hour

// beginning is what it may take to start the process that plays, and to open the device.
const beginning = time.Second

// brief is a duration for people.
func brief(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

func (s *Sink) note(r *pace.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played += uint64(r.Played)
	s.missed += uint64(r.Missed)
	r.Lateness.Each(func(_, to time.Duration, n int64) bool {
		for range n {
			s.late.Add(to)
		}
		return true
	})
}

// Counts are the frames that were played, those that began after the next one was due, and how late they were, in
// microseconds.
func (s *Sink) Counts() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]uint64{
		"frames": s.played, "missed_frames": s.missed,
		"late_p50_us": uint64(s.late.Quantile(0.5).Microseconds()),
		"late_p99_us": uint64(s.late.Quantile(0.99).Microseconds()),
		"late_max_us": uint64(s.late.Max().Microseconds()),
	}
}

// Close lets go of the pads.
func (s *Sink) Close() error {
	if s.pads == nil {
		return nil
	}
	return s.pads.Close()
}
