package pipeline

import (
	trace "github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// made is what a transform has made of a message: nobody else has it. What is made counts against the pipeline's
// bounds, but for one part of a journey, which its delivery counts for already.
type made struct {
	covered bool // the delivery counts for the first part
	way     uint64
}

// route gives a message to nodes. The caller's own part keeps the journey open meanwhile. by is nil for a source's
// message.
func (p *Pipeline) route(j *journey, m *message.Message, by *made, to []*node) {
	count := 0
	for _, n := range to {
		if j.allows(n) {
			count++
		} else {
			n.skipped.Add(1)
		}
	}
	if count == 0 {
		return
	}
	j.left.Add(int64(count))
	size := j.size
	if by != nil {
		size = m.Size()
	}
	for _, n := range to {
		if !j.allows(n) {
			continue
		}
		q := &part{j: j, msg: m, own: by != nil && count == 1, size: size}
		if by != nil {
			q.way = by.way
			if by.covered {
				by.covered = false
				q.bytes = max(0, size-j.size)
			} else {
				q.extra, q.bytes = 1, size
			}
			if q.extra+q.bytes > 0 {
				p.budget.addMade(j.entry.account, q.extra, q.bytes)
			}
		}
		if n.kind == KindSink {
			if !q.own {
				c := *m
				q.msg, q.own = &c, true
			}
			q.msg.Hops.Mark(message.Transformed, p.options.Clock())
			q.msg.Only = "" // it is on its way there; further on it is a message like any other
		}
		n.in.Add(1)
		p.tap(n, trace.In, q.msg)
		n.stage.push(q)
	}
}
