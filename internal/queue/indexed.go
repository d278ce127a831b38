package queue

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/index"
	"github.com/hikyaku/hikyaku/internal/message"
)

// indexed is an index over a queue's ready messages: by a hash of the values of some names, which conditions compare
// with =, and then by the value of one more, for ranges. It finds the oldest message that a branch of a condition's
// plan asks for whatever the queue's depth and whatever the constants. What two values with one key differ in, the
// condition itself is asked about.
type indexed struct {
	of     *queueState
	shape  string // names the fields: see shapeOf
	equal  []condition.Field
	span   *condition.Field // nil: none
	tree   index.Tree
	built  building
	bodies wantedBodies
	large  map[uint64]index.Key // of messages whose bodies had to be read for it; nil while there are none
	walks  bool                 // some that have a fitting key do not fit: see planned.walked
	effort
}

// complete tells whether it holds all ready messages.
func (x *indexed) complete() bool { return x.built.done && !x.bodies.some() }

func (x *indexed) show(env *entryEnv, e entry) {
	if x.much(env) {
		x.bodies.add(e)
		return
	}
	k, ok := x.keyOf(env)
	switch {
	case env.body == bodyMissed:
		x.bodies.add(e)
	case ok:
		x.tree.Insert(k, e.seq())
	}
}

// much tells whether a message has so much in memory that its key is not looked up under the lock.
func (x *indexed) much(env *entryEnv) bool { return x.work(env) > lightEffort }

// work is that of finding the key of a message.
func (x *indexed) work(env *entryEnv) int {
	return condition.LookUp.Times(len(x.equal) + 1).On(len(env.bytes()))
}

func (x *indexed) unasked() *questions { return x.bodies.ask(x.of, x) }

func (x *indexed) judge(l *looked) { l.key, l.meets = x.keyOf(&l.env) }

func (x *indexed) learn(_ *state, ls []*looked) {
	for _, l := range ls {
		if !x.bodies.answered(l) || !l.meets {
			continue
		}
		if x.large == nil {
			x.large = map[uint64]index.Key{}
		}
		x.large[l.entry.seq()] = l.key
		x.tree.Insert(l.key, l.entry.seq())
	}
}

func (x *indexed) hide(env *entryEnv, e entry) {
	if x.bodies.drop(e) {
		return
	}
	if k, ok := x.large[e.seq()]; ok {
		delete(x.large, e.seq())
		x.tree.Delete(k, e.seq())
		return
	}
	if x.much(env) {
		return // it has no key
	}
	if k, ok := x.keyOf(env); ok {
		x.tree.Delete(k, e.seq())
	}
}

func (x *indexed) progress() *building { return &x.built }

func (x *indexed) advance(s *state, q *queueState, piece int) {
	n := 0
	more := false
	q.ready.Ascend(x.built.upto+1, func(seq uint64) bool {
		if n++; n > piece || x.bodies.full() {
			more = true
			return false
		}
		q.scanned++
		x.examined++
		e, _ := q.all.Get(seq)
		env := s.env(q, e)
		if x.show(env, e); !x.much(env) {
			n += x.work(env) / stepEffort
		}
		x.built.upto = seq
		return true
	})
	x.built.done = !more
}

// shapeOf names the index that serves a branch: its fields, in the order of the plan.
func shapeOf(b *condition.Branch) string {
	var s strings.Builder
	for i := range b.Equal {
		s.WriteString(strconv.Quote(b.Equal[i].Name))
		s.WriteByte('0' + byte(b.Equal[i].View))
	}
	if b.Range != nil {
		s.WriteByte('<')
		s.WriteString(strconv.Quote(b.Range.Name))
		s.WriteByte('0' + byte(b.Range.View))
	}
	return s.String()
}

func newIndexed(q *queueState, b *condition.Branch) *indexed {
	x := &indexed{of: q, shape: shapeOf(b)}
	for i := range b.Equal {
		x.equal = append(x.equal, b.Equal[i].Field)
	}
	if b.Range != nil {
		x.span = &b.Range.Field
	}
	return x
}

// keyOf is the entry's place in the index; ok is false for one that no branch of this shape holds.
func (x *indexed) keyOf(env condition.Env) (k index.Key, ok bool) {
	if len(x.equal) > 0 {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, f := range x.equal {
			v, ok := f.View.Key(env.Lookup(f.Name))
			if !ok {
				return k, false
			}
			hashKey(&h, v)
		}
		k.A = h.Sum64()
	}
	if x.span != nil {
		v, ok := x.span.View.Key(env.Lookup(x.span.Name))
		if !ok {
			return k, false
		}
		k.B = condition.Image(v)
	}
	return k, true
}

// bounds are the keys between which everything lies that a branch of this shape holds.
func (x *indexed) bounds(b *condition.Branch) (lo, hi index.Key) {
	if len(b.Equal) > 0 {
		var h maphash.Hash
		h.SetSeed(seed)
		for i := range b.Equal {
			hashKey(&h, b.Equal[i].Key)
		}
		lo.A = h.Sum64()
		hi.A = lo.A
	}
	if b.Range != nil {
		hi.B = math.MaxUint64
		if b.Range.Low.Given {
			lo.B = condition.Image(b.Range.Low.Key)
		}
		if b.Range.High.Given {
			hi.B = condition.Image(b.Range.High.Key)
		}
	}
	return lo, hi
}

