package condition

import (
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// set is a union of branches that holds every message of interest, and when exact no other.
type set struct {
	branches []Branch
	exact    bool
}

func everything() set { return set{branches: []Branch{{}}, exact: true} }
func nothing() set    { return set{exact: true} }

// notServed holds every message, though not all are of interest.
func notServed() set { return set{branches: []Branch{{}}} }

// whole tells whether s holds every message.
func (s set) whole() bool {
	return slices.ContainsFunc(s.branches, func(b Branch) bool { return len(b.Equal) == 0 && b.Range == nil })
}

// cost orders the sets of a conjunction: the smaller, the earlier it is taken in.
func (s set) cost() int {
	cost := 2 * len(s.branches)
	for _, b := range s.branches {
		if b.Range != nil {
			cost++
		}
	}
	return cost
}

// or is the union.
func (s set) or(t set) set {
	if s.whole() || t.whole() {
		return set{branches: []Branch{{}}, exact: s.whole() && s.exact || t.whole() && t.exact}
	}
	u := set{branches: slices.Clone(s.branches), exact: s.exact && t.exact}
	for _, b := range t.branches {
		if !slices.ContainsFunc(u.branches, b.equal) {
			u.branches = append(u.branches, b)
		}
	}
	if len(u.branches) > MaxBranches {
		return notServed()
	}
	return u
}

// and is the intersection. What cannot be kept of t (a second range, branches beyond the limit) is dropped: lossless is
// false then, and the result holds more than it should, but still nothing outside s.
func (s set) and(t set) (result set, lossless bool) {
	if len(s.branches)*len(t.branches) > MaxBranches {
		return set{branches: s.branches}, false
	}
	result, lossless = set{exact: s.exact && t.exact}, true
	for _, a := range s.branches {
		for _, b := range t.branches {
			both, possible, kept := a.and(b)
			if !possible {
				continue
			}
			lossless = lossless && kept
			if !slices.ContainsFunc(result.branches, both.equal) {
				result.branches = append(result.branches, both)
			}
		}
	}
	// A set that holds more than it should and yet nothing holds exactly nothing.
	result.exact = result.exact && lossless || len(result.branches) == 0
	return result, lossless
}

func (b Branch) equal(c Branch) bool {
	if !slices.Equal(b.Equal, c.Equal) || (b.Range == nil) != (c.Range == nil) {
		return false
	}
	return b.Range == nil || *b.Range == *c.Range
}

// and is what lies in both branches. possible is false when nothing can; kept is false when a term of c was left out.
func (b Branch) and(c Branch) (both Branch, possible, kept bool) {
	both, kept = Branch{Equal: slices.Clone(b.Equal), Range: b.Range}, true
	for _, e := range c.Equal {
		at, found := slices.BinarySearchFunc(both.Equal, e, compareFields)
		if found && both.Equal[at].Key != e.Key {
			return Branch{}, false, true
		}
		switch {
		case found:
		case len(both.Equal) < MaxTerms:
			both.Equal = slices.Insert(both.Equal, at, e)
		default:
			kept = false
		}
	}
	switch {
	case c.Range == nil:
	case both.Range == nil:
		both.Range = c.Range
	case both.Range.Field == c.Range.Field:
		r := both.Range.and(c.Range)
		if r.empty() {
			return Branch{}, false, true
		}
		both.Range = &r
	default:
		// The second range may still be decided by an equality of its field.
		e, found := both.find(c.Range.Field)
		if found && !c.Range.Contains(e.Key) {
			return Branch{}, false, true
		}
		kept = kept && found
	}
	if both.Range != nil {
		if e, found := both.find(both.Range.Field); found {
			if !both.Range.Contains(e.Key) {
				return Branch{}, false, true
			}
			both.Range = nil
		} else if both.Range.single() && len(both.Equal) < MaxTerms {
			e := Equal{both.Range.Field, both.Range.Low.Key}
			at, _ := slices.BinarySearchFunc(both.Equal, e, compareFields)
			both.Equal = slices.Insert(both.Equal, at, e)
			both.Range = nil
		}
	}
	return both, true, kept
}

func (b *Branch) find(f Field) (Equal, bool) {
	at, found := slices.BinarySearchFunc(b.Equal, Equal{Field: f}, compareFields)
	if !found {
		return Equal{}, false
	}
	return b.Equal[at], true
}

func compareFields(a, b Equal) int {
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return int(a.View) - int(b.View)
}

// and is the range of keys that lie in both, which are of one field.
func (r *Range) and(s *Range) Range {
	both := *r
	if s.Low.Given {
		c := 1
		if r.Low.Given {
			c = CompareKeys(s.Low.Key, r.Low.Key)
		}
		if c > 0 || c == 0 && s.Low.Open {
			both.Low = s.Low
		}
	}
	if s.High.Given {
		c := -1
		if r.High.Given {
			c = CompareKeys(s.High.Key, r.High.Key)
		}
		if c < 0 || c == 0 && s.High.Open {
			both.High = s.High
		}
	}
	return both
}

func (r *Range) empty() bool {
	if !r.Low.Given || !r.High.Given {
		return false
	}
	c := CompareKeys(r.Low.Key, r.High.Key)
	return c > 0 || c == 0 && (r.Low.Open || r.High.Open)
}

// single tells whether exactly one key lies in the range.
func (r *Range) single() bool {
	return r.Low.Given && r.High.Given && !r.Low.Open && !r.High.Open && r.Low.Key == r.High.Key
}

func closedAt(key message.Value) End { return End{Key: key, Given: true} }
func openAt(key message.Value) End   { return End{Key: key, Given: true, Open: true} }
