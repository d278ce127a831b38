package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestNotesAreKeptWithWhatAnotherShardHas(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	for shard := range 3 {
		n := w.in(shard, "q")
		note := queue.Note{Room: "room", Key: n.Name, Value: []byte("with " + n.Name)}
		_, err := w.Noted(note).CreateQueue(t.Context(), n, queue.Definition{})
		must(t, err)
		_, _, err = w.Commit(t.Context(), queue.Change{Puts: []queue.QueuePut{{To: n, Messages: messagesOf("m")}},
			Notes: []queue.Note{{Room: "marks", Key: n.Name, Value: []byte{}}}})
		must(t, err)
	}
	for range 2 {
		for shard := range 3 {
			n := w.in(shard, "q")
			if v, ok, err := w.Note(t.Context(), "room", n.Name); err != nil || !ok || string(v) != "with "+n.Name {
				t.Errorf("shard %d: %q, %v, %v", shard, v, ok, err)
			}
			if v, ok, err := w.Note(t.Context(), "marks", n.Name); err != nil || !ok || v == nil || len(v) > 0 {
				t.Errorf("shard %d: %q, %v, %v", shard, v, ok, err)
			}
		}
		w.nothingPends()
		w = w.after(true, onDemand)
	}
	gone := queue.Note{Room: "room", Key: w.in(1, "q").Name}
	must(t, w.Noted(gone).AlterQueue(t.Context(), w.in(1, "q"), queue.Definition{MaxAttempts: 3}))
	w = w.after(true, onDemand)
	if _, ok, err := w.Note(t.Context(), gone.Room, gone.Key); err != nil || ok {
		t.Errorf("a note is there that was forgotten with an alteration: %v", err)
	}
}

// nothingPends sees that no note waits in another shard than its own.
func (w *world) nothingPends() {
	w.t.Helper()
	for shard, s := range w.stores {
		for _, room := range []string{pendingRoom, forgottenRoom} {
			if ns, err := s.Notes(w.t.Context(), room); err != nil || len(ns) > 0 {
				w.t.Errorf("shard %d: %v in %q, %v", shard, ns, room, err)
			}
		}
	}
}

func TestANoteThatWaitedInAnotherShardIsKeptAtTheNextStart(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	must(t, w.SetNotes(t.Context(), queue.Note{Room: "room", Key: "old", Value: []byte("1")}))
	n := w.in(1, "q")
	notes := []queue.Note{{Room: "room", Key: "new", Value: []byte("2")}, {Room: "room", Key: "old"}}
	w.journals[0].Break(fmt.Errorf("%w: its disk is gone", journal.ErrFailed))
	if _, err := w.Noted(notes...).CreateQueue(t.Context(), n, queue.Definition{}); !errors.Is(err,
		queue.ErrUnavailable) {
		t.Errorf("kept while the shard of the notes has failed: %v", err)
	}
	w = w.after(true, onDemand)
	if got := w.shardOf(n); got != 1 {
		t.Errorf("the queue is in shard %d", got)
	}
	all, err := w.Notes(t.Context(), "room")
	if err != nil || len(all) != 1 || all[0].Key != "new" || string(all[0].Value) != "2" {
		t.Errorf("the notes are %v, %v", all, err)
	}
	w.nothingPends()
}

func TestAChangeThatDependsOnNotesIsOneGroupWithThem(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	near, far := w.in(0, "q"), w.in(1, "q")
	change := queue.Change{If: []queue.NoteIs{{Room: "room", Key: "k"}},
		Notes: []queue.Note{{Room: "room", Key: "k", Value: []byte("v")}},
		Puts:  []queue.QueuePut{{To: far, Messages: messagesOf("far")}, {To: near, Messages: messagesOf("near")}}}
	_, _, err := w.Commit(t.Context(), change)
	must(t, err)
	if _, _, err := w.Commit(t.Context(), change); !errors.Is(err, queue.ErrChanged) {
		t.Errorf("once more: %v", err)
	}
	w.quiet()
	w.wants(far, "far")
	w.wants(near, "near")
	w.put(far, "job")
	cs := w.claim(far)
	change.If = []queue.NoteIs{{Room: "room", Key: "k", Value: []byte("v")}}
	change.Settles = []queue.Settlement{{Token: cs[0].Token}}
	if _, _, err := w.Commit(t.Context(), change); !errors.Is(err, queue.ErrDefinition) {
		t.Errorf("with a settlement in another shard: %v", err)
	}
}

