package fanout

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// run is one message that is being made into many, from its first page until everything is settled. The transform's
// lock guards it.
type run struct {
	id       string
	campaign string // "": none
	began    began
	position json.RawMessage // behind the last page that left as a whole; nil: the beginning
	count    uint64          // items before position
	next     uint32          // number of the next page
	pages    []*page         // that are not forgotten, in the order in which they were kept
	known    map[uint64]place
	unseen   int  // items of known that the source has not brought since
	frozen   bool // pages are being read that were read before: the watermark stays

	running bool // a Stream reads
	pending int  // items under way, or settled and not yet durably so
	// how the item was given back that is wanted again first; nil: none was, or each by a fault
	held    *component.Outcome
	lost    bool // an item was given back, or what became of one could not be kept
	partial bool // some items before position have not left, or have come back
	settle  func(component.Outcome)
}

// page is some items that are remembered together.
type page struct {
	number uint32
	label  uint64
	end    json.RawMessage // the cursor behind it; nil: there is none that could be trusted
	items  []uint64        // their identities
	done   bits            // settled
	sent   bits            // on their way
	left   int             // that are not settled
	dirty  bool            // done has changed since it was kept
}

// place is where an item is remembered.
type place struct {
	page *page
	at   int
}

// join finds the run of a message, or begins it. over: everything was settled before.
func (t *Fanout) join(ctx context.Context, d component.Delivery) (r *run, over bool, err error) {
	id := runID(d)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over[id] {
		return nil, true, nil
	}
	r = t.runs[id]
	if r == nil {
		r = &run{id: id, began: began{At: time.Now().Unix()}}
		if t.left[id] {
			if err := t.recall(ctx, r); err != nil {
				return nil, false, err
			}
		}
		t.runs[id] = r
	} else if r.running || r.settle != nil {
		return nil, false, component.RetryError(0,
			fmt.Errorf("message %s is being made into many already", d.Message.ID))
	} else if !t.source.resumes() || r.partial {
		if err := t.recall(ctx, r); err != nil {
			return nil, false, err
		}
	}
	r.campaign = t.orders.campaigns.Of(d.Message)
	r.running, r.lost, r.partial, r.held = true, false, false, nil
	t.resting = slices.DeleteFunc(t.resting, func(other string) bool { return other == id })
	return r, false, nil
}

// recall reads what an earlier try has left, so that it can go on. Pages that are still under way stay as they are.
func (t *Fanout) recall(ctx context.Context, r *run) error {
	here, read := map[uint32]*page{}, map[uint32]bool{}
	for _, p := range r.pages {
		here[p.number] = p
	}
	if t.memory != nil {
		dones := map[uint32][]byte{}
		notes, err := t.memory.Notes(ctx, t.room)
		if err != nil {
			return err
		}
		for _, n := range notes {
			id, kind, number, ok := readKey(n.Key)
			if !ok || id != r.id {
				continue
			}
			switch kind {
			case noteBegan:
				if len(r.pages) > 0 {
					continue // what is in memory is newer
				}
				if err := json.Unmarshal(n.Value, &r.began); err != nil {
					return fmt.Errorf("%w: %w", errBadNote, err)
				}
			case notePage:
				if here[number] == nil {
					p, err := decodePage(number, n.Value)
					if err != nil {
						return err
					}
					here[number], read[number] = p, true
					r.pages = append(r.pages, p)
				}
				r.next = max(r.next, number+1)
			case noteDone:
				dones[number] = n.Value
			}
		}
		for number, value := range dones {
			if !read[number] {
				continue // what is in memory is newer
			}
			if err := here[number].settle(value); err != nil {
				return err
			}
		}
	}
	sortPages(r.pages)
	r.position, r.count = r.began.After, r.began.Count
	r.known, r.unseen = map[uint64]place{}, 0
	for _, p := range r.pages {
		for i, h := range p.items {
			r.known[h] = place{p, i}
			r.unseen++
		}
		if p.left > 0 {
			t.labels.reopen(p.label)
		}
	}
	r.frozen = r.unseen > 0
	delete(t.left, r.id)
	return nil
}

