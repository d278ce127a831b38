package http

import "sync/atomic"

// room counts bytes that are in use against a bound.
type room struct {
	limit int64
	used  atomic.Int64
}

// take takes n bytes if there are so many left.
func (r *room) take(n int64) bool {
	if r.used.Add(n) > r.limit {
		r.used.Add(-n)
		return false
	}
	return true
}

func (r *room) give(n int64) { r.used.Add(-n) }
