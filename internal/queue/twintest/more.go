package twintest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// there makes queues that are not there: a single store makes those of all of a claim, or of a change that it then
// refuses, shards only those that they come to.
func (w *Twins) there(names ...queue.Name) {
	w.t.Helper()
	for _, n := range names {
		w.both("claim "+n.String(), func(s queue.Service, _ bool) error {
			_, err := s.Configured().CreateQueue(w.t.Context(), n, queue.Definition{})
			if errors.Is(err, queue.ErrExists) {
				return nil
			}
			return err
		})
	}
}

// snapshotName is one of the few names that snapshots have.
func (w *Twins) snapshotName() queue.Name {
	return queue.Name{Namespace: "app", Name: fmt.Sprint("snapshot", w.random.IntN(3))}
}

// index is that of a twin.
func index(second bool) int {
	if second {
		return 1
	}
	return 0
}

// same sees that both answer the same.
func (w *Twins) same(what string, do func(s queue.Service, second bool) (any, error)) {
	w.t.Helper()
	var answers [2]string
	w.both(what, func(s queue.Service, second bool) error {
		answer, err := do(s, second)
		if err == nil {
			answers[index(second)] = fmt.Sprint(answer)
		}
		return err
	})
	if answers[0] != answers[1] {
		w.t.Fatalf("%s: the one that is tested answers %s, a store %s", what, answers[0], answers[1])
	}
}

// alter alters a queue, its definition or its columns.
func (w *Twins) alter(n, topic queue.Name) {
	w.t.Helper()
	ctx := w.t.Context()
	d := queue.Definition{MaxAttempts: 3 + w.random.IntN(3), History: time.Hour}
	w.both("alter "+n.String(), func(s queue.Service, _ bool) error {
		old, version, err := s.Definition(ctx, n)
		if err != nil {
			return err
		}
		d := d
		d.Topic, d.DeadLetter, d.Columns = old.Topic, old.DeadLetter, old.Columns
		if d.MaxAttempts == 5 {
			return s.AlterColumns(ctx, n, d, nil, version)
		}
		return s.AlterQueue(ctx, n, d)
	})
	if w.random.IntN(3) == 0 {
		w.both("configure "+topic.String(), func(s queue.Service, _ bool) error {
			_, err := s.Configured().CreateTopic(ctx, topic, nil)
			return err
		})
	}
}

// sought takes, uses and deletes snapshots.
func (w *Twins) sought(n queue.Name) {
	w.t.Helper()
	ctx, name := w.t.Context(), w.snapshotName()
	switch w.random.IntN(4) {
	case 0:
		w.same("snapshot "+name.Name+" of "+n.String(), func(s queue.Service, _ bool) (any, error) {
			sn, err := s.TakeSnapshot(ctx, name, n, queue.SnapshotOptions{})
			return sn.Name.String() + sn.Queue.String(), err
		})
	case 1:
		w.both("delete snapshot", func(s queue.Service, _ bool) error { return s.DeleteSnapshot(ctx, name) })
	case 2:
		w.same("seek "+n.String()+" to "+name.Name, func(s queue.Service, _ bool) (any, error) {
			return s.Seek(ctx, n, queue.SeekTo{Snapshot: name})
		})
	case 3:
		w.same("seek "+n.String(), func(s queue.Service, _ bool) (any, error) {
			return s.Seek(ctx, n, queue.SeekTo{Time: time.Unix(0, 0)})
		})
	}
	w.same("snapshots", func(s queue.Service, _ bool) (any, error) {
		all, err := s.Snapshots(ctx)
		var names []string
		for _, sn := range all {
			names = append(names, sn.Name.String(), sn.Queue.String())
		}
		return names, err
	})
}

// removed removes messages one by one or all.
func (w *Twins) removed(n queue.Name) {
	w.t.Helper()
	ctx := w.t.Context()
	if w.random.IntN(2) == 0 {
		w.same("purge "+n.String(), func(s queue.Service, _ bool) (any, error) { return s.Purge(ctx, n) })
		return
	}
	w.same("remove from "+n.String(), func(s queue.Service, _ bool) (any, error) {
		ps, err := s.Peek(ctx, n, queue.PeekRequest{Max: 1})
		if err != nil || len(ps) == 0 {
			return nil, err
		}
		return s.Remove(ctx, n, []uint64{ps[0].Sequence})
	})
}

