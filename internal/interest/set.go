package interest

import (
	"github.com/hikyaku/hikyaku/internal/condition"
)

// Set knows who waits for what. The zero Set is empty and ready to use. It is not safe for concurrent use, not even by
// several callers of Matching.
type Set struct {
	size      int
	interests table[*interest] // by the canonical text; "" is everything
	shapes    table[*shape]
	inUse     []*shape // the same shapes, to go through at each message
	names     names
	filed     uint64 // branches so far: gives each its number
	round     uint64 // calls of Matching so far
	spare     *round // of the last call, for the next
}

// interest is a distinct condition and those who wait for it. There is always one.
type interest struct {
	line   line
	first  uint64           // of line, as the trees know it
	test   *condition.Bound // what is to be tested of a message that is found; nil: nothing
	names  []*name          // in test, by slot
	places []place          // where its branches are filed; none for a condition that nothing can meet
	seen   uint64           // the last round that has found it
	unsure uint64           // the last one in which it was too much to be tested
}

// place is where a branch is filed.
type place struct {
	in   *drawer
	node *node
}

// Len is the number of Adds that were not yet removed.
func (s *Set) Len() int { return s.size }

// Add says that id waits for what meets where, nil being everything. Ids rise with the time of arrival; adding one out
// of order is possible, but slower. An id may be added any number of times, for one condition or for several.
//
// A condition that nobody waited for is planned, which takes microseconds; others only have their text compared.
func (s *Set) Add(id uint64, where *condition.Expr) {
	s.size++
	text := textOf(where)
	if i, ok := s.interests.get(text); ok {
		i.line.add(id)
		i.follow()
		return
	}
	i := &interest{first: id}
	i.line.add(id)
	s.file(i, where)
	s.interests.put(text, i)
}

// Remove takes one Add of the id with this condition back. It does nothing if there is none.
func (s *Set) Remove(id uint64, where *condition.Expr) {
	text := textOf(where)
	i, ok := s.interests.get(text)
	if !ok || !i.line.remove(id) {
		return
	}
	s.size--
	if i.line.empty() {
		s.unfile(i)
		s.interests.drop(text)
		return
	}
	i.follow()
}

func textOf(where *condition.Expr) string {
	if where == nil {
		return ""
	}
	return where.String()
}

// follow tells the trees who waits first, if that is another one now.
func (i *interest) follow() {
	first := i.line.first()
	if first == i.first {
		return
	}
	i.first = first
	for _, p := range i.places {
		p.in.root.refresh(p.node)
	}
}

// file puts an interest where messages that meet its condition find it.
func (s *Set) file(i *interest, where *condition.Expr) {
	plan := condition.Plan{Branches: []condition.Branch{{}}}
	if where != nil {
		plan = where.Plan()
	}
	if plan.Residue != nil {
		i.test = plan.Residue.Bind(func(text string) (slot int, ok bool) {
			i.names = append(i.names, s.names.take(text))
			return len(i.names) - 1, true
		})
	}
	i.places = make([]place, len(plan.Branches))
	for at := range plan.Branches {
		b := &plan.Branches[at]
		s.filed++
		d := s.shapeOf(b).drawer(b)
		n := newNode(i, b.Range, s.filed)
		d.root = d.root.insert(n)
		i.places[at] = place{d, n}
	}
}

// unfile takes an interest out again, and with it all that stood there for its sake alone.
func (s *Set) unfile(i *interest) {
	for _, n := range i.names {
		s.names.release(n)
	}
	for _, p := range i.places {
		if p.in.root = p.in.root.remove(p.node); p.in.root != nil {
			continue
		}
		of := p.in.of
		if of.drawers.drop(p.in.key); of.drawers.size() == 0 {
			s.forget(of)
		}
	}
}

// shapeOf finds or begins the shape of a branch.
func (s *Set) shapeOf(b *condition.Branch) *shape {
	text := shapeText(b)
	if sh, ok := s.shapes.get(text); ok {
		return sh
	}
	sh := &shape{text: text, at: len(s.inUse)}
	for at := range b.Equal {
		sh.equal = append(sh.equal, s.fieldOf(b.Equal[at].Field))
	}
	if b.Range != nil {
		span := s.fieldOf(b.Range.Field)
		sh.span = &span
	}
	s.shapes.put(text, sh)
	s.inUse = append(s.inUse, sh)
	return sh
}

func (s *Set) fieldOf(f condition.Field) field { return field{s.names.take(f.Name), f.View} }

// forget drops a shape under which nothing is filed any more.
func (s *Set) forget(sh *shape) {
	for _, f := range sh.equal {
		s.names.release(f.name)
	}
	if sh.span != nil {
		s.names.release(sh.span.name)
	}
	s.shapes.drop(sh.text)
	last := len(s.inUse) - 1
	s.inUse[sh.at] = s.inUse[last]
	s.inUse[sh.at].at = sh.at
	s.inUse[last] = nil
	s.inUse = shrunk(s.inUse[:last])
}
