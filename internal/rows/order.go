package rows

import "slices"

// inOrder divides piles so that the rows of one key, which stand in several piles where messages do not all have the
// same columns, are written in the order of their messages. Piles of different keys keep together: what does not
// meet needs no order.
func inOrder(piles []*pile) []*pile {
	if len(piles) < 2 {
		return piles
	}
	type place struct{ from, pile, row int }
	var places []place
	for k, p := range piles {
		for r, i := range p.from {
			places = append(places, place{i, k, r})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.from - b.from })
	type turn struct{ wave, pile int }
	last := make(map[string]turn, len(places)) // of each key
	turns := map[turn]*pile{}
	var waves [][]*pile
	var key []byte
	for _, at := range places {
		p := piles[at.pile]
		key = p.appendKey(key[:0], at.row)
		now, seen := last[string(key)]
		if seen && now.pile != at.pile {
			now.wave++
		}
		now.pile = at.pile
		last[string(key)] = now
		to := turns[now]
		if to == nil {
			to = &pile{layout: p.layout}
			turns[now] = to
			if now.wave == len(waves) {
				waves = append(waves, nil)
			}
			waves[now.wave] = append(waves[now.wave], to)
		}
		width := len(p.layout.columns)
		to.from = append(to.from, at.from)
		to.values = append(to.values, p.values[at.row*width:(at.row+1)*width]...)
	}
	if len(waves) == 1 {
		return piles
	}
	return slices.Concat(waves...)
}

// appendKey writes what tells the key of a row from others.
func (p *pile) appendKey(b []byte, row int) []byte {
	width := len(p.layout.columns)
	for _, c := range p.layout.keyAt {
		b = p.values[row*width+c].appendKey(b)
	}
	return b
}