// noted keeps notes with a queue, a topic, messages, or by themselves.
func (w *Twins) noted(n, topic queue.Name, msgs []message.Message) {
	w.t.Helper()
	ctx := w.t.Context()
	note := queue.Note{Room: "twin", Key: fmt.Sprint(w.random.IntN(3)), Value: fmt.Append(nil, w.puts)}
	if w.random.IntN(4) == 0 {
		note.Value = nil
	}
	how, expected := w.random.IntN(6), w.random.IntN(2) == 0
	if how == 2 || how == 3 { // which of two reasons it is refused for is not said
		w.there(n)
	}
	w.both(fmt.Sprint("note ", how, " with ", n, " and ", topic), func(s queue.Service, _ bool) error {
		value, there, err := s.Note(ctx, note.Room, note.Key)
		if err != nil {
			return err
		}
		is := queue.NoteIs{Room: note.Room, Key: note.Key, Value: value}
		if there != expected {
			is.Value = []byte("another")
		}
		switch how {
		case 0:
			_, err = s.Noted(note).CreateQueue(ctx, n, queue.Definition{})
		case 1:
			_, err = s.Noted(note).If(is).CreateTopic(ctx, topic, nil)
		case 2:
			err = s.Noted(note).If(is).AlterQueue(ctx, n, queue.Definition{MaxAttempts: 9})
		case 3:
			_, _, err = s.Commit(ctx, queue.Change{Notes: []queue.Note{note}, If: []queue.NoteIs{is},
				Puts: []queue.QueuePut{{To: n, Messages: msgs}}})
		case 4:
			err = s.SetNotes(ctx, note)
		case 5:
			err = s.KeepNotes(ctx, note)
		}
		return err
	})
	w.same("notes", func(s queue.Service, _ bool) (any, error) {
		all, err := s.Notes(ctx, note.Room)
		if err != nil {
			return nil, err
		}
		size, _, err := s.NoteSize(ctx, note.Room, note.Key)
		if err != nil {
			return nil, err
		}
		keys, err := s.NoteKeys(ctx, note.Room, "")
		return fmt.Sprintf("%s %d %v", all, size, keys), err
	})
}

// claimSeveral claims from two queues for an owner, extends what it gets, finds it again, and gives it back. It is one
// message: where the first queue has less than is asked for, shards do not go on to another one.
func (w *Twins) claimSeveral(a, b queue.Name) {
	w.t.Helper()
	ctx := w.t.Context()
	w.there(a, b)
	w.same(fmt.Sprint("claim from ", a, " or ", b), func(s queue.Service, second bool) (any, error) {
		cs, err := s.Claim(ctx, queue.ClaimRequest{From: from(a, b), Owner: w.owners[index(second)],
			Lease: time.Hour})
		if err != nil || len(cs) == 0 {
			return nil, err
		}
		var all []string
		tokens, back := make([]queue.Token, len(cs)), make([]queue.Settlement, len(cs))
		for i := range cs {
			tokens[i] = cs[i].Token
			back[len(cs)-1-i] = queue.Settlement{Token: cs[i].Token, Kind: queue.Back, Uncounted: true}
			n, ok, err := s.QueueOf(ctx, cs[i].Token)
			if err != nil {
				return nil, err
			}
			t, found, err := s.TokenOf(ctx, n, cs[i].Sequence)
			if err != nil {
				return nil, err
			}
			all = append(all, fmt.Sprint(n, ok, found, t == cs[i].Token, cs[i].From, cs[i].Queue,
				string(cs[i].Message.Body)))
		}
		extended, err := s.Extend(ctx, tokens, time.Hour)
		if err != nil {
			return nil, err
		}
		settled, err := s.Settle(ctx, back)
		return fmt.Sprint(all, extended, settled), err
	})
}

// asked asks for what changes nothing.
func (w *Twins) asked(n, topic queue.Name) {
	w.t.Helper()
	ctx := w.t.Context()
	w.same("ask "+n.String(), func(s queue.Service, _ bool) (any, error) {
		where, err := s.Parse(ctx, n, "key = 'k'")
		if err != nil {
			return nil, err
		}
		idle, err := s.Idle(ctx, n, where)
		if err != nil {
			return nil, err
		}
		first, ok, err := s.First(ctx, queue.From{Queue: n, Where: where})
		if err != nil {
			return nil, err
		}
		if ok {
			seen, err := s.Look(ctx, n, first.Sequence)
			if err != nil || seen.Message.ID != first.Message.ID {
				return nil, fmt.Errorf("looked for %v: %w", first.Message.ID, err)
			}
		}
		st, err := s.Stats(ctx, n)
		d := st.Definition
		return fmt.Sprint(idle, ok, first.Message.ID, st.TotalDone, st.TotalDead, st.Past, d.MaxAttempts, d.Topic,
			d.DeadLetter), err
	})
	w.same("ask "+topic.String(), func(s queue.Service, _ bool) (any, error) {
		there, err := s.HasTopic(ctx, topic)
		if err != nil || !there {
			return there, err
		}
		st, err := s.TopicStats(ctx, topic)
		return fmt.Sprint(st.Subscriptions, st.TotalPublish), err // the relay drops letters that it then puts elsewhere
	})
	w.same("topics", func(s queue.Service, _ bool) (any, error) {
		names, err := s.Topics(ctx)
		var all []string
		for _, n := range names {
			all = append(all, n.String())
		}
		return strings.Join(all, " "), err
	})
	w.both("ready", func(s queue.Service, _ bool) error { return s.Ready(ctx) })
}
