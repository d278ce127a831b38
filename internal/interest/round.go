package interest

import (
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// round is a walk over those who wait for one message. It is the condition.Row of the message for the condition that is
// tested.
type round struct {
	number  uint64
	env     condition.Env
	weigher Weigher // nil: everything is tested
	asked   []*name // whose values were looked up
	test    []*name // of the condition that is tested, by slot
	key     []byte  // room for the key of a drawer
	points  []point // of the message, one for each drawer that it has
	spots   spots
	some    bool   // an id was returned
	last    uint64 // the last that was

	bounded bool
	left    int // conditions that may still be tested, if they are bounded
}

// end lets go of the message, and of room that only few messages need.
func (r *round) end() {
	for _, n := range r.asked {
		n.round, n.value = 0, message.Value{}
	}
	const much = 1024
	if cap(r.asked) > much || cap(r.key) > 16*much || cap(r.points) > much || cap(r.spots) > much {
		*r = round{}
		return
	}
	clear(r.asked)
	clear(r.points)
	clear(r.spots)
	*r = round{asked: r.asked[:0], key: r.key, points: r.points[:0], spots: r.spots[:0]}
}

// value is the message's value of a name.
func (r *round) value(n *name) message.Value {
	if n.round != r.number { // never asked for, or since then in a walk within this one
		n.value, n.round = r.env.Lookup(n.text), r.number
		r.asked = append(r.asked, n)
	}
	return n.value
}

// Slot is the value of a name in the condition that is tested.
func (r *round) Slot(slot int) message.Value { return r.value(r.test[slot]) }

// look finds the drawer in which branches of the shape may hold the message, if there is one.
func (r *round) look(sh *shape) {
	r.key = r.key[:0]
	for _, f := range sh.equal {
		k, ok := f.view.Key(r.value(f.name))
		if !ok {
			return
		}
		r.key = appendKey(r.key, k)
	}
	d, ok := sh.drawers.find(r.key)
	if !ok {
		return
	}
	var p point
	if sh.span != nil {
		k, ok := sh.span.view.Key(r.value(sh.span.name))
		if !ok {
			return
		}
		p = pointOf(k)
	}
	r.points = append(r.points, p)
	r.search(d.root, len(r.points)-1)
}

// next returns the next id, the least of those not returned yet; sure tells whether its condition was tested.
func (r *round) next() (id uint64, sure, ok bool) {
	for len(r.spots) > 0 {
		top := &r.spots[0]
		if top.tree != nil {
			tree, point := top.tree, int(top.point)
			r.spots.pop()
			r.search(tree, point)
			continue
		}
		if top.at == (cursor{}) && !r.met(top.of) {
			if r.bounded && r.left < 0 {
				return 0, false, false
			}
			r.spots.pop()
			continue
		}
		id, sure = top.least, top.of.unsure != r.number
		if least, at, more := top.of.line.after(top.at); more {
			top.least, top.at = least, at
			r.spots.sink()
		} else {
			r.spots.pop()
		}
		if !r.some || id > r.last {
			r.some, r.last = true, id
			return id, sure, true
		}
	}
	return 0, false, false
}

// met tells whether the message meets a condition one of whose branches holds it. A condition that was found before, by
// another branch, is not wanted again.
func (r *round) met(i *interest) bool {
	if i.seen == r.number {
		return false
	}
	i.seen = r.number
	if i.test == nil {
		return true
	}
	steps, tooMuch := 1, false
	if r.weigher != nil {
		steps, tooMuch = r.weigher.Weigh(i.test.Effort())
	}
	if r.bounded {
		if r.left -= steps; r.left < 0 {
			return false
		}
	}
	if tooMuch {
		i.unsure = r.number
		return true
	}
	r.test = i.names
	return i.test.Match(r)
}

// search goes down a tree to the ranges that hold the message's point. Where there are several ways, it takes the one
// to the least id and leaves the others as spots.
func (r *round) search(n *node, point int) {
	p := &r.points[point]
	for n != nil {
		if !n.begun(p) {
			n = n.left
			continue
		}
		if n.lasting(p) {
			r.spots.push(spot{least: n.of.first, of: n.of})
		}
		way, other := n.left, n.right
		if !way.reaches(p) {
			way = nil
		}
		switch {
		case !other.reaches(p):
		case way == nil:
			way = other
		default:
			if other.least < way.least {
				way, other = other, way
			}
			r.spots.push(spot{least: other.least, tree: other, point: int32(point)})
		}
		n = way
	}
}
