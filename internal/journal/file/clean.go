package file

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const (
	// A segment is cleaned when at most half of it is live: then cleaning copies at most a byte for each that it gives
	// back. When the disk is short anything counts that gives back a sixteenth.
	cleanBelow      = 1.0 / 2
	cleanBelowShort = 15.0 / 16

	// Cleaning begins when a third of the bytes is dead and goes on until it is a sixth: so it comes in runs whose
	// survivors fill cold segments, not crumbs.
	cleanFrom  = 1.0 / 3
	cleanUntil = 1.0 / 6

	// as many cold segments of less than a sixteenth of a segment each are made one, whatever lives in them
	smallColds = 32

	cleanAgain   = time.Second // after an error; twice as long after each more
	cleanAtLeast = time.Minute
)

var (
	errStopped = errors.New("the journal is being closed") // ends what the cleaner does
	errSpoiled = errors.New("it stays as it is")           // ends a run; the next one leaves that segment alone
)

// clean is the goroutine that copies what is live in mostly dead segments into cold ones.
func (j *Journal) clean() {
	p := newPacer(j)
	going := false // since a third was dead
	for {
		select {
		case <-j.quit:
			return
		case <-j.dirty:
		}
		pause := cleanAgain
		for more := true; more; {
			var err error
			more, err = j.cleanSome(p, &going)
			switch {
			case err == nil:
				pause = cleanAgain
			case errors.Is(err, errStopped):
				return
			default:
				j.opts.Report(fmt.Errorf("clean journal %s: %w", j.dir, err))
				if more = j.failed() == nil; errors.Is(err, errSpoiled) {
					continue
				}
				if p.pause(pause) != nil {
					return
				}
				pause = min(2*pause, cleanAtLeast)
			}
			if more { // something changed; the keeper wakes the cleaner, so this must come to an end
				j.wakeKeeper()
			}
		}
	}
}

// cleanSome cleans as many segments as fill a cold one, and says whether there may be more to do.
func (j *Journal) cleanSome(p *pacer, going *bool) (more bool, err error) {
	horizon, ok := j.checkpoints.horizon()
	if !ok || j.failed() != nil {
		return false, nil
	}
	r := &run{j: j, pace: p, short: j.short.Load()}
	candidates := r.candidates(horizon, going)
	if len(candidates) == 0 {
		return false, nil
	}
	defer r.letGo()
	if err := r.plan(candidates); err != nil {
		return false, err
	}
	if len(r.survivors) == 0 {
		return false, nil // nothing is live any more, or nothing can be gained
	}
	if err := r.copy(); err != nil {
		return false, err
	}
	return true, nil
}

// victim is a segment whose survivors are to be copied: one of the log, or a cold one.
type victim struct {
	log  *segment
	cold *coldSegment

	bytes, live int64    // about
	before      liveness // of a segment of the log: what was live when the survivors were listed
}

func (v *victim) segment() *segment {
	if v.cold != nil {
		return &v.cold.segment
	}
	return v.log
}

func (v *victim) ratio() float64 { return float64(v.live) / float64(max(1, v.bytes)) }

// candidates lists the segments that are worth cleaning, the most dead first, and marks them: nobody else takes them
// away.
func (r *run) candidates(horizon journal.Position, going *bool) []*victim {
	j := r.j
	j.segMu.RLock()
	defer j.segMu.RUnlock()
	j.liveMu.Lock()
	defer j.liveMu.Unlock()
	if !j.kept {
		return nil
	}
	var all, small []*victim
	total, live := int64(0), int64(0)
	count := func(v *victim) {
		total += v.bytes
		live += v.live
		if s := v.segment(); v.live > 0 && !s.spoiled && !s.cleaning {
			all = append(all, v)
		}
	}
	for _, s := range j.segs {
		if s.sealed && s.totals.last <= horizon {
			count(&victim{log: s, bytes: s.end, live: s.liveBytes()})
		}
	}
	for _, c := range j.colds {
		// without what no cleaning can save
		v := &victim{cold: c, bytes: c.made.units * unitBytes, live: c.alive.units * unitBytes}
		count(v)
		if c.end < j.opts.SegmentBytes/16 && v.live > 0 && !c.spoiled && !c.cleaning {
			small = append(small, v)
		}
	}
	dead := float64(total - live)
	if *going = dead >= cleanFrom*float64(total) || *going && dead >= cleanUntil*float64(total); !*going && !r.short ||
		total == 0 {
		all = nil
	}
	r.pace.eager = 2*live < total
	below := cleanBelow
	if r.short {
		below = cleanBelowShort
	}
	chosen := slices.DeleteFunc(all, func(v *victim) bool { return v.ratio() > below })
	if len(chosen) == 0 && len(small) >= smallColds {
		chosen, r.merging = small, true
	}
	slices.SortFunc(chosen, func(a, b *victim) int { return cmp.Compare(a.ratio(), b.ratio()) })
	sum := int64(0)
	for i, v := range chosen {
		if sum += v.live; i > 0 && sum > j.opts.SegmentBytes {
			chosen = chosen[:i]
			break
		}
		v.segment().cleaning = true
	}
	r.marked = slices.Clone(chosen)
	return chosen
}

// liveBytes is about how many bytes the live records of a segment of the log have. liveMu is held.
func (s *segment) liveBytes() int64 {
	each := s.average
	if each == 0 && s.totals.lasting > 0 {
		each = int64(s.totals.lastingBytes/s.totals.lasting) + entryBytes
	}
	return min(s.end, each*int64(s.live.count))
}