// seed makes hashes of keys hard to guess for who puts messages. Nothing that is kept depends on it.
var seed = maphash.MakeSeed()

// hashKey adds a canonical key: equal keys are the same Value.
func hashKey(h *maphash.Hash, v message.Value) {
	var b [9]byte
	b[0] = byte(v.Kind())
	switch v.Kind() {
	case message.KindString, message.KindDecimal:
		binary.LittleEndian.PutUint64(b[1:], uint64(len(v.AsString())))
		h.Write(b[:])
		h.WriteString(v.AsString())
		return
	case message.KindTime:
		binary.LittleEndian.PutUint64(b[1:], uint64(v.AsTime().UnixMicro()))
	case message.KindFloat:
		binary.LittleEndian.PutUint64(b[1:], math.Float64bits(v.AsFloat()))
	default:
		binary.LittleEndian.PutUint64(b[1:], v.AsUint())
	}
	h.Write(b[:])
}

// planned is a condition that indexes serve: for each branch of its plan, the index and the bounds in it.
type planned struct {
	where    *condition.Expr
	plan     condition.Plan
	branches []bounded
	asked    bool
	left     int  // how many messages may be looked at that have a fitting key and do not fit
	lost     bool // there were more of them, or the body of one has to be read
}

// walked tells whether a matcher serves the condition, since the keys of its indexes told too little.
func (p *planned) walked(q *queueState) bool {
	if !slices.ContainsFunc(p.branches, func(b bounded) bool { return b.index.walks }) {
		return false
	}
	text := p.where.String()
	return slices.ContainsFunc(q.views, func(v view) bool {
		m, ok := v.(*matcher)
		return ok && m.text == text
	})
}

func (p *planned) more() bool { return p.lost }

// lose lets a matcher serve the condition from now on: it remembers what it has looked at.
func (p *planned) lose(q *queueState) entry {
	p.lost = true
	for i := range p.branches {
		p.branches[i].index.walks = true
	}
	q.matcherFor(p.where, p.plan)
	return none
}

type bounded struct {
	index  *indexed
	lo, hi index.Key
}

// oldest returns the oldest ready message that meets the condition.
func (p *planned) oldest(s *state, q *queueState) entry {
	if !p.asked {
		p.asked = true
		noteUse(p.branches, s.now)
	}
	least, found := uint64(math.MaxUint64), false
	for i := range p.branches {
		b := &p.branches[i]
		if seq, ok := b.index.tree.Least(b.lo, b.hi); ok && seq < least {
			least, found = seq, true
		}
	}
	if !found {
		return none
	}
	if p.lost {
		return none
	}
	if e, there := q.all.Get(least); there {
		switch a, steps := s.env(q, e).ask(p.where); a {
		case mustRead, tooMuch:
			return p.lose(q)
		case isMet:
			return e
		default:
			p.left -= steps - 1
		}
	}
	return p.walk(s, q, least)
}

// noteUse notes that a claim asks the indexes of some branches, each once.
func noteUse(branches []bounded, now int64) {
	var asked [maxShapes]*indexed
	n := 0
	for i := range branches {
		if x := branches[i].index; !slices.Contains(asked[:n], x) {
			x.used(now)
			asked[n] = x
			n++
		}
	}
}

// walk goes on where the oldest message with a fitting key turned out not to fit: past it, the oldest first.
func (p *planned) walk(s *state, q *queueState, after uint64) (best entry) {
	for i := range p.branches {
		b := &p.branches[i]
		for seq := range b.index.tree.Ascend(b.lo, b.hi) {
			if best != none && seq >= best.seq() {
				break
			}
			if seq <= after {
				continue
			}
			q.scanned++
			b.index.examined++
			if p.left--; p.left < 0 {
				return p.lose(q)
			}
			e, there := q.all.Get(seq)
			if !there {
				continue
			}
			a, steps := s.env(q, e).ask(p.where)
			if a == mustRead || a == tooMuch {
				return p.lose(q)
			}
			if a == isMet {
				best = e
				break
			}
			p.left -= steps - 1
		}
	}
	return best
}

// maxShapes is how many indexes one condition may use.
const maxShapes = maxIndexes / 2

// servable tells whether indexes find exactly what a plan asks for.
func servable(p condition.Plan, q *queueState) bool { return p.Residue == nil && narrows(p, q) }

// narrows tells whether indexes find what lies in the branches of a plan.
func narrows(p condition.Plan, q *queueState) bool {
	if !p.Served() {
		return false
	}
	var seen []string
	for i := range p.Branches {
		b := &p.Branches[i]
		if b.Range != nil && b.Range.Name == "body" ||
			slices.ContainsFunc(b.Equal, func(e condition.Equal) bool { return e.Name == "body" }) {
			if q.def.Columns == nil {
				return false // it would have to be read for each message
			}
		}
		if shape := shapeOf(b); !slices.Contains(seen, shape) {
			seen = append(seen, shape)
		}
	}
	return len(seen) <= maxShapes
}
