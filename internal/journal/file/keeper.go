package file

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/durable"
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
	var pool spareLoad
	var said complaint
	for {
		var err error
		select {
		case <-j.quit:
			return
		case <-j.tidy:
			small := load.small(&j.count)
			err = errors.Join(j.reclaim(), j.refill(small), j.zeroAhead(small))
			j.wakeCleaner()
		case <-tick:
			seen, err = j.sealIdle(seen)
			err = errors.Join(err, j.dropSpare(&pool))
			j.wakeCleaner() // releases alone wake nobody
			if j.short.Load() {
				j.wakeKeeper() // others may have made room
			}
		}
		if err != nil && said.isNew(err) {
			j.opts.Report(err)
		}
	}
}

// complaint is what was reported last. A disk that stays full is tried every second, and said to be full once a minute.
type complaint struct {
	text string
	at   time.Time
}

func (c *complaint) isNew(err error) bool {
	if text := err.Error(); text != c.text || time.Since(c.at) >= time.Minute {
		*c = complaint{text, time.Now()}
		return true
	}
	return false
}

// refill makes up the reserve, and when the tail is half full one more spare for the segment after it. small says that
// syncs are.
func (j *Journal) refill(small bool) error {
	for {
		j.mu.Lock()
		want := reserveSegments
		if j.tail.end >= j.tail.size/2 {
			want++
		}
		enough := len(j.spares) >= want || j.failed() != nil
		if enough {
			j.short.Store(false)
			j.refused, j.shortage = 0, nil
		}
		number := j.spareNext
		name := filepath.Join(j.dir, sparePrefix+strconv.FormatUint(number, 10))
		if !enough {
			j.spareNext++
		}
		j.mu.Unlock()
		if enough {
			return nil
		}
		f, err := j.allocate(name, j.opts.SegmentBytes)
		if err != nil {
			j.mu.Lock()
			j.shortage = err
			// the same name the next time: a reason that stays is told once
			if j.spareNext == number+1 && !errors.Is(err, fs.ErrExist) {
				j.spareNext = number
			}
			j.mu.Unlock()
			j.short.Store(true)
			return err
		}
		sp := spare{f: f, name: name, size: j.opts.SegmentBytes}
		if small {
			sp.written, err = j.zeroBeginning(sp)
		}
		j.mu.Lock()
		j.spares = append(j.spares, sp)
		j.tellRoom()
		j.mu.Unlock()
		if err != nil && !durable.Full(err) {
			return fmt.Errorf("write zeros where %s begins: %w", name, err)
		}
	}
}

// spareLoad is what the keeper remembers of the segments that were begun.
type spareLoad struct {
	begun uint64
	calm  int // ticks since one was
}

// calmTicks is after how many ticks without a new segment spares are given up, one a tick.
const calmTicks = 10

// dropSpare removes a spare that a busy log would soon use, and a calm one would not.
func (j *Journal) dropSpare(load *spareLoad) error {
	j.mu.Lock()
	if load.calm++; load.begun != j.begun {
		load.begun, load.calm = j.begun, 0
	}
	n := len(j.spares)
	if load.calm <= calmTicks || n <= reserveSegments+1 {
		j.mu.Unlock()
		return nil
	}
	sp := j.spares[0]
	j.spares = slices.Delete(j.spares, 0, 1) // more than the reserve are left: there is room for the same groups
	j.mu.Unlock()
	if err := errors.Join(sp.f.Close(), j.fs.Remove(sp.name)); err != nil {
		return fmt.Errorf("remove a spare that is not needed: %w", err)
	}
	return nil
}
