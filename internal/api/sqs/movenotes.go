package sqs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

func (m *move) key() string { return movePrefix + m.Source.String() + "/" + m.ID }

// note is the task as a note.
func (m *move) note() (queue.Note, error) {
	value, err := json.Marshal(m)
	return queue.Note{Room: room, Key: m.key(), Value: value}, err
}

// saveMove keeps what a task has come to. When the journal does not take it, the next start begins with what was kept
// before.
func (d *Server) saveMove(m move) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.stopping), putBackTimeout)
	defer cancel()
	note, err := m.note()
	if err == nil {
		err = d.store.KeepNotes(ctx, note)
	}
	if err != nil {
		d.report(fmt.Errorf("sqs door: the move task %s of %s is not kept: %w", m.ID, m.Source.Short(), err))
	}
}

// movesOf are the tasks of a queue, newest first.
func (d *Server) movesOf(ctx context.Context, source queue.Name) ([]move, error) {
	x := d.moves.of(source) // first: when it has ended, that is kept
	all, err := d.allMoves(ctx, source.String()+"/")
	if err != nil {
		return nil, err
	}
	if x != nil { // newer than what is kept
		now := x.get()
		all = slices.DeleteFunc(all, func(m move) bool { return m.ID == now.ID })
		all = append(all, now)
	}
	slices.SortFunc(all, func(a, b move) int { return strings.Compare(b.ID, a.ID) })
	return all, nil
}

// allMoves reads the tasks whose keys go on so behind movePrefix.
func (d *Server) allMoves(ctx context.Context, prefix string) (all []move, err error) {
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
		var m move
		if err := json.Unmarshal(value, &m); err != nil {
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
			m.Status = moveCancelled
			d.saveMove(m)
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
	notes := make([]queue.Note, len(all))
	for i := range all {
		notes[i] = queue.Note{Room: room, Key: all[i].key()}
	}
	return d.store.SetNotes(ctx, notes...)
}
