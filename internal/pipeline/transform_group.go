package pipeline

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/message"
)

// turns puts the groups of a stage into the order in which they began. It is used under its stage's lock; nil gives no
// turns.
type turns struct{ last *turn }

// turn is a group's place behind the one before it.
type turn struct {
	before *turn // nil: the first
	over   chan struct{}
}

func (t *turns) next() *turn {
	if t == nil {
		return nil
	}
	t.last = &turn{t.last, make(chan struct{})}
	return t.last
}

// wait returns when it is this group's turn. The one before has begun and does not wait for this one, so it ends.
func (t *turn) wait() {
	if t != nil && t.before != nil {
		<-t.before.over
		t.before = nil
	}
}

// end lets the next group have its turn.
func (t *turn) end() {
	if t != nil {
		close(t.over)
	}
}

// transformGroup works on a group as a whole.
func (p *Pipeline) transformGroup(n *node, g *group) sample {
	defer g.turn.end()
	outs, one := make([][]emitted, len(g.parts)), make([]emitted, len(g.parts))
	for i := range outs {
		outs[i] = one[i : i : i+1] // most transforms make one message of one
	}
	errs := make([]error, len(g.parts))
	if err := p.work.Err(); err != nil {
		for i := range errs {
			errs[i] = err
		}
	} else if err := p.callGroup(n, g, outs, errs); err != nil {
		if len(g.parts) > 1 {
			n.stage.split(g.parts) // one of the messages may be to blame
			return sample{}
		}
		errs[0] = err
	}
	g.turn.wait()
	gone, bytes := 0, 0
	on := carrier{p: p, from: n}
	for i, q := range g.parts {
		size := q.size
		if errs[i] == nil && on.take(q, outs[i]) {
			gone, bytes = gone+1, bytes+size
			continue
		}
		on.put() // what came before goes before
		if !p.transformed(n, q, outs[i], errs[i]) {
			gone, bytes = gone+1, bytes+size
		}
	}
	on.put()
	n.stage.leave(gone, bytes)
	return sample{}
}

// callGroup calls the component and gathers what it emits and answers. The error is a defect of the component.
func (p *Pipeline) callGroup(n *node, g *group, outs [][]emitted, errs []error) (err error) {
	defer p.recovered(n, "transform", &err)
	ms := make([]*message.Message, len(g.parts))
	for i, q := range g.parts {
		ms[i] = q.msg
	}
	n.request(len(ms))
	wrong := make([]error, len(ms))
	answers := n.together(p.work, ms, func(i int, port string, m *message.Message) {
		if defect := n.defect(port, m); defect != nil {
			wrong[i] = defect
			return
		}
		outs[i] = append(outs[i], emitted{port, m})
	})
	if answers != nil && len(answers) != len(ms) {
		return fmt.Errorf("the transform gave %d answers for %d messages: a defect of it", len(answers), len(ms))
	}
	for i := range ms {
		errs[i] = wrong[i]
		if answers != nil && answers[i] != nil {
			errs[i] = answers[i]
		}
	}
	return nil
}
