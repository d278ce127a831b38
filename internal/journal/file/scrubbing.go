package file

import (
	"context"
	"sync"
	"time"
)

// Scrub says how a journal looks through its files for damage while it is open.
type Scrub struct {
	// from the beginning of one round to that of the next; the first begins with the journal. 0: never
	Every          time.Duration
	BytesPerSecond int64 // read at most; 8 MiB when 0
}

const defaultScrubBytes = 8 << 20

// scrubbing is how a journal is to look for damage now.
type scrubbing struct {
	mu      sync.Mutex
	how     Scrub
	changed chan struct{}      // closed when how changes
	end     context.CancelFunc // of the round under way; nil: none is
}

// SetScrub changes how the journal looks for damage. A round under way goes on with the new rate, or ends when there
// are to be none. The next one begins when Every has passed since the last one began, at once if that was longer ago or
// if there were none until now. On a journal that is read only it does nothing.
func (j *Journal) SetScrub(s Scrub) { j.scrubbing.set(s) }

// Scrub is how the journal looks for damage now.
func (j *Journal) Scrub() Scrub {
	how, _ := j.scrubbing.now()
	return how
}

func (b *scrubbing) set(how Scrub) {
	if how.BytesPerSecond <= 0 {
		how.BytesPerSecond = defaultScrubBytes
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if how == b.how {
		return
	}
	b.how = how
	if how.Every <= 0 && b.end != nil {
		b.end()
	}
	if b.changed != nil {
		close(b.changed)
	}
	b.changed = make(chan struct{})
}

// now is how, and a channel that is closed when it changes.
func (b *scrubbing) now() (Scrub, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.how, b.changed
}

// rate is for aside.
func (b *scrubbing) rate() (int64, <-chan struct{}) {
	how, changed := b.now()
	return how.BytesPerSecond, changed
}

// begin begins a round, whose context ends with ctx or when there are to be no rounds; ok is false if that is so now.
// The caller calls end.
func (b *scrubbing) begin(ctx context.Context) (round context.Context, end func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.how.Every <= 0 || ctx.Err() != nil {
		return nil, nil, false
	}
	round, cancel := context.WithCancel(ctx)
	b.end = cancel
	return round, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.end = nil
		cancel()
	}, true
}

// wait waits until the next round is due: Every after the last one began, which is the zero time when there was none
// since rounds were switched on. It fails when ctx ends.
func (b *scrubbing) wait(ctx context.Context, last time.Time) error {
	for {
		how, changed := b.now()
		var due <-chan time.Time
		stop := func() bool { return false }
		if how.Every > 0 {
			t := time.NewTimer(time.Until(last.Add(how.Every)))
			due, stop = t.C, t.Stop
		} else {
			last = time.Time{} // switched on again, they begin at once
		}
		select {
		case <-due:
			return nil
		case <-changed:
			stop()
		case <-ctx.Done():
			stop()
			return ctx.Err()
		}
	}
}
