package file

import (
	"errors"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func (j *Journal) wakeKeeper() {
	select {
	case j.tidy <- struct{}{}:
	default:
	}
}

func (j *Journal) wakeCleaner() {
	select {
	case j.dirty <- struct{}{}:
	default:
	}
}

// keep is the goroutine that reclaims segments of which nothing is needed, makes up the spares and seals an idle log.
func (j *Journal) keep() {
	var tick <-chan time.Time
	if j.opts.IdleSeal > 0 {
		t := time.NewTicker(j.opts.IdleSeal)
		defer t.Stop()
		tick = t.C
	}
	var seen journal.Position // the last group at the last tick
	var load syncLoad
	for {
		var err error
		select {
		case <-j.quit:
			return
		case <-j.tidy:
			err = errors.Join(j.reclaim(), j.refill(), j.zeroAhead(&load))
			j.wakeCleaner()
		case <-tick:
			seen, err = j.sealIdle(seen)
			j.wakeCleaner() // releases alone wake nobody
		}
		if err != nil {
			j.opts.Report(err)
		}
	}
}

// refill makes up the reserve, and when the tail is half full one more spare for the segment after it.
func (j *Journal) refill() error {
	for {
		j.mu.Lock()
		want := reserveSegments
		if j.tail.end >= j.tail.size/2 {
			want++
		}
		enough := len(j.spares) >= want || j.failed() != nil
		var name string
		if !enough {
			name = filepath.Join(j.dir, sparePrefix+strconv.FormatUint(j.spareNext, 10))
			j.spareNext++
		}
		j.mu.Unlock()
		if enough {
			j.short.Store(false)
			return nil
		}
		if err := j.allocate(name, j.opts.SegmentBytes); err != nil {
			if errors.Is(err, journal.ErrFull) {
				j.short.Store(true)
			}
			return err
		}
		j.mu.Lock()
		j.spares = append(j.spares, spare{name: name, size: j.opts.SegmentBytes})
		j.mu.Unlock()
	}
}
