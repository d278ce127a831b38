package dead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// load reads the notes of the room, and writes them anew where much of them is out of date.
func (r *Registry) load(ctx context.Context) error {
	r.ledger = ledger{room: r.room}
	var pages []queue.Note
	notes, err := r.config.Store.Notes(ctx, r.room)
	if err != nil {
		return err
	}
	for _, n := range notes {
		if !strings.HasPrefix(n.Key, causePrefix) {
			pages = append(pages, n) // in the order of their numbers, those of the first form before
			continue
		}
		number, cause, err := readCause(n.Key, n.Value)
		if err != nil {
			return damaged(n, err)
		}
		r.causes.set(number, cause)
	}
	total := 0
	for _, n := range pages {
		if err := r.loadPage(n, &total); err != nil {
			return damaged(n, err)
		}
	}
	r.ledger.tail = slices.Clone(r.ledger.tail[max(0, len(r.ledger.tail)-mergeNotes+1):])
	live := r.known.len()
	if len(pages) > 0 && total > 2*live+noteEntries || len(pages) > 2*mergeNotes+2*live/noteEntries {
		return r.rewrite(ctx, pages)
	}
	return nil
}

func damaged(n queue.Note, err error) error { return fmt.Errorf("note %q is damaged: %w", n.Key, err) }

var errNoCause = errors.New("it names a cause that is not there")

// loadPage takes the entries of a page over, and counts them.
func (r *Registry) loadPage(n queue.Note, total *int) error {
	number, old, err := pageNumber(n.Key)
	if err != nil {
		return err
	}
	read := readEntries
	if old {
		read = readOldEntries
	} else {
		r.ledger.tail = append(r.ledger.tail, page{number, n.Value})
	}
	r.ledger.next = max(r.ledger.next, number+1)
	var missing error
	err = read(n.Value, func(e entry) {
		*total++
		if e.what != 0 && !r.causes.has(e.what) {
			missing = errNoCause
		}
		if e.at == 0 || !r.forgotten(time.Unix(int64(e.at), 0)) {
			r.known.put(e)
		}
	})
	return errors.Join(err, missing)
}

// rewrite keeps what is known in as few pages as possible and then forgets the old ones, the oldest first: a crash in
// between leaves the end of what was noted before all that is known, and so the same. Last it forgets the causes that
// no page names any more.
func (r *Registry) rewrite(ctx context.Context, old []queue.Note) error {
	fresh := ledger{room: r.room, next: r.ledger.next}
	var values [][]byte
	used := map[uint16]bool{}
	r.known.all(func(e entry) {
		if len(values) == 0 || len(values[len(values)-1]) == noteEntries*entrySize {
			values = append(values, make([]byte, 0, noteEntries*entrySize))
		}
		last := &values[len(values)-1]
		*last = appendEntry(*last, e)
		used[e.what] = true
	})
	for _, value := range values {
		n := queue.Note{Room: r.room, Key: pageKey(fresh.next), Value: value}
		if _, _, err := r.config.Store.Commit(ctx, queue.Change{Notes: []queue.Note{n}, Needed: true}); err != nil {
			return err
		}
		fresh.tail = []page{{fresh.next, value}}
		fresh.next++
	}
	if err := r.forget(ctx, old); err != nil {
		return err
	}
	r.ledger = fresh
	return r.forgetCauses(ctx, used)
}

func (r *Registry) forget(ctx context.Context, notes []queue.Note) error {
	for some := range slices.Chunk(notes, 1000) {
		gone := make([]queue.Note, len(some))
		for i, n := range some {
			gone[i] = queue.Note{Room: r.room, Key: n.Key}
		}
		if _, _, err := r.config.Store.Commit(ctx, queue.Change{Notes: gone}); err != nil {
			return err
		}
	}
	return nil
}

func (r *Registry) forgetCauses(ctx context.Context, used map[uint16]bool) error {
	unused := r.causes.numbers(func(Cause) bool { return true })
	var notes []queue.Note
	for number := range unused {
		if used[number] {
			delete(unused, number)
			continue
		}
		notes = append(notes, queue.Note{Key: causeKey(number)})
	}
	if err := r.forget(ctx, notes); err != nil {
		return err
	}
	for number := range unused {
		r.causes.remove(number)
	}
	return nil
}
