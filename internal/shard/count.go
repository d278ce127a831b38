package shard

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Each shard notes how many there are and which one it is, so that no message is hidden by another number.
const (
	countRoom = "hikyaku/shards"
	countKey  = "place"
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
	first, second, _ := strings.Cut(string(value), " of ")
	if shard, err = strconv.Atoi(first); err == nil {
		of, err = strconv.Atoi(second)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("the note of a shard's place is %.60q: %w", value, err)
	}
	return of, shard, nil
}

// settleCount sees that all stores are shards of this Router, and notes it where they are new. The note of shard 0 is
// the last one: where it is there, so are all.
func (r *Router) settleCount(ctx context.Context) error {
	n, noted := len(r.stores), make([]bool, len(r.stores))
	for i, s := range r.stores {
		of, shard, err := placeOf(ctx, s)
		switch {
		case err != nil:
			return fmt.Errorf("shard %d: %w", i, err)
		case of == 0:
			continue
		case of != n:
			return &CountError{i, of, n}
		case shard != i:
			return fmt.Errorf("the journal of shard %d is that of shard %d: the folders were exchanged", i, shard)
		}
		noted[i] = true
	}
	for i := n - 1; i >= 0; i-- {
		if noted[i] {
			continue
		}
		if noted[0] {
			return fmt.Errorf("shard %d is empty, and shard 0 is one of %d: its folder is not the one that it had",
				i, n)
		}
		if some, err := used(ctx, r.stores[i]); err != nil {
			return err
		} else if some {
			return &CountError{i, 1, n}
		}
		note := queue.Note{Room: countRoom, Key: countKey, Value: fmt.Appendf(nil, "%d of %d", i, n)}
		if err := r.stores[i].KeepNotes(ctx, note); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
	}
	return nil
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
