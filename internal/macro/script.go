package macro

import (
	"errors"
	"fmt"
	"slices"
)

// Step is a state and how long it stays.
type Step struct {
	Frames uint32 // at least 1
	State  State
}

// Script is a macro ready to be played: what each player's pad does from frame 0 on. No two steps in a row have the
// same state.
type Script struct {
	Tracks [Players][]Step // of player 1, of player 2; empty: that player does nothing
}

// Frames is how long the script is: the longer player's frames.
func (s *Script) Frames() int64 {
	var most int64
	for _, t := range s.Tracks {
		most = max(most, framesOf(t))
	}
	return most
}

func framesOf(track []Step) (n int64) {
	for _, s := range track {
		n += int64(s.Frames)
	}
	return n
}

// Players lists those who do something: 1, 2 or both.
func (s *Script) Players() (all []int) {
	for i, t := range s.Tracks {
		if len(t) > 0 {
			all = append(all, i+1)
		}
	}
	return all
}

// Options are how a text is compiled.
type Options struct {
	Player int  // whose lines are those outside of <player> blocks: 1 or 2; 0: 1
	Mirror bool // for someone who faces left: left and right change places
}

// ErrOptions is wrapped by errors about Options.
var ErrOptions = errors.New("macro: no such option")

// Read parses and compiles a text. An error about the text is Mistakes.
func Read(text []byte, o Options) (*Script, error) {
	t, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return t.Compile(o)
}

// Compile writes the text out: loops, motions and mirrors. The error is Mistakes when it becomes too long, or nothing
// at all.
func (t *Text) Compile(o Options) (*Script, error) {
	if o.Player == 0 {
		o.Player = 1
	}
	if o.Player < 1 || o.Player > Players {
		return nil, fmt.Errorf("%w: player %d is not from 1 to %d", ErrOptions, o.Player, Players)
	}
	if t.Steps() > MaxSteps {
		return nil, t.tooLong()
	}
	c := compiler{mirror: o.Mirror, player: o.Player}
	body, _ := prune(t.body)
	if err := c.all(body); err != nil {
		return nil, err
	}
	if c.script.Frames() == 0 {
		return nil, place{line: t.last, column: 1}.mistake("there is nothing to play",
			"write what is pressed and for how many frames, as in 2,mk 8")
	}
	return &c.script, nil
}

// shorten is what to do about a macro that becomes too long.
const shorten = "let loops go round less often, or play it in parts"

// tooLong finds the place with which the text became too long.
func (t *Text) tooLong() error {
	at, left := place{line: 1, column: 1}, MaxSteps
	for nodes := t.body; nodes != nil; {
		body := nodes
		nodes = nil
		for _, n := range body {
			steps := n.steps(left)
			if steps <= left {
				left -= steps
				continue
			}
			if b, ok := n.(*block); ok {
				at = b.at
				if stepsOf(b.body, left) > left {
					nodes = b.body // it is one that stands in it
				}
			} else if p, ok := n.(*press); ok {
				at = p.at
			} else if m, ok := n.(*meeting); ok {
				at = m.at
			}
			break
		}
	}
	return at.mistake(fmt.Sprintf("the macro becomes more than %d steps here", MaxSteps), shorten)
}

// compiler walks along a text.
type compiler struct {
	script Script
	frames [Players]int64
	player int
	mirror bool
}

func (c *compiler) all(nodes []node) error {
	for _, n := range nodes {
		if err := c.one(n); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) one(n node) error {
	switch n := n.(type) {
	case *press:
		return c.press(n)
	case *meeting:
		most := max(c.frames[0], c.frames[1])
		for i := range c.frames {
			if wait := most - c.frames[i]; wait > 0 {
				c.add(i, State{}, wait)
			}
		}
	case *block:
		return c.block(n)
	}
	return nil
}

func (c *compiler) block(b *block) (err error) {
	mirror, player := c.mirror, c.player
	switch b.kind {
	case loopBlock:
		return c.loop(b)
	case mirrorBlock:
		c.mirror = !c.mirror
	case playerBlock:
		c.player = b.number
	}
	err = c.all(b.body)
	c.mirror, c.player = mirror, player
	return err
}

// loop writes one round out and copies it. Around a <sync>, rounds may differ: it waits for as long as the players are
// apart.
func (c *compiler) loop(b *block) error {
	if b.number == 1 || b.meets {
		for range b.number {
			if err := c.all(b.body); err != nil {
				return err
			}
		}
		return nil
	}
	round := compiler{player: c.player, mirror: c.mirror}
	if err := round.all(b.body); err != nil {
		return err
	}
	fit := int64(b.number)
	for player, frames := range round.frames {
		if frames > 0 {
			fit = min(fit, (MaxFrames-c.frames[player])/frames)
		}
	}
	for player, track := range round.script.Tracks {
		c.repeat(player, track, round.frames[player], int(fit))
	}
	if fit < int64(b.number) {
		return c.all(b.body) // it finds the line with which it becomes too long
	}
	return nil
}

// repeat goes on with the steps of a track, which last for frames, so many times.
func (c *compiler) repeat(player int, track []Step, frames int64, rounds int) {
	switch {
	case len(track) == 0 || rounds == 0:
		return
	case len(track) == 1:
		c.add(player, track[0].State, frames*int64(rounds))
		return
	}
	all := slices.Grow(c.script.Tracks[player], len(track)*rounds)
	for range rounds {
		rest := track
		if n := len(all); n > 0 && all[n-1].State == track[0].State {
			all[n-1].Frames += track[0].Frames
			rest = track[1:]
		}
		all = append(all, rest...)
	}
	c.script.Tracks[player] = all
	c.frames[player] += frames * int64(rounds)
}

func (c *compiler) press(p *press) error {
	for i := range max(len(p.motion), 1) {
		last := i >= len(p.motion)-1
		if i > 0 && p.again(i) {
			if err := c.one(&press{at: p.at, frames: p.frames}); err != nil {
				return err
			}
		}
		var s State
		frames := p.frames
		if last {
			s = p.last()
			if p.final > 0 {
				frames = p.final
			}
		} else {
			s.point(p.motion[i])
		}
		if c.mirror {
			s = s.Mirrored()
		}
		if c.frames[c.player-1]+int64(frames) > MaxFrames {
			return p.at.mistake(fmt.Sprintf("the macro becomes longer than %d frames here", MaxFrames), shorten)
		}
		c.add(c.player-1, s, int64(frames))
	}
	return nil
}

// add goes on with a state; one that is there already goes on longer.
func (c *compiler) add(player int, s State, frames int64) {
	c.frames[player] += frames
	track := c.script.Tracks[player]
	if n := len(track); n > 0 && track[n-1].State == s {
		track[n-1].Frames += uint32(frames)
		return
	}
	c.script.Tracks[player] = append(track, Step{uint32(frames), s})
}
