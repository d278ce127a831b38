package queue

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// fold makes the state that a journal tells: its newest checkpoint and every group after it.
func fold(ctx context.Context, j journal.Journal) (*state, error) {
	s := newState()
	s.folding = true
	at, r, _, err := j.LoadCheckpoint(ctx)
	switch {
	case errors.Is(err, journal.ErrNoCheckpoint):
	case err != nil:
		return nil, err
	default:
		bodies := map[journal.Address]*sharedBody{}
		err := s.restore(bufio.NewReaderSize(r, 1<<20), bodies)
		if err2 := r.Close(); err == nil {
			err = err2
		}
		if err == nil {
			err = readPages(ctx, j, s, bodies)
		}
		if err != nil {
			return nil, fmt.Errorf("checkpoint at %d: %w", at, err)
		}
	}
	for g, err := range j.Scan(ctx, at) {
		if err != nil {
			return nil, err
		}
		group, err := decodeGroup(g)
		if err != nil {
			return nil, err
		}
		if err := s.apply(group, 0); err != nil {
			return nil, later("the log", "a record", err)
		}
		s.takeReleased() // Keep tells the journal what is needed
	}
	s.folding = false
	return s, nil
}

// Live returns which records a checkpoint of a Store's needs, in the order of the log, for a node that keeps the log
// and has no Store over it. What the checkpoint does not have itself is read from the log.
func Live(ctx context.Context, checkpoint io.Reader, log journal.Reader) ([]journal.Address, error) {
	s := newState()
	s.folding = true
	bodies := map[journal.Address]*sharedBody{}
	if err := s.restore(bufio.NewReaderSize(checkpoint, 1<<20), bodies); err != nil {
		return nil, err
	}
	if err := readPages(ctx, log, s, bodies); err != nil {
		return nil, err
	}
	live := slices.Collect(s.live())
	slices.SortFunc(live, journal.Address.Compare)
	return slices.Compact(live), nil
}

// readPages completes a state that was restored from a checkpoint.
func readPages(ctx context.Context, j journal.Reader, s *state, bodies map[journal.Address]*sharedBody) error {
	reading := &pageReading{s: s, bodies: bodies}
	err := j.Read(ctx, reading.records(), func(i int, r journal.Record, err error) { reading.add(i, r.Body, err) })
	if err := errors.Join(reading.failed, err); err != nil {
		return err
	}
	if len(reading.damaged) > 0 {
		again := s.beginRebuilding(reading.damaged)
		for g, err := range j.Scan(ctx, 0) {
			if err != nil {
				return err
			}
			group, err := decodeGroup(g)
			if err != nil {
				return err
			}
			again.add(group)
		}
		if err := again.end(bodies); err != nil {
			return err
		}
	}
	s.unread = nil
	return nil
}

// decodeGroup reads the events of a group of the journal.
func decodeGroup(g journal.Group) ([]applied, error) {
	group := make([]applied, len(g.Records))
	for i := range g.Records {
		when, e, err := decodeEvent(g.Records[i].Head)
		if err != nil {
			return nil, fmt.Errorf("record %d of group %d: %w", i, g.Position, err)
		}
		group[i] = applied{at: when, event: e, addr: journal.Address{Position: g.Position, Index: uint32(i)}}
	}
	return group, nil
}
