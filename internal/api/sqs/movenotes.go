package sqs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

func (m *move) key() string { return movePrefix + m.Source.String() + "/" + m.ID }

// slot is the key of the note that names the task under way of a queue: there is one at a time, whichever process
// carries it.
func slot(source queue.Name) string { return slotPrefix + source.String() }

// note is the task as a note.
func (m *move) note() (queue.Note, error) {
	value, err := json.Marshal(m)
	return queue.Note{Room: room, Key: m.key(), Value: value}, err
}

// over tells whether the task has ended.
func (m *move) over() bool { return m.Status != moveRunning && m.Status != moveCancelling }

// with is a task as another process kept it, with what this one has done since both knew the same of it.
func (m move) with(mine, both *move) move {
	m.Moved += mine.Moved - both.Moved
	switch {
	case m.Status == moveRunning:
		m.Status, m.Reason = mine.Status, mine.Reason
	case m.Status == moveCancelling && mine.over():
		m.Status = moveCancelled
	}
	return m
}

// saveMove keeps what a task has come to, and adds to it what another process has kept of it meanwhile. When the
// journal does not take it, the next start begins with what was kept before.
func (d *Server) saveMove(x *moving, m *move) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.stopping), putBackTimeout)
	defer cancel()
	if err := d.keepMove(ctx, x, m); err != nil {
		d.report(fmt.Errorf("sqs door: the move task %s of %s is not kept: %w", m.ID, m.Source.Short(), err))
	}
}

func (d *Server) keepMove(ctx context.Context, x *moving, m *move) error {
	for {
		note, err := m.note()
		if err != nil {
			return err
		}
		c := queue.Change{If: []queue.NoteIs{{Room: room, Key: note.Key, Value: x.kept.Value}},
			Notes: []queue.Note{note}, Needed: true}
		if m.over() && !x.kept.over() { // the next one may begin
			c.Notes = append(c.Notes, queue.Note{Room: room, Key: slot(m.Source)})
		}
		_, _, err = d.store.Commit(ctx, c)
		if err == nil {
			x.kept = keptMove{*m, note.Value}
		}
		if !errors.Is(err, queue.ErrChanged) {
			return err
		}
		if there, err := d.lookAfter(ctx, x, m); err != nil || !there {
			return err
		}
	}
}

// lookAfter adds to a task what another process has kept of it: what it moved, or that it is to end. It is not there
// when its queue was deleted.
func (d *Server) lookAfter(ctx context.Context, x *moving, m *move) (there bool, err error) {
	value, ok, err := d.store.Note(ctx, room, m.key())
	if err != nil || !ok || bytes.Equal(value, x.kept.Value) {
		return ok, err
	}
	now := keptMove{Value: value}
	if err := json.Unmarshal(value, &now.move); err != nil {
		return false, fmt.Errorf("the note %s of %s cannot be read: %w", m.key(), room, err)
	}
	*m = now.with(m, &x.kept.move)
	x.kept = now
	return true, nil
}

// movesOf are the tasks of a queue, newest first.
func (d *Server) movesOf(ctx context.Context, source queue.Name) ([]keptMove, error) {
	x := d.moves.of(source) // first: when it has ended, that is kept
	all, err := d.allMoves(ctx, source.String()+"/")
	if err != nil {
		return nil, err
	}
	if x != nil { // newer than what is kept
		now := x.get()
		all = slices.DeleteFunc(all, func(m keptMove) bool { return m.ID == now.ID })
		all = append(all, keptMove{move: now})
	}
	slices.SortFunc(all, func(a, b keptMove) int { return strings.Compare(b.ID, a.ID) })
	return all, nil
}

// allMoves reads the tasks whose keys go on so behind movePrefix.
func (d *Server) allMoves(ctx context.Context, prefix string) (all []keptMove, err error) {
	keys, err := d.store.NoteKeys(ctx, room, movePrefix+prefix)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		value, ok, err := d.store.Note(ctx, room, key)
		if err != nil {
			return nil, err
		}
		if !ok { // forgotten meanwhile
			continue
		}
		m := keptMove{Value: value}
		if err := json.Unmarshal(value, &m.move); err != nil {
			return nil, fmt.Errorf("the note %s of %s cannot be read: %w", key, room, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// resumeMoves takes up the tasks that were under way when the last process ended.
func (d *Server) resumeMoves(ctx context.Context) error {
	all, err := d.allMoves(ctx, "")
	if err != nil {
		return err
	}
	for _, m := range all {
		switch m.Status {
		case moveRunning:
			if err := d.begin(m); err != nil {
				return fmt.Errorf("move task %s of %s: %w", m.ID, m.Source.Short(), err)
			}
		case moveCancelling:
			end := m.move
			end.Status = moveCancelled
			d.saveMove(&moving{kept: m}, &end)
		}
	}
	return nil
}

// forgetMoves ends the task of a queue that is deleted, and forgets those of before.
func (d *Server) forgetMoves(ctx context.Context, n queue.Name) error {
	if x := d.moves.of(n); x != nil {
		x.end(ctx)
	}
	all, err := d.allMoves(ctx, n.String()+"/")
	if err != nil || len(all) == 0 {
		return err
	}
	notes := []queue.Note{{Room: room, Key: slot(n)}}
	for i := range all {
		notes = append(notes, queue.Note{Room: room, Key: all[i].key()})
	}
	return d.store.SetNotes(ctx, notes...)
}
