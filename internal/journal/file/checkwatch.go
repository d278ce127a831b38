package file

import (
	"context"
	"fmt"
)

// maxKnown bounds how many damaged places a Watcher remembers.
const maxKnown = 10_000

// Watcher looks at a journal again and again, in use or not: at a bounded rate, and without putting what it reads into
// the page cache in the place of what the owner of the journal needs. One goroutine uses it.
type Watcher struct {
	Dir            string
	BytesPerSecond int64 // 0: no bound

	known map[spotted]struct{}
}

// spotted is where damage is.
type spotted struct {
	file   string
	offset int64
}

// Look is Check, and says besides which of the damages no look before this one found.
func (w *Watcher) Look(ctx context.Context, progress func(done, total int64)) (report *Report, fresh []Damage,
	err error) {
	return w.look(ctx, osFS{}, progress)
}

func (w *Watcher) look(ctx context.Context, fsys FS, progress func(done, total int64)) (report *Report, fresh []Damage,
	err error) {
	report, err = look(ctx, newAside(ctx, fsys, w.BytesPerSecond, nil), w.Dir, progress)
	if err != nil {
		return nil, nil, fmt.Errorf("check journal %s: %w", w.Dir, err)
	}
	if w.known == nil || len(w.known) > maxKnown {
		w.known = make(map[spotted]struct{})
	}
	for _, d := range report.Damages {
		p := spotted{d.File, d.Offset}
		if _, ok := w.known[p]; !ok {
			w.known[p] = struct{}{}
			fresh = append(fresh, d)
		}
	}
	return report, fresh, nil
}
