package file

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// toldPlaces is how many damaged places of one file are told one by one. All are counted.
const toldPlaces = 8

// found are the damaged places that are known, by file. Each is told once.
type found struct {
	mu     sync.Mutex
	places map[string][]int64 // offsets
	total  uint64
	rounds uint64
	last   time.Time // when the last whole round ended
}

// set says what is wrong in a file now, and returns what was not known. Nothing wrong forgets the file.
func (f *found) set(name string, damages []Damage) (fresh []Damage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.places[name]
	var now []int64
	for _, d := range damages {
		now = append(now, d.Offset)
		if !slices.Contains(known, d.Offset) {
			fresh = append(fresh, d)
		}
	}
	f.total += uint64(len(fresh))
	switch {
	case len(now) == 0:
		delete(f.places, name)
	case f.places == nil:
		f.places = map[string][]int64{name: now}
	default:
		f.places[name] = now
	}
	return fresh
}

// keepOnly forgets the files that are gone.
func (f *found) keepOnly(there func(name string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.places {
		if !there(name) {
			delete(f.places, name)
		}
	}
}

// ended counts a whole round.
func (f *found) ended() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rounds++
	f.last = time.Now()
}

// stats adds what is known.
func (f *found) stats(st *journal.Stats) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, offsets := range f.places {
		st.DamagedPlaces += len(offsets)
	}
	st.DamageFound, st.ScrubRounds, st.Scrubbed = f.total, f.rounds, f.last
}

// tell sets what is wrong in a file, and reports what was not known. done says what was done about it, "" nothing.
func (j *Journal) tell(name string, damages []Damage, done string) {
	fresh := j.found.set(name, damages)
	for i, d := range fresh {
		more := ""
		if i == toldPlaces-1 && len(fresh) > toldPlaces {
			more = fmt.Sprintf("; and %d places more in this file", len(fresh)-toldPlaces)
		}
		what := d.What + more
		if done != "" {
			what += "; " + done
		}
		j.opts.Report(damageAt(d.File, d.Offset, what))
		if more != "" {
			return
		}
	}
}