// take lets the items of a page leave: it remembers those that are new, and passes over those that have left before.
func (t *Fanout) take(ctx context.Context, r *run, parent *message.Message, items []item, out component.Out) error {
	leaving, err := t.keep(ctx, r, items)
	if err != nil {
		return err
	}
	for i, at := range leaving {
		if at.page == nil {
			continue
		}
		m, err := t.make(r, parent, &items[i], at)
		t.mu.Lock()
		if err != nil {
			r.partial = true
			t.mu.Unlock()
			return err
		}
		at.page.sent.set(at.at)
		r.pending++
		t.mu.Unlock()
		if err := out.Send(ctx,
			component.Delivery{Message: m, Settle: func(o component.Outcome) { t.settled(r, at, o) }}); err != nil {
			t.mu.Lock()
			at.page.sent.clear(at.at)
			r.pending--
			r.partial = true
			t.mu.Unlock()
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.count += uint64(len(items))
	if t.source.resumes() {
		if r.position, err = t.config.cursor(items); err != nil {
			return err
		}
	}
	if r.frozen && r.unseen == 0 {
		r.frozen, r.known = false, nil
	}
	return nil
}

// keep finds out where each item is remembered, and makes the new ones durable. The answer has no page for those that
// are not to leave.
func (t *Fanout) keep(ctx context.Context, r *run, items []item) ([]place, error) {
	leaving := make([]place, len(items))
	fresh := &page{}
	var where []int
	twice := make(map[uint64]bool, len(items))
	t.mu.Lock()
	for i := range items {
		id, name, err := t.identity(r, &items[i], i)
		if err == nil && twice[id] {
			err = fmt.Errorf("two items have the %s %s: key has to name a field that is different for each",
				t.config.Key, name)
		}
		if err != nil {
			t.mu.Unlock()
			return nil, err
		}
		twice[id] = true
		if at, ok := r.known[id]; ok {
			if r.unseen > 0 {
				r.unseen--
			}
			if !at.page.done.has(at.at) && !at.page.sent.has(at.at) {
				leaving[i] = at
			}
			continue
		}
		fresh.items = append(fresh.items, id)
		where = append(where, i)
	}
	if len(fresh.items) == 0 {
		t.mu.Unlock()
		return leaving, nil
	}
	err := t.keepPage(ctx, r, fresh, items)
	if err != nil {
		return nil, err
	}
	for k, i := range where {
		leaving[i] = place{fresh, k}
	}
	return leaving, nil
}

// keepPage makes a page durable. It is called with the lock, and gives it back.
func (t *Fanout) keepPage(ctx context.Context, r *run, p *page, items []item) error {
	var err error
	if p.label, err = t.label(ctx); err == nil && t.source.resumes() && !r.frozen {
		p.end, err = t.config.cursor(items)
	}
	if err != nil {
		t.mu.Unlock()
		return t.unkept(err)
	}
	p.number = r.next
	r.next++
	p.done, p.sent, p.left = newBits(len(p.items)), newBits(len(p.items)), len(p.items)
	r.pages = append(r.pages, p)
	if r.known != nil {
		for i, h := range p.items {
			r.known[h] = place{p, i}
		}
	}
	notes := []queue.Note{{Room: t.room, Key: noteKey(r.id, notePage, p.number), Value: encodePage(p)}}
	if p.number == 0 {
		notes = append(notes, queue.Note{Room: t.room, Key: noteKey(r.id, noteBegan, 0), Value: r.began.encode()})
	}
	more, commit, counted := t.orders.progress(r, len(p.items), false)
	t.mu.Unlock()
	if counted {
		notes = append(notes, more)
	}
	if t.memory == nil {
		commit()
		return nil
	}
	if err := t.memory.KeepNotes(ctx, notes...); err != nil {
		t.mu.Lock()
		r.pages = r.pages[:len(r.pages)-1]
		for _, h := range p.items {
			delete(r.known, h)
		}
		t.labels.close(p.label)
		t.mu.Unlock()
		return t.unkept(err)
	}
	commit()
	return nil
}

// unkept is the error of a page that could not be remembered: its items stay where they are until it can.
func (t *Fanout) unkept(err error) error {
	return component.RetryError(0, fmt.Errorf("which items were read could not be kept: %w", err))
}
