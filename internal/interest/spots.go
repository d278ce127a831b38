package interest

// spot is a place to look at, with the least id that it may give: a tree of branches, or those who wait for a condition
// of which a branch was found.
type spot struct {
	least uint64
	tree  *node // nil: none
	of    *interest
	point int32  // of tree: index in round.points
	at    cursor // in of.line: least stands there; at the first, the condition has yet to be tested
}

// spots is a heap: the one with the least id is on top.
type spots []spot

func (h *spots) push(s spot) {
	*h = append(*h, s)
	list := *h
	at := len(list) - 1
	for at > 0 {
		up := (at - 1) / 2
		if list[up].least <= s.least {
			break
		}
		list[at] = list[up]
		at = up
	}
	list[at] = s
}

// pop takes the top off.
func (h *spots) pop() {
	list := *h
	last := len(list) - 1
	list[0], list[last] = list[last], spot{}
	*h = list[:last]
	h.sink()
}

// sink puts the top where it belongs after its least id has changed.
func (h *spots) sink() {
	list := *h
	if len(list) < 2 {
		return
	}
	s, at := list[0], 0
	for {
		down := 2*at + 1
		if down >= len(list) {
			break
		}
		if right := down + 1; right < len(list) && list[right].least < list[down].least {
			down = right
		}
		if s.least <= list[down].least {
			break
		}
		list[at] = list[down]
		at = down
	}
	list[at] = s
}
