package interest

import (
	"slices"
	"sort"
)

// line is a list of ids in rising order, each as often as it was added. Adding at the end and removing anywhere take
// a few steps whatever its length: it is cut into pieces.
type line struct {
	pieces [][]uint64 // none is empty; each begins where the one before has ended
}

// mostInPiece bounds the ids of a piece, and so what adding and removing have to move.
const mostInPiece = 256

// cursor is a place in a line; the zero cursor is the first.
type cursor struct{ piece, at int32 }

func (l *line) empty() bool { return len(l.pieces) == 0 }

// first is the least id of a line that is not empty.
func (l *line) first() uint64 { return l.pieces[0][0] }

// after returns the id behind the place c, and where it stands.
func (l *line) after(c cursor) (id uint64, at cursor, ok bool) {
	c.at++
	if int(c.at) == len(l.pieces[c.piece]) {
		c = cursor{c.piece + 1, 0}
		if int(c.piece) == len(l.pieces) {
			return 0, cursor{}, false
		}
	}
	return l.pieces[c.piece][c.at], c, true
}

// pieceOf is the index of the last piece that begins with id or less, or of the first.
func (l *line) pieceOf(id uint64) int {
	return max(sort.Search(len(l.pieces), func(i int) bool { return l.pieces[i][0] > id })-1, 0)
}

func (l *line) add(id uint64) {
	if l.empty() {
		l.pieces = [][]uint64{{id}}
		return
	}
	p := l.pieceOf(id)
	piece := l.pieces[p]
	at, _ := slices.BinarySearch(piece, id)
	switch {
	case len(piece) < mostInPiece:
		l.pieces[p] = slices.Insert(piece, at, id)
	case at == len(piece): // as when ids rise: full pieces stay full
		l.pieces = slices.Insert(l.pieces, p+1, []uint64{id})
	default:
		const half = mostInPiece / 2
		l.pieces[p] = piece[:half:half]
		l.pieces = slices.Insert(l.pieces, p+1, slices.Clone(piece[half:]))
		l.add(id)
	}
}

// remove takes an id out once and tells whether it was there.
func (l *line) remove(id uint64) bool {
	if l.empty() {
		return false
	}
	p := l.pieceOf(id)
	piece := l.pieces[p]
	at, found := slices.BinarySearch(piece, id)
	if !found {
		return false
	}
	if piece = shrunk(slices.Delete(piece, at, at+1)); len(piece) > 0 {
		l.pieces[p] = piece
		l.join(p)
		return true
	}
	l.pieces = shrunk(slices.Delete(l.pieces, p, p+1))
	return true
}

// join makes one piece of p and the next when both have become small.
func (l *line) join(p int) {
	p = max(min(p, len(l.pieces)-2), 0)
	if p+1 == len(l.pieces) || len(l.pieces[p])+len(l.pieces[p+1]) > mostInPiece/2 {
		return
	}
	l.pieces[p] = append(l.pieces[p], l.pieces[p+1]...)
	l.pieces = shrunk(slices.Delete(l.pieces, p+1, p+2))
}

// shrunk returns a slice without much more room than it needs, copied if need be.
func shrunk[T any](s []T) []T {
	const small = 16
	switch {
	case len(s) == 0:
		return nil
	case cap(s) > small && len(s) <= cap(s)/4:
		return append(make([]T, 0, 2*len(s)), s...)
	}
	return s
}
