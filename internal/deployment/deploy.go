package deployment

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
)

// definition is a version as the pool takes it.
func (r *Registry) definition(f *Function, v Version) function.Definition {
	s := v.Settings
	d := function.Definition{
		Name: f.Name, Version: v.Number, Runtime: s.Runtime, Handler: s.Handler, Command: s.Command,
		Layers: r.folders(s), Environment: s.Environment,
		MemoryMB: s.MemoryMB, StorageMB: s.StorageMB, Timeout: s.Timeout, Architecture: s.Architecture,
		Reserved: f.Reserved, Policy: s.Policy, Machines: s.Machines,
		InitTimeout: s.InitTimeout, Idle: s.Idle, Freeze: s.Freeze,
	}
	d.Code = code.Source{Folder: v.Folder, File: r.Archive(v), Name: "the archive"}
	d.Provisioned = f.Provisioned[v.Number]
	for name, a := range f.Aliases {
		if a.Version == v.Number {
			d.Provisioned = max(d.Provisioned, f.Provisioned[name])
		}
	}
	return d
}

// deploy gives a version to the pool, in the place of what it had. The caller holds r.change.
func (r *Registry) deploy(f *Function, v Version) error {
	pool, err := r.Pool()
	if err != nil {
		return err
	}
	if err := r.bring(v); err != nil {
		return fmt.Errorf("function %s, version %s: %w", f.Name, v.Number, err)
	}
	r.giving.Lock()
	defer r.giving.Unlock()
	if err := r.sound(r.stopping, v); err != nil {
		return fmt.Errorf("function %s, version %s: %w", f.Name, v.Number, err)
	}
	if _, err := pool.Deploy(r.definition(f, v)); err != nil {
		return err
	}
	done := make(chan struct{})
	close(done)
	r.mu.Lock()
	r.live[key(f.Name, v.Number)] = &live{done: done, revision: v.Revision}
	r.mu.Unlock()
	return nil
}

// redeploy gives the versions that are live to the pool again, and those that have to be from now on. The caller holds
// r.change.
func (r *Registry) redeploy(f *Function) error {
	var errs []error
	for _, v := range append(f.Published(), f.Latest) {
		r.mu.RLock()
		_, isLive := r.live[key(f.Name, v.Number)]
		r.mu.RUnlock()
		if isLive || r.definition(f, v).Provisioned > 0 {
			errs = append(errs, r.deploy(f, v))
		}
	}
	return errors.Join(errs...)
}

// ready gives a version to the pool if it has not got it, or waits until somebody else has.
func (r *Registry) ready(f *Function, v Version) error {
	k := key(f.Name, v.Number)
	r.mu.RLock()
	l := r.live[k]
	r.mu.RUnlock()
	if l == nil {
		r.mu.Lock()
		if l = r.live[k]; l == nil {
			l = &live{done: make(chan struct{}), revision: v.Revision}
			r.live[k] = l
			r.mu.Unlock()
			r.begin(f.Name, v, l)
		} else {
			r.mu.Unlock()
		}
	}
	<-l.done
	return l.err
}

// begin deploys a version for the first time since the start, by what the function is now.
func (r *Registry) begin(name string, v Version, l *live) {
	defer close(l.done)
	l.err = func() error {
		pool, err := r.Pool()
		if err != nil {
			return err
		}
		if err := r.bring(v); err != nil {
			return err
		}
		r.giving.Lock()
		defer r.giving.Unlock()
		f, err := r.Get(name)
		if err != nil {
			return err
		}
		r.mu.RLock()
		ours := r.live[key(name, v.Number)] == l
		r.mu.RUnlock()
		if !ours { // it was given another one meanwhile
			return nil
		}
		if v, err = f.resolve(v.Number, noDice); err != nil {
			return err
		}
		if err := r.sound(r.stopping, v); err != nil {
			return err
		}
		_, err = pool.Deploy(r.definition(f, v))
		return err
	}()
	if l.err == nil {
		return
	}
	l.err = fmt.Errorf("function %s, version %s: %w", name, v.Number, l.err)
	r.mu.Lock()
	if r.live[key(name, v.Number)] == l { // who comes next tries again
		delete(r.live, key(name, v.Number))
	}
	r.mu.Unlock()
}

// withdraw takes a version from the pool.
func (r *Registry) withdraw(name, version string) {
	r.mu.Lock()
	l, pool := r.live[key(name, version)], r.pool
	delete(r.live, key(name, version))
	r.mu.Unlock()
	if l == nil || pool == nil {
		return
	}
	<-l.done
	if err := pool.Remove(name, version); err != nil && !errors.Is(err, function.ErrUnknown) {
		r.config.Report(fmt.Errorf("remove function %s: %w", name, err))
	}
}

func key(name, version string) string { return name + ":" + version }

// Deployed is what the pool made of a version that was wanted already; ok is false for one that was not.
func (r *Registry) Deployed(name, version string) (stats function.Stats, ok bool) {
	r.mu.RLock()
	pool := r.pool
	r.mu.RUnlock()
	if pool == nil {
		return function.Stats{}, false
	}
	stats, err := pool.Stats(name, version)
	return stats, err == nil
}

// Stats tells about every version that was wanted since the start.
func (r *Registry) Stats() []function.Stats {
	r.mu.RLock()
	pool := r.pool
	r.mu.RUnlock()
	if pool == nil {
		return nil
	}
	return pool.List()
}

// Ready deploys what a qualifier names, so that mistakes are seen before the first invocation.
func (r *Registry) Ready(_ context.Context, name, qualifier string) error {
	f, err := r.Get(name)
	if err != nil {
		return err
	}
	v, err := f.resolve(qualifier, noDice)
	if err != nil {
		return r.notFound(f.Name, qualifier)
	}
	return r.ready(f, v)
}
