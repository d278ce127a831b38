package shard

import (
	"context"
	"fmt"
	"hash/maphash"
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
// kept are what do has to keep.
func (r *Router) withNotes(ctx context.Context, shard int, notes []queue.Note,
	do func(kept []queue.Note) error) error {
	if len(notes) == 0 {
		return do(nil)
	}
	defer r.lockNotes(notes)()
	if shard == notesShard {
		return do(notes)
	}
	pending := make([]queue.Note, len(notes))
	for i := range notes {
		if len(notes[i].Value) > queue.MaxNoteBytes {
			return do(notes) // it says what is wrong
		}
		pending[i] = pendingNote(&notes[i])
	}
	if err := do(pending); err != nil {
		return err
	}
	// It is done: whoever waits no longer has it done all the same.
	return r.deliverNotes(context.WithoutCancel(ctx), shard, notes, pending)
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
	for shard, s := range r.stores {
		for _, room := range []string{pendingRoom, forgottenRoom} {
			pending, err := s.Notes(ctx, room)
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
	}
	return nil
}

// lockNotes keeps others from changing notes of some keys, until unlock is called.
func (r *Router) lockNotes(notes []queue.Note) (unlock func()) {
	of := make([]int, len(notes))
	for i := range notes {
		key := struct{ room, key string }{notes[i].Room, notes[i].Key}
		of[i] = int(maphash.Comparable(r.seed, key) % uint64(len(r.noting)))
	}
	slices.Sort(of)
	of = slices.Compact(of)
	for _, i := range of {
		r.noting[i].Lock()
	}
	return func() {
		for _, i := range of {
			r.noting[i].Unlock()
		}
	}
}

// Noted implements queue.Service.
func (r *Router) Noted(notes ...queue.Note) queue.Definer {
	return defining{r, func(shard int) queue.Definer { return noting{r, shard, notes} }}
}

// noting makes definitions of a shard with notes.
type noting struct {
	router *Router
	shard  int
	notes  []queue.Note
}

func (n noting) do(ctx context.Context, define func(queue.Definer) error) error {
	return n.router.withNotes(ctx, n.shard, n.notes, func(kept []queue.Note) error {
		return define(n.router.stores[n.shard].Noted(kept...))
	})
}

// CreateQueue implements queue.Definer.
func (n noting) CreateQueue(ctx context.Context, name queue.Name, d queue.Definition) (created bool, err error) {
	err = n.do(ctx, func(w queue.Definer) (err error) { created, err = w.CreateQueue(ctx, name, d); return err })
	return created, err
}

// AlterQueue implements queue.Definer.
func (n noting) AlterQueue(ctx context.Context, name queue.Name, d queue.Definition) error {
	return n.do(ctx, func(w queue.Definer) error { return w.AlterQueue(ctx, name, d) })
}

// CreateTopic implements queue.Definer.
func (n noting) CreateTopic(ctx context.Context, name queue.Name, labels map[string]string) (created bool, err error) {
	err = n.do(ctx, func(w queue.Definer) (err error) { created, err = w.CreateTopic(ctx, name, labels); return err })
	return created, err
}

// SetNotes implements queue.Service.
func (r *Router) SetNotes(ctx context.Context, notes ...queue.Note) error {
	defer r.lockNotes(notes)()
	return r.stores[notesShard].SetNotes(ctx, notes...)
}

// KeepNotes implements queue.Service.
func (r *Router) KeepNotes(ctx context.Context, notes ...queue.Note) error {
	defer r.lockNotes(notes)()
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
