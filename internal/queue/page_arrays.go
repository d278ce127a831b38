package queue

import "slices"

// insertSome inserts into an array that is nil while all its elements are zero; n is how many there are afterwards.
func insertSome[T comparable](to []T, i, n int, v T) []T {
	var zero T
	if to == nil {
		if v == zero {
			return nil
		}
		to = make([]T, n-1, n)
	}
	return slices.Insert(to, i, v)
}

// pack drops the rows of messages that are gone.
func (p *page) pack() {
	kept := p.kept()
	n := kept.count()
	if n == len(p.rows) {
		return
	}
	rows := make([]row, 0, n)
	var heads []byte
	attempts, expires, shared := p.attempts, p.expires, p.shared
	p.attempts, p.expires, p.shared = nil, nil, nil
	i := 0
	for slot := p.packed.next(0); slot < pageSize; slot = p.packed.next(slot + 1) {
		if kept.has(uint8(slot)) {
			r := p.rows[i]
			heads = append(heads, p.headAt(i)...)
			r.head = uint32(len(heads))
			rows = append(rows, r)
			p.attempts = packSome(p.attempts, attempts, i, len(rows))
			p.expires = packSome(p.expires, expires, i, len(rows))
			p.shared = packSome(p.shared, shared, i, len(rows))
		}
		i++
	}
	p.rows, p.heads, p.packed = rows, slices.Clip(heads), kept
}

// packSome appends from[i] to an array that is nil while all its elements are zero; n is how many there are afterwards.
func packSome[T comparable](to, from []T, i, n int) []T {
	var v T
	if from != nil {
		v = from[i]
	}
	return insertSome(to, n-1, n, v)
}