func TestSnapshotsAreFoundInTheShardOfTheirQueue(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	a, b := w.in(1, "a"), w.in(2, "b")
	w.put(a, "1")
	w.put(b, "2")
	sn := queue.Name{Namespace: queue.DefaultNamespace, Name: "monday"}
	_, err := w.TakeSnapshot(t.Context(), sn, a, queue.SnapshotOptions{})
	must(t, err)
	if _, err := w.TakeSnapshot(t.Context(), sn, b, queue.SnapshotOptions{}); !errors.Is(err, queue.ErrSnapshot) {
		t.Errorf("two of one name: %v", err)
	}
	w.settle(queue.Done, w.claim(a, b)...)
	if _, err := w.Seek(t.Context(), b, queue.SeekTo{Snapshot: sn}); !errors.Is(err, queue.ErrDefinition) {
		t.Errorf("to a snapshot of another queue: %v", err)
	}
	sought, err := w.Seek(t.Context(), a, queue.SeekTo{Snapshot: sn})
	if err != nil || sought.Back != 1 {
		t.Errorf("%+v, %v", sought, err)
	}
	w.wants(a, "1")
	all, err := w.Snapshots(t.Context())
	if err != nil || !slices.ContainsFunc(all, func(s queue.Snapshot) bool { return s.Name == sn && s.Queue == a }) {
		t.Errorf("%v, %v", all, err)
	}
	must(t, w.DeleteSnapshot(t.Context(), sn))
	if err := w.DeleteSnapshot(t.Context(), sn); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
}

func TestADefinitionThatDependsOnNotesIsMadeOnlyWhileTheyAreSo(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	for shard := range 3 {
		n := w.in(shard, "q")
		note := queue.Note{Room: "room", Key: n.Name, Value: []byte("1")}
		is, none := queue.NoteIs(note), queue.NoteIs{Room: "room", Key: n.Name}
		if _, err := w.Noted(note).If(is).CreateQueue(t.Context(), n, queue.Definition{}); !errors.Is(err,
			queue.ErrChanged) {
			t.Errorf("shard %d: made though the note is not there: %v", shard, err)
		}
		_, err := w.Noted(note).If(none).CreateQueue(t.Context(), n, queue.Definition{})
		must(t, err)
		if err := w.Noted(note).If(none).AlterQueue(t.Context(), n, queue.Definition{MaxAttempts: 2}); !errors.Is(err,
			queue.ErrChanged) {
			t.Errorf("shard %d: altered though the note is there: %v", shard, err)
		}
		must(t, w.Noted(note).If(is).AlterQueue(t.Context(), n, queue.Definition{MaxAttempts: 3}))
		if d, _, err := w.Definition(t.Context(), n); err != nil || d.MaxAttempts != 3 {
			t.Errorf("shard %d: %d attempts, %v", shard, d.MaxAttempts, err)
		}
	}
	w.nothingPends()
}

func TestANoteThatCouldNotBeCarriedHomeDoesNotOverwriteALaterOne(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	n := w.in(1, "q")
	w.journals[0].Refuse(true)
	note := queue.Note{Room: "room", Key: "k", Value: []byte("1")}
	if _, err := w.Noted(note).CreateQueue(t.Context(), n, queue.Definition{}); err == nil {
		t.Error("kept though the disk of the notes is full")
	}
	w.journals[0].Refuse(false)
	must(t, w.SetNotes(t.Context(), queue.Note{Room: "room", Key: "k", Value: []byte("2")}))
	for range 2 {
		if v, _, err := w.Note(t.Context(), "room", "k"); err != nil || string(v) != "2" {
			t.Errorf("the note is %q, %v", v, err)
		}
		w.nothingPends()
		w = w.after(false, onDemand)
	}
}

func TestANoteOfACallThatEndedEarlyDoesNotOverwriteALaterOne(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	n := w.in(1, "q")
	w.journals[1].Hold(true)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	w.appended(1, func() {
		go func() {
			defer close(done)
			note := queue.Note{Room: "room", Key: "k", Value: []byte("1")}
			_, _ = w.Noted(note).CreateQueue(ctx, n, queue.Definition{})
		}()
	})
	cancel()
	select { // either is right
	case <-done:
	case <-time.After(10 * time.Millisecond):
	}
	w.journals[1].Hold(false)
	<-done
	must(t, w.SetNotes(t.Context(), queue.Note{Room: "room", Key: "k", Value: []byte("2")}))
	for range 2 {
		if v, _, err := w.Note(t.Context(), "room", "k"); err != nil || string(v) != "2" {
			t.Errorf("the note is %q, %v", v, err)
		}
		w = w.after(false, onDemand)
	}
}

func TestARenameThatAnotherShardCouldNotHearIsToldBeforeTheNextOne(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	jobs, grave, tomb := w.in(0, "jobs"), w.in(1, "grave"), w.in(1, "tomb")
	_, err := w.CreateQueue(t.Context(), jobs, queue.Definition{DeadLetter: grave.String()})
	must(t, err)
	w.put(grave, "m")
	w.journals[0].Refuse(true)
	if err := w.RenameQueue(t.Context(), grave, tomb); !errors.Is(err, queue.ErrRefused) {
		t.Errorf("shard 0 took nothing, and the rename answers %v", err)
	}
	w.journals[0].Refuse(false)
	w.put(w.in(1, "other"), "m")
	must(t, w.RenameQueue(t.Context(), w.in(1, "other"), w.in(1, "another")))
	if d, _, err := w.Definition(t.Context(), jobs); err != nil || d.DeadLetter != tomb.String() {
		t.Errorf("dead letters go to %s, %v", d.DeadLetter, err)
	}
}
