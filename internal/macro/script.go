package macro

import (
	"errors"
	"fmt"
)

// Step is a state and how long it stays.
type Step struct {
	Frames uint32 // at least 1
	State  State
}

// Script is a macro ready to be played: what each player's pad does from frame 0 on. No two steps in a row have the same state.
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

// Compile writes the text out: loops, motions and mirrors. The error is Mistakes when it becomes too long, or nothing at all.
func (t *Text) Compile(o Options) (*Script, error) {
	if o.Player == 0 {
		o.Player = 1
	}
	if o.Player < 1 || o.Player > Players {
		return nil, fmt.Errorf("%w: player %d is not from 1 to %d", ErrOptions, o.Player, Players)
	}
	if stepsOf(t.body, MaxSteps) > MaxSteps {
		return nil, t.tooLong()
	}
	c := compiler{mirror: o.Mirror, player: o.Player}
	if err := c.all(t.body); err != nil {
		return nil, err
	}
	if c.script.Frames() == 0 {
		return nil, Mistakes{{t.last, 1, 1, "there is nothing to play", "write what is pressed and for how many frames, as in 2,mk 8"}}
	}
	return &c.script, nil
}

// tooLong finds the line with which the text became too long.
func (t *Text) tooLong() error {
	line, left := 1, MaxSteps
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
				line = b.at
				if stepsOf(b.body, left) > left {
					nodes = b.body // it is one that stands in it
				}
			} else if p, ok := n.(*press); ok {
				line = p.at
			}
			break
		}
	}
	return Mistakes{{line, 1, 1, fmt.Sprintf("the macro becomes more than %d steps here", MaxSteps), "let loops go round less often, or play it in parts"}}
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

func (c *compiler) block(b *block) error {
	was := *c
	rounds := 1
	switch b.kind {
	case loopBlock:
		rounds = b.number
		if stepsOf(b.body, MaxSteps) == 0 {
			rounds = 0 // nothing, however often
		}
	case mirrorBlock:
		c.mirror = !c.mirror
	case playerBlock:
		c.player = b.number
	}
	for range rounds {
		if err := c.all(b.body); err != nil {
			return err
		}
	}
	c.mirror, c.player = was.mirror, was.player
	return nil
}

func (c *compiler) press(p *press) error {
	for i := range max(len(p.motion), 1) {
		last := i >= len(p.motion)-1
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
			return Mistakes{{p.at, 1, 1, fmt.Sprintf("the macro becomes longer than %d frames here", MaxFrames), "let loops go round less often, or play it in parts"}}
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
