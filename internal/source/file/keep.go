package file

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	keepInterval  = time.Second
	closePatience = 10 * time.Second
	keepAtOnce    = 500 // notes in one change of the store
)

// keep writes the places down again and again. What cannot be noted is noted later: it costs lines that are sent twice,
// never one that is lost.
func (s *Source) keep(ctx context.Context) {
	tick := time.NewTicker(keepInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.save(ctx); err != nil && ctx.Err() == nil {
			s.notice("%v: it is tried again", err)
		}
	}
}

// save writes down the places that have changed.
func (s *Source) save(ctx context.Context) error {
	s.mu.Lock()
	tails := make([]*tail, 0, len(s.tails))
	for _, t := range s.tails {
		tails = append(tails, t)
	}
	s.mu.Unlock()
	var errs []error
	for some := range slices.Chunk(tails, keepAtOnce) {
		errs = append(errs, s.saveSome(ctx, some))
	}
	return errors.Join(errs...)
}

func (s *Source) saveSome(ctx context.Context, tails []*tail) error {
	s.saving.Lock() // an older note never overwrites a younger one
	defer s.saving.Unlock()
	var notes []queue.Note
	var whose []*tail
	var kept []note
	var errs []error
	for _, t := range tails {
		n, changed, err := t.note()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if changed {
			notes = append(notes, queue.Note{Room: room, Key: s.key(t.id), Value: n.bytes()})
			whose, kept = append(whose, t), append(kept, n)
		}
	}
	if len(notes) == 0 {
		return errors.Join(errs...)
	}
	if err := s.memory.KeepNotes(ctx, notes...); err != nil {
		return errors.Join(append(errs, fmt.Errorf("places in files could not be noted: %w", err))...)
	}
	for i, t := range whose {
		t.mu.Lock()
		t.saved = kept[i]
		t.mu.Unlock()
	}
	return errors.Join(errs...)
}

// remember notes files before the first of their lines is sent, so that these carry the same Origin after a kill.
func (s *Source) remember(ctx context.Context) error {
	var fresh []*tail
	for _, t := range s.order {
		if t.fresh {
			fresh = append(fresh, t)
		}
	}
	for some := range slices.Chunk(fresh, keepAtOnce) {
		err := s.saveSome(ctx, some)
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, queue.ErrClosed), errors.Is(err, queue.ErrUnavailable):
			return err
		default:
			return s.trouble(err)
		}
		for _, t := range some {
			t.fresh = false
		}
	}
	return nil
}

// forget removes the note of a tail for good.
func (s *Source) forget(ctx context.Context, t *tail) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.forgetID(ctx, t.id); err != nil {
		return err
	}
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	return nil
}

func (s *Source) forgetID(ctx context.Context, id fileID) error {
	if err := s.memory.KeepNotes(ctx, queue.Note{Room: room, Key: s.key(id)}); err != nil {
		return fmt.Errorf("a file that is gone could not be forgotten: %w", err)
	}
	return nil
}
