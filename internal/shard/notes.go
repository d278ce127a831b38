package shard

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// notesShard has all notes.
const notesShard = 0

// Rooms of the notes that wait in other shards: those that are to be kept, and those that are to be forgotten.
const (
	pendingRoom   = "hikyaku/notes pending"
	forgottenRoom = "hikyaku/notes forgotten"
)

// withNotes lets do keep notes with something else in a shard, as one group, and then keeps them where they belong.
// kept are what do has to keep. Meanwhile nobody else changes those that is names. Where they have to be carried home
// it waits for the end also when ctx ends.
func (r *Router) withNotes(ctx context.Context, shard int, notes []queue.Note, is []queue.NoteIs,
	do func(ctx context.Context, kept []queue.Note) error) error {
	if len(notes)+len(is) == 0 {
		return do(ctx, nil)
	}
	unlock, err := r.lockNotes(ctx, notes, is)
	if err != nil {
		return err
	}
	defer unlock()
	if shard == notesShard || len(notes) == 0 {
		return do(ctx, notes)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // else nobody would know whether they are to be carried home
	pending := make([]queue.Note, len(notes))
	for i := range notes {
		if len(notes[i].Value) > queue.MaxNoteBytes {
			return do(ctx, notes) // it says what is wrong
		}
		pending[i] = pendingNote(&notes[i])
	}
	before := r.slots[shard].now.Load()
	if err := do(ctx, pending); err != nil {
		r.unknown(shard, before, err)
		return err
	}
	return r.owed.do(func() error { return r.deliverNotes(ctx, shard, notes, pending) })
}

// pendingNote is how a note waits in another shard.
func pendingNote(n *queue.Note) queue.Note {
	p := queue.Note{Room: pendingRoom, Key: n.Room + "\x00" + n.Key, Value: n.Value}
	if n.Value == nil {
		p.Room, p.Value = forgottenRoom, []byte{}
	}
	return p
}

// deliverNotes keeps notes where they belong, and then lets go of those that waited in another shard. It is never
// refused for memory: they are promised.
func (r *Router) deliverNotes(ctx context.Context, shard int, notes, pending []queue.Note) error {
	if err := r.stores[notesShard].KeepNotes(ctx, notes...); err != nil {
		return fmt.Errorf("keep notes in shard %d: %w", notesShard, err)
	}
	over := slices.Clone(pending)
	for i := range over {
		over[i].Value = nil
	}
	return r.stores[shard].KeepNotes(ctx, over...)
}

// notePending delivers the notes that still waited when the process ended.
func (r *Router) notePending(ctx context.Context) error {
	for shard := range r.stores {
		if err := r.notePendingOf(ctx, shard); err != nil {
			return err
		}
	}
	return nil
}

func (r *Router) notePendingOf(ctx context.Context, shard int) error {
	for _, room := range []string{pendingRoom, forgottenRoom} {
		pending, err := r.stores[shard].Notes(ctx, room)
		if err != nil {
			return err
		}
		for i := range pending {
			p := &pending[i]
			n := queue.Note{Value: p.Value}
			if n.Room, n.Key, _ = strings.Cut(p.Key, "\x00"); room == forgottenRoom {
				n.Value = nil
			} else if n.Value == nil {
				n.Value = []byte{} // an empty note is one
			}
			if err := r.deliverNotes(ctx, shard, []queue.Note{n}, pending[i:i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteKey is what a note is found by.
type noteKey struct{ room, key string }

// lockNotes keeps others from changing notes of some keys, until unlock is called. Nothing is owed then.
func (r *Router) lockNotes(ctx context.Context, notes []queue.Note, is []queue.NoteIs) (unlock func(), err error) {
	keys := make([]noteKey, 0, len(notes)+len(is))
	for i := range notes {
		keys = append(keys, noteKey{notes[i].Room, notes[i].Key})
	}
	for i := range is {
		keys = append(keys, noteKey{is[i].Room, is[i].Key})
	}
	if unlock, err = lock(ctx, r.keys, keys...); err != nil {
		return nil, err
	}
	if err := r.owed.pay(ctx); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// Noted implements queue.Service.
func (r *Router) Noted(notes ...queue.Note) queue.Noted { return noted{r.noting(notes, nil), r, notes} }

// noted is the queue.Noted of a Router.
type noted struct {
	queue.Definer
	router *Router
	notes  []queue.Note
}

// If implements queue.Noted.
func (n noted) If(is ...queue.NoteIs) queue.Definer { return n.router.noting(n.notes, is) }

func (r *Router) noting(notes []queue.Note, is []queue.NoteIs) queue.Definer {
	return defining{r, func(shard int) queue.Definer { return noting{r, shard, notes, is} }}
}

// noting makes definitions of a shard with notes.
type noting struct {
	router *Router
	shard  int
	notes  []queue.Note
	is     []queue.NoteIs // as they have to be
}

func (n noting) do(ctx context.Context, to func(context.Context, queue.Definer) error) error {
	return n.router.withNotes(ctx, n.shard, n.notes, n.is, func(ctx context.Context, kept []queue.Note) error {
		define := func(w queue.Definer) error { return to(ctx, w) }
		with := n.router.stores[n.shard].Noted(kept...)
		switch {
		case len(n.is) == 0:
			return define(with)
		case n.shard == notesShard:
			return define(with.If(n.is...))
		}
		if err := n.router.expect(ctx, n.is); err != nil {
			return err
		}
		return define(with)
	})
}

// expect sees that notes are as they have to be. Nobody else changes them: their keys are locked.
func (r *Router) expect(ctx context.Context, is []queue.NoteIs) error {
	for i := range is {
		value, there, err := r.Note(ctx, is[i].Room, is[i].Key)
		if err != nil {
			return err
		}
		if there != (is[i].Value != nil) || !bytes.Equal(value, is[i].Value) {
			return fmt.Errorf("%w: note %s %q", queue.ErrChanged, is[i].Room, is[i].Key)
		}
	}
	return nil
}

// CreateQueue implements queue.Definer.
func (n noting) CreateQueue(ctx context.Context, name queue.Name, d queue.Definition) (created bool, err error) {
	err = n.do(ctx, func(ctx context.Context, w queue.Definer) (err error) {
		created, err = w.CreateQueue(ctx, name, d)
		return err
	})
	return created, err
}

// AlterQueue implements queue.Definer.
func (n noting) AlterQueue(ctx context.Context, name queue.Name, d queue.Definition) error {
	return n.do(ctx, func(ctx context.Context, w queue.Definer) error { return w.AlterQueue(ctx, name, d) })
}

// CreateTopic implements queue.Definer.
func (n noting) CreateTopic(ctx context.Context, name queue.Name, labels map[string]string) (created bool, err error) {
	err = n.do(ctx, func(ctx context.Context, w queue.Definer) (err error) {
		created, err = w.CreateTopic(ctx, name, labels)
		return err
	})
	return created, err
}

// SetNotes implements queue.Service.
func (r *Router) SetNotes(ctx context.Context, notes ...queue.Note) error {
	unlock, err := r.lockNotes(ctx, notes, nil)
	if err != nil {
		return err
	}
	defer unlock()
	return r.stores[notesShard].SetNotes(ctx, notes...)
}

// KeepNotes implements queue.Service.
func (r *Router) KeepNotes(ctx context.Context, notes ...queue.Note) error {
	unlock, err := r.lockNotes(ctx, notes, nil)
	if err != nil {
		return err
	}
	defer unlock()
	return r.stores[notesShard].KeepNotes(ctx, notes...)
}

// Note implements queue.Service.
func (r *Router) Note(ctx context.Context, room, key string) (value []byte, ok bool, err error) {
	return r.stores[notesShard].Note(ctx, room, key)
}

// NoteSize implements queue.Service.
func (r *Router) NoteSize(ctx context.Context, room, key string) (size int, ok bool, err error) {
	return r.stores[notesShard].NoteSize(ctx, room, key)
}

// Notes implements queue.Service.
func (r *Router) Notes(ctx context.Context, room string) ([]queue.Note, error) {
	return r.stores[notesShard].Notes(ctx, room)
}

// NoteKeys implements queue.Service.
func (r *Router) NoteKeys(ctx context.Context, room, prefix string) ([]string, error) {
	return r.stores[notesShard].NoteKeys(ctx, room, prefix)
}
