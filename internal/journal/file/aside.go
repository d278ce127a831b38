package file

import (
	"context"
	"sync/atomic"
	"time"
)

// asideBurst is what may be read at once after a rest.
const asideBurst = 1 << 20

// aside is a file system for somebody who reads every file from its beginning to its end beside those who work: so many
// bytes a second, and, where the system below can do that, without changing what the page cache keeps. Only reading is
// for it; one goroutine uses it.
type aside struct {
	FS
	ctx context.Context // ends waiting
	// rate is how many bytes a second, 0: no bound; and what is closed when that changes, nil: never
	rate   func() (int64, <-chan struct{})
	read   *atomic.Uint64 // bytes that were read; may be nil
	budget int64
	filled time.Time
}

func newAside(ctx context.Context, fsys FS, rate int64, read *atomic.Uint64) *aside {
	fixed := func() (int64, <-chan struct{}) { return rate, nil }
	return &aside{FS: fsys, ctx: ctx, rate: fixed, read: read, budget: asideBurst, filled: time.Now()}
}

// passing is an FS whose files can be read without leaving in memory what was not there before.
type passing interface {
	OpenPassing(name string) (File, error)
}

// Open opens for reading, whatever readOnly says.
func (a *aside) Open(name string, _ bool) (File, error) {
	open := func(name string) (File, error) { return a.FS.Open(name, true) }
	if p, ok := a.FS.(passing); ok {
		open = p.OpenPassing
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	return asideFile{f, a}, nil
}

// wait waits until n more bytes may be read.
func (a *aside) wait(n int) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if a.read != nil {
		a.read.Add(uint64(n))
	}
	rate, changed := a.fill()
	a.budget -= int64(n)
	for rate > 0 && a.budget < 0 {
		t := time.NewTimer(time.Duration(float64(-a.budget) / float64(rate) * float64(time.Second)))
		select {
		case <-t.C:
			return nil // what is owed is made up by the time that has passed
		case <-changed:
			t.Stop()
			rate, changed = a.fill() // the rest is waited for at the new rate
		case <-a.ctx.Done():
			t.Stop()
			return a.ctx.Err()
		}
	}
	return nil
}

// fill adds what may be read since it was called last, and returns the rate.
func (a *aside) fill() (rate int64, changed <-chan struct{}) {
	rate, changed = a.rate()
	now := time.Now()
	a.budget = min(asideBurst, a.budget+int64(now.Sub(a.filled).Seconds()*float64(rate)))
	a.filled = now
	return rate, changed
}

// pause waits, or fails when ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// asideFile is a file that is read aside. What File may have besides is not offered.
type asideFile struct {
	File
	a *aside
}

func (f asideFile) ReadAt(b []byte, offset int64) (int, error) {
	if err := f.a.wait(len(b)); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, offset)
}
