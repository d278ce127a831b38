package queue

import "slices"

// sequenceSet is an ordered set of sequences that is small when it has few. The zero value is empty and ready to use.
type sequenceSet struct {
	few  []uint64   // in their order, while there are at most fewSequences
	many *sequences // else
}

// fewSequences is how many sequences a set keeps in a row.
const fewSequences = 32

// Len is the number of sequences in the set.
func (s *sequenceSet) Len() int {
	if s.many != nil {
		return s.many.Len()
	}
	return len(s.few)
}

// Add tells whether seq was not in the set before.
func (s *sequenceSet) Add(seq uint64) bool {
	if s.many != nil {
		return s.many.Add(seq)
	}
	at, there := slices.BinarySearch(s.few, seq)
	if there {
		return false
	}
	if len(s.few) < fewSequences {
		s.few = slices.Insert(s.few, at, seq)
		return true
	}
	s.many = &sequences{}
	for _, x := range s.few {
		s.many.Add(x)
	}
	s.few = nil
	return s.many.Add(seq)
}

// Delete tells whether seq was in the set.
func (s *sequenceSet) Delete(seq uint64) bool {
	if s.many != nil {
		was := s.many.Delete(seq)
		if s.many.Len() == 0 {
			s.many = nil
		}
		return was
	}
	at, there := slices.BinarySearch(s.few, seq)
	if !there {
		return false
	}
	s.few = slices.Delete(s.few, at, at+1)
	return true
}

// Min is the least sequence; ok is false when there is none.
func (s *sequenceSet) Min() (seq uint64, ok bool) {
	switch {
	case s.many != nil:
		return s.many.Min()
	case len(s.few) > 0:
		return s.few[0], true
	}
	return 0, false
}

// Ascend calls each for the sequences in their order, until it returns false. The set must not be changed meanwhile.
func (s *sequenceSet) Ascend(each func(seq uint64) bool) { s.AscendFrom(0, each) }

// AscendFrom is Ascend from a sequence on.
func (s *sequenceSet) AscendFrom(from uint64, each func(seq uint64) bool) {
	if s.many != nil {
		s.many.Ascend(from, each)
		return
	}
	for _, seq := range s.few {
		if seq >= from && !each(seq) {
			return
		}
	}
}

// Descend calls each for the sequences from one on down, until it returns false. The set must not be changed meanwhile.
func (s *sequenceSet) Descend(from uint64, each func(seq uint64) bool) {
	if s.many != nil {
		s.many.Descend(from, each)
		return
	}
	for _, seq := range slices.Backward(s.few) {
		if seq <= from && !each(seq) {
			return
		}
	}
}
