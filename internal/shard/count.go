package shard

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Each shard notes how many there are and which one it is, so that no message is hidden by another number.
const (
	countRoom = "hikyaku/shards"
	countKey  = "place"
	wholeKey  = "whole" // in the last one: all have noted their places
	idKey     = "id"    // drawn once, the same in all shards: they belong together
)

// CountError says that a journal was made for another number of shards than it is opened with.
type CountError struct {
	Shard       int // where that is noted
	Made, Given int
}

func (e *CountError) Error() string {
	return fmt.Sprintf("shard %d was made as one of %d, and is opened as one of %d", e.Shard, e.Made, e.Given)
}

// Alone sees that a store is all there is. The error is a *CountError where it is one of several shards.
func Alone(ctx context.Context, s queue.Service) error {
	made, _, err := placeOf(ctx, s)
	if err == nil && made > 1 {
		err = &CountError{Made: made, Given: 1}
	}
	return err
}

// placeOf is what a store has noted of its place; of is 0 where it has noted none.
func placeOf(ctx context.Context, s queue.Service) (of, shard int, err error) {
	value, there, err := s.Note(ctx, countRoom, countKey)
	if err != nil || !there {
		return 0, 0, err
	}
	return parsePlace(value)
}

func parsePlace(value []byte) (of, shard int, err error) {
	first, second, _ := strings.Cut(string(value), " of ")
	if shard, err = strconv.Atoi(first); err == nil {
		of, err = strconv.Atoi(second)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("the note of a shard's place is %.60q: %w", value, err)
	}
	return of, shard, nil
}

// settleCount sees that all stores are shards of this Router, and notes it where they are new. What a start that ended
// early has left is told from a lost folder by the order of the notes: the last shard's first, shard 0's then, and at
// the end, in the last shard, that all are there.
func (r *Router) settleCount(ctx context.Context) error {
	n := len(r.stores)
	last := r.stores[n-1]
	_, whole, err := last.Note(ctx, countRoom, wholeKey)
	if err != nil {
		return err
	}
	for i, s := range r.stores {
		noted, err := r.settlePlace(ctx, i, s)
		switch {
		case err != nil:
			return err
		case noted && i == 0:
			whole = true
		case !noted && whole:
			return fmt.Errorf("shard %d of %d is empty: its folder is not the one that it had", i, n)
		}
	}
	id, without, err := r.commonID(ctx)
	if err != nil {
		return err
	}
	if _, done, err := last.Note(ctx, countRoom, wholeKey); err != nil {
		return err
	} else if done {
		return noteID(ctx, id, without)
	}
	for i := n - 1; i >= 0; i-- {
		if some, err := used(ctx, r.stores[i]); err != nil {
			return err
		} else if some && !whole {
			return fmt.Errorf("shard %d of %d is in use, and others are empty: their folders are not those that they "+
				"had", i, n)
		}
		if err := note(ctx, r.stores[i], countKey, fmt.Sprintf("%d of %d", i, n)); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
	}
	if err := note(ctx, last, wholeKey, "yes"); err != nil {
		return err
	}
	return noteID(ctx, id, without)
}

// commonID is what all shards have noted that they belong together by, a new one where none has; without are those that
// have not: new ones, and those of a version before.
func (r *Router) commonID(ctx context.Context) (id string, without []store, err error) {
	var by int
	for i, s := range r.stores {
		value, there, err := s.Note(ctx, countRoom, idKey)
		switch {
		case err != nil:
			return "", nil, fmt.Errorf("shard %d: %w", i, err)
		case !there:
			without = append(without, s)
		case id == "":
			id, by = string(value), i
		case id != string(value):
			return "", nil, fmt.Errorf("the journals of shards %d and %d do not belong together: one of them is of "+
				"another data_dir", by, i)
		}
	}
	if id == "" {
		id = rand.Text()
	}
	return id, without, nil
}

// noteID notes the common id in shards.
func noteID(ctx context.Context, id string, in []store) error {
	for _, s := range in {
		if err := note(ctx, s, idKey, id); err != nil {
			return fmt.Errorf("note what the shards belong together by: %w", err)
		}
	}
	return nil
}

// settlePlace sees that a store is the shard of that number, or may become it.
func (r *Router) settlePlace(ctx context.Context, i int, s store) (noted bool, err error) {
	of, shard, err := placeOf(ctx, s)
	switch {
	case err != nil:
		return false, fmt.Errorf("shard %d: %w", i, err)
	case of == 0:
		some, err := used(ctx, s)
		if err == nil && some {
			err = &CountError{i, 1, len(r.stores)}
		}
		return false, err
	case of != len(r.stores):
		return false, &CountError{i, of, len(r.stores)}
	case shard != i:
		return false, fmt.Errorf("the journal of shard %d is that of shard %d: the folders were exchanged", i, shard)
	}
	return true, nil
}

func note(ctx context.Context, s store, key, value string) error {
	return s.KeepNotes(ctx, queue.Note{Room: countRoom, Key: key, Value: []byte(value)})
}

// used tells whether a store has been used by itself.
func used(ctx context.Context, s queue.Service) (bool, error) {
	queues, err := s.Queues(ctx)
	if err != nil || len(queues) > 0 {
		return true, err
	}
	topics, err := s.Topics(ctx)
	return len(topics) > 0, err
}
