package push

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// senderMistake is what a sender has wrong.
type senderMistake struct {
	name   string
	reason string // with which Apple refuses each push then
	begun  bool   // from the start of the campaign; else from its middle on
}

// senderMistakes are those that are tried.
func senderMistakes() []senderMistake {
	return []senderMistake{
		{"topic, from the start", "DeviceTokenNotForTopic", true},
		{"environment, from the start", "BadDeviceToken", true},
		{"topic, from the middle on", "DeviceTokenNotForTopic", false},
	}
}

// mistaken is what a far end saw of a campaign with a mistake.
type mistaken struct {
	refused int64
	pause   time.Duration // from the look before the first refusal to the one that saw the last: it took no longer
}

// mistakes pushes to many devices while each of them is refused as if its token were another topic's or another
// environment's. When the sender rests, that is put right. Nothing may be lost, and no device be taken for gone.
func (s *session) mistakes(ctx context.Context) error {
	for _, wrong := range senderMistakes()[:s.wrong] {
		var refused, lost, dead []float64
		pauses := measure.NewHistogram()
		for range s.tries {
			m, took, err := s.mistake(ctx, wrong)
			if err != nil {
				return err
			}
			refused, lost = append(refused, float64(m.refused)), append(lost, float64(took.Failed))
			dead = append(dead, float64(took.Dead))
			pauses.Record(m.pause)
			s.Step()
		}
		r := s.Report.Row(harness.CaseOurs, workMistake).Set("mistake", wrong.name).Set("messages", s.some)
		r.Set("n", s.tries)
		for name, all := range map[string][]float64{"refused": refused, "lost": lost, "dead": dead} {
			r.Set(name, int(slices.Max(all)))
		}
		r.Set("p50_ms", harness.Milliseconds(pauses.Quantile(0.5))).Set("max_ms", harness.Milliseconds(pauses.Max()))
		harness.Judge(r, s.Quick, harness.AtMost("refused", 400), harness.AtMost("lost", 0),
			harness.AtMost("dead", 0), harness.AtMost("max_ms", 1000))
	}
	return nil
}

// mistake is one of them.
func (s *session) mistake(ctx context.Context, of senderMistake) (m mistaken, took pushed, err error) {
	var ends []func() error
	defer func() { err = harness.JoinCleanup(err, closeThem(ends...)) }()
	wrong := farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: of.reason}}}
	behave := farend.Behaviour{}
	if of.begun {
		behave = wrong
	}
	far, err := startSandbox(ctx, s.Push, filepath.Join(s.Temp, fmt.Sprintf("mistake-%d", s.pipelines)), behave)
	if err != nil {
		return m, took, err
	}
	ends = append(ends, far.close)
	p, err := s.startPipeline(ctx, far, kindDirect, 1)
	if err != nil {
		return m, took, err
	}
	ends = append(ends, p.Close)
	type trial struct {
		took pushed
		err  error
	}
	over := make(chan trial, 1)
	go func() { // it ends with the process, which ends with ctx
		var t trial
		t.took, t.err = p.trial(pushTrial{Messages: s.some, Users: 1})
		over <- t
	}()
	m, err = far.mistaken(ctx, of, int64(s.some/2), wrong, s.rests)
	if err != nil {
		return m, took, err
	}
	t := <-over
	return m, t.took, t.err
}

// mistaken lets a mistake begin after so many pushes, unless it has begun, and puts it right when nothing was refused
// for as long as rests: the sender rests then.
func (f *farEnd) mistaken(
	ctx context.Context, of senderMistake, after int64, wrong farend.Behaviour, rests time.Duration,
) (m mistaken, err error) {
	begun := of.begun
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	var accepted int64
	var first, last time.Time
	looked := time.Now()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return m, ctx.Err()
		}
		c, err := f.counts()
		if err != nil {
			return m, err
		}
		accepted += c.Accepted
		now := time.Now()
		if n := c.Refused[of.reason]; n > 0 {
			if first.IsZero() {
				first = looked
			}
			m.refused, last = m.refused+n, now
		}
		looked = now
		switch {
		case !begun && accepted >= after:
			begun = true
			seen, err := f.behaves(wrong)
			if err != nil {
				return m, err
			}
			m.refused += seen.Refused[of.reason]
		case !last.IsZero() && now.Sub(last) > rests:
			m.pause = last.Sub(first)
			return m, f.behave(farend.Behaviour{})
		}
	}
}
