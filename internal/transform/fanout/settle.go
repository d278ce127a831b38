package fanout

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	maxSettles     = 10_000
	pendingSettles = math.MaxInt32 // as many as there are items under way, which the pipeline bounds
	keepTries      = 5
	// rememberOver is how many runs are remembered that are over. A message whose settlement was not yet durable at a
	// crash comes again, so it has to be at least as many as the pipeline may have in flight.
	rememberOver = 20_000
)

// end is an item of which it is known what became of it.
type end struct {
	run  *run
	at   place
	back bool
	held *component.Outcome // back, and no fault; nil: not so
}

// settled is told what became of an item.
func (t *Fanout) settled(r *run, at place, o component.Outcome) {
	e := end{run: r, at: at, back: o.Verdict != component.Delivered}
	if o.Back {
		held := o // apart from o, which is not on the heap for all others
		e.held = &held
	}
	if err := t.settles.Post(e); err != nil { // closed: nothing is under way by then
		t.mu.Lock()
		defer t.mu.Unlock()
		r.lost = true
		r.pending--
	}
}

// ended notes that a run's source has no more items.
func (t *Fanout) ended(r *run, settle func(component.Outcome)) {
	t.mu.Lock()
	r.running, r.settle = false, settle
	none := r.pending == 0
	t.mu.Unlock()
	if none { // nothing more will come by
		_ = t.settles.Post(end{run: r})
	}
}

// leave notes that a Stream has failed.
func (t *Fanout) leave(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.running = false
	t.forget(r)
}

// forget drops a run from memory of which nothing is under way. What has to be known is in its notes. The lock is held.
func (t *Fanout) forget(r *run) {
	if r.running || r.settle != nil || r.pending > 0 {
		return
	}
	if t.memory != nil {
		delete(t.runs, r.id)
		t.left[r.id] = true
		return
	}
	// Without notes this is all there is for another try; which of them comes nobody tells.
	t.resting = append(slices.DeleteFunc(t.resting, func(id string) bool { return id == r.id }), r.id)
	if len(t.resting) > restingRuns {
		delete(t.runs, t.resting[0])
		t.resting = t.resting[1:]
	}
}

// restingRuns is how many runs are kept in memory that are neither under way nor remembered.
const restingRuns = 100

// keepEnds is the handler of settlements: those that came together share one change.
func (t *Fanout) keepEnds(ctx context.Context, ends []end) []error {
	var runs []*run
	counts := map[*run]int{}
	t.mu.Lock()
	for _, e := range ends {
		if !slices.Contains(runs, e.run) {
			runs = append(runs, e.run)
		}
		if e.at.page == nil {
			continue
		}
		counts[e.run]++
		p := e.at.page
		p.sent.clear(e.at.at)
		if e.back {
			e.run.lost, e.run.partial = true, true
			if h := e.held; h != nil && (e.run.held == nil || h.After < e.run.held.After) {
				e.run.held = h
			}
			continue
		}
		if !p.done.has(e.at.at) {
			p.done.set(e.at.at)
			p.left--
			p.dirty = true
		}
	}
	var notes []queue.Note
	finished := map[*run]bool{}
	for _, r := range runs {
		if r.settle != nil && !r.lost && r.pending == counts[r] {
			finished[r] = true
			notes = append(notes, t.finish(r)...)
			if note, _, ok := t.orders.progress(r, 0, true); ok {
				notes = append(notes, note)
			}
			continue
		}
		notes = append(notes, t.changes(r)...)
	}
	t.mu.Unlock()
	err := t.keepNotes(ctx, notes)
	t.conclude(runs, counts, finished, err)
	return nil
}

// changes are the notes of a run that goes on: of the pages in which something was settled, and of the watermark.
func (t *Fanout) changes(r *run) (notes []queue.Note) {
	last, settled := -1, 0
	for i, p := range r.pages {
		if p.left > 0 || r.frozen || !t.source.resumes() {
			break
		}
		settled += len(p.items)
		if p.end != nil {
			last = i
			r.began.After, r.began.Count = p.end, r.began.Count+uint64(settled)
			settled = 0
		}
	}
	if last >= 0 {
		r.began.At = time.Now().Unix()
		notes = append(notes, queue.Note{Room: t.room, Key: noteKey(r.id, noteBegan, 0), Value: r.began.encode()})
		for _, p := range r.pages[:last+1] {
			t.labels.close(p.label)
			notes = append(notes, t.gone(r, p)...)
		}
		r.pages = slices.Delete(r.pages, 0, last+1)
	}
	for _, p := range r.pages {
		if p.dirty {
			p.dirty = false
			notes = append(notes, queue.Note{Room: t.room, Key: noteKey(r.id, noteDone, p.number),
				Value: p.encodeDone()})
		}
		if p.left == 0 {
			t.labels.close(p.label)
		}
	}
	return notes
}

