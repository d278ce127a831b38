package deployment

import (
	"context"
	"math/rand/v2"

	"github.com/hikyaku/hikyaku/internal/function"
)

// Invoke is function.Pool.Invoke, where the request's version may be an alias, too.
func (r *Registry) Invoke(ctx context.Context, in function.Request) (*function.Result, error) {
	pool, err := r.find(&in)
	if err != nil {
		return nil, err
	}
	return pool.Invoke(ctx, in)
}

// InvokeStream is Invoke whose answer goes to a stream.
func (r *Registry) InvokeStream(ctx context.Context, in function.Request, s function.Stream) (*function.Result, error) {
	pool, err := r.find(&in)
	if err != nil {
		return nil, err
	}
	return pool.InvokeStream(ctx, in, s)
}

// Look tells whether a request could be invoked, without doing it.
func (r *Registry) Look(in function.Request) error {
	_, _, err := r.Version(in.Function, in.Version)
	return err
}

// find resolves the request's qualifier, and sees to it that the pool has the version.
func (r *Registry) find(in *function.Request) (*function.Pool, error) {
	r.mu.RLock()
	f, pool := r.all[in.Function], r.pool
	var l *live
	qualifier := in.Version
	if qualifier == "" {
		in.Version = function.Latest
	}
	if f != nil {
		l = r.live[in.Function+":"+in.Version]
	}
	r.mu.RUnlock()
	if f == nil {
		return nil, r.notFound(in.Function, in.Version)
	}
	if in.ARN == "" {
		in.ARN = r.ARN(in.Function, qualifier)
	}
	if l != nil && pool != nil { // the usual case: a version that is there
		select {
		case <-l.done:
			if l.err == nil {
				return pool, nil
			}
		default:
		}
	}
	v, err := f.resolve(in.Version, rand.Float64)
	if err != nil {
		return nil, r.notFound(f.Name, in.Version)
	}
	in.Version = v.Number
	if err := r.ready(f, v); err != nil {
		return nil, err
	}
	return r.Pool()
}
