package sqs

import "sync/atomic"

// space counts bytes that are in use against a bound.
type space struct {
	limit int64
	used  atomic.Int64
}

// take takes n bytes if there are so many left.
func (r *space) take(n int64) bool {
	if r.used.Add(n) > r.limit {
		r.used.Add(-n)
		return false
	}
	return true
}

func (r *space) give(n int64) { r.used.Add(-n) }