func (t *Fanout) gone(r *run, p *page) []queue.Note {
	return []queue.Note{{Room: t.room, Key: noteKey(r.id, notePage, p.number)},
		{Room: t.room, Key: noteKey(r.id, noteDone, p.number)}}
}

// finish are the notes of a run that is over: all that it left goes, and that it is over stays for a while.
func (t *Fanout) finish(r *run) (notes []queue.Note) {
	for _, p := range r.pages {
		t.labels.close(p.label)
	}
	if t.source.resumes() {
		for _, p := range r.pages {
			notes = append(notes, t.gone(r, p)...)
		}
	} else {
		for number := range r.next {
			notes = append(notes, t.gone(r, &page{number: number})...)
		}
	}
	if t.memory == nil {
		return nil
	}
	notes = append(notes, queue.Note{Room: t.room, Key: noteKey(r.id, noteBegan, 0)},
		queue.Note{Room: t.room, Key: noteKey(r.id, noteOver, 0), Value: overValue(time.Now())})
	t.over[r.id] = true
	t.overs = append(t.overs, r.id)
	for len(t.overs) > rememberOver {
		delete(t.over, t.overs[0])
		notes = append(notes, queue.Note{Room: t.room, Key: noteKey(t.overs[0], noteOver, 0)})
		t.overs = t.overs[1:]
	}
	return notes
}

// keepNotes makes notes durable. It is tried again while there is no room.
func (t *Fanout) keepNotes(ctx context.Context, notes []queue.Note) error {
	if t.memory == nil || len(notes) == 0 {
		return nil
	}
	var err error
	for try := range keepTries {
		if err = t.memory.KeepNotes(ctx, notes...); !errors.Is(err, queue.ErrNoRoom) {
			return err
		}
		if try < keepTries-1 {
			pause := time.NewTimer(time.Second)
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
				return err
			}
		}
	}
	return err
}

// conclude counts settlements out, and settles the messages of runs that nothing is left of.
func (t *Fanout) conclude(runs []*run, counts map[*run]int, finished map[*run]bool, err error) {
	type told struct {
		settle  func(component.Outcome)
		outcome component.Outcome
	}
	var tell []told
	var again, over []*run
	t.mu.Lock()
	if err != nil {
		t.fail(err)
	}
	for _, r := range runs {
		r.pending -= counts[r]
		r.lost = r.lost || err != nil
		if err == nil && t.memory != nil && !t.source.resumes() && r.known == nil {
			// Their notes know them, should they be read again.
			r.pages = slices.DeleteFunc(r.pages, func(p *page) bool { return p.left == 0 && !p.dirty })
		}
		if r.pending > 0 {
			continue
		}
		switch {
		case r.settle == nil:
			t.forget(r)
			continue
		case !finished[r] && !r.lost: // its source ended while this was being kept
			again = append(again, r)
			continue
		}
		o := component.OK(time.Time{})
		if !finished[r] || err != nil {
			o = component.Again(0, errGivenBack)
			if r.held != nil { // it is handed out again when the first of those is wanted
				o = component.GiveBack(max(r.held.After, pausedFor), r.held.Reason)
			}
		} else {
			over = append(over, r)
		}
		tell = append(tell, told{r.settle, o})
		r.settle = nil
		if finished[r] && err == nil {
			delete(t.runs, r.id)
		} else {
			t.forget(r)
		}
	}
	t.mu.Unlock()
	for _, r := range over {
		_, commit, _ := t.orders.progress(r, 0, true)
		commit()
	}
	for _, r := range again {
		// this handler runs, so it is not closed: Close waits for it, and for what it posts before
		_ = t.settles.Post(end{run: r})
	}
	for _, one := range tell {
		one.settle(one.outcome)
	}
}

var errGivenBack = errors.New("some of what was made of it is not settled")

// fail notes the first failure to remember, which Close returns.
func (t *Fanout) fail(err error) {
	if t.failed == nil {
		t.failed = err
	}
}
