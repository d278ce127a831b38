package queue

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// holdsExercise calls a method. Its name is the method's, and behind a colon what is special about it.
type holdsExercise struct {
	name string
	do   func(w *holdsWorld) error
}

// holdsExercises are in the order in which they are done: those that leave little behind come last.
func holdsExercises() []holdsExercise {
	return slicesOf(holdsAsking(), holdsClaiming(), holdsMoving(), holdsDefining(), holdsTopics(), holdsKeys(),
		holdsCrowds(), holdsHolding(), holdsKeeping(), holdsGoing(), holdsEnding())
}

func slicesOf(parts ...[]holdsExercise) (all []holdsExercise) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// holdsAsking are the exercises that change nothing.
func holdsAsking() []holdsExercise {
	peek := func(want int, r PeekRequest) func(w *holdsWorld) error {
		return func(w *holdsWorld) error {
			ps, err := w.s.Peek(w.t.Context(), holdsName("long"), r)
			return holdsWants(want, len(ps), err)
		}
	}
	idle := func(want bool, where string) func(w *holdsWorld) error {
		return func(w *holdsWorld) error {
			if must(w.s.Idle(w.t.Context(), holdsName("long"), holdsWhere(where))) != want {
				return fmt.Errorf("want %v", want)
			}
			return nil
		}
	}
	return []holdsExercise{
		{"Resolve", func(w *holdsWorld) error { w.s.Resolve(holdsName("long")); return nil }},
		{"JournalStats", func(w *holdsWorld) error { w.s.JournalStats(); return nil }},
		{"Queues", func(w *holdsWorld) error {
			return holdsWants(holdsQueues+22, len(must(w.s.Queues(w.t.Context()))), nil)
		}},
		{"Topics", func(w *holdsWorld) error { return holdsWants(2, len(must(w.s.Topics(w.t.Context()))), nil) }},
		{"Snapshots", func(w *holdsWorld) error {
			return holdsWants(holdsSnapshots, len(must(w.s.Snapshots(w.t.Context()))), nil)
		}},
		{"Notes", func(w *holdsWorld) error {
			return holdsWants(holdsNotes, len(must(w.s.Notes(w.t.Context(), "room"))), nil)
		}},
		{"Note", func(w *holdsWorld) error {
			v, _, _ := w.s.Note(w.t.Context(), "room", "key7")
			return holdsWants(len("value"), len(v), nil)
		}},
		{"NoteSize", func(w *holdsWorld) error {
			n, _, _ := w.s.NoteSize(w.t.Context(), "room", "key7")
			return holdsWants(len("value"), n, nil)
		}},
		{"NoteKeys", func(w *holdsWorld) error {
			return holdsWants(holdsNotes, len(must(w.s.NoteKeys(w.t.Context(), "room", "key"))), nil)
		}},
		{"Definition", func(w *holdsWorld) error {
			_, _, err := w.s.Definition(w.t.Context(), holdsName("long"))
			return err
		}},
		{"Parse", func(w *holdsWorld) error {
			_, err := w.s.Parse(w.t.Context(), holdsName("long"), "n > 3")
			return err
		}},
		{"Stats", func(w *holdsWorld) error { _, err := w.s.Stats(w.t.Context(), holdsName("long")); return err }},
		{"TopicStats", func(w *holdsWorld) error {
			_, err := w.s.TopicStats(w.t.Context(), holdsName("topic"))
			return err
		}},
		{"Has", func(w *holdsWorld) error { _, err := w.s.Has(w.t.Context(), holdsName("long")); return err }},
		{"TookFrom", func(w *holdsWorld) error {
			_, _, err := w.s.TookFrom(w.t.Context(), holdsName("long"), "source", make([]uint64, 100_000))
			return err
		}},
		{"HasSnapshot", func(w *holdsWorld) error {
			_, err := w.s.HasSnapshot(w.t.Context(), holdsName("snapshot"))
			return err
		}},
		{"Ready", func(w *holdsWorld) error { return w.s.Ready(w.t.Context()) }},
		{"Checkpoint", func(w *holdsWorld) error { return w.s.Checkpoint(w.t.Context()) }},
		{"Look", func(w *holdsWorld) error { _, err := w.s.Look(w.t.Context(), holdsName("long"), 7); return err }},
		{"QueueOf", func(w *holdsWorld) error { w.s.QueueOf(w.t.Context(), Token{Queue: 1}); return nil }},
		{"TokenOf", func(w *holdsWorld) error { w.s.TokenOf(w.t.Context(), holdsName("long"), 7); return nil }},
		{"Peek", peek(100, PeekRequest{})},
		{"Peek: many", peek(20_000, PeekRequest{Max: 20_000, NoBody: true})},
		{"Peek: by a condition that few meet", peek(1, PeekRequest{Where: holdsWhere("n = 199999")})},
		{"Peek: by a condition on bodies", peek(1, PeekRequest{Where: holdsWhere("body = 'body 199999'")})},
		{"Peek: the ready ones", peek(1, PeekRequest{Ready: true, Where: holdsWhere("n = 199999")})},
		{"Idle", idle(false, "")},
		{"Idle: by a condition that an index serves", idle(true, "n = -1")},
		{"Idle: by a condition that no index serves", idle(true, "n % 1000000 = 999999")},
		{"Idle: by a condition on bodies", idle(true, "body = 'nothing'")},
	}
}

// holdsClaiming are the exercises that look for messages.
func holdsClaiming() []holdsExercise {
	claim := func(want int, where string, most int) func(w *holdsWorld) error {
		return func(w *holdsWorld) error {
			n, err := w.claim("long", where, most)
			return holdsWants(want, n, err)
		}
	}
	first := func(where string) func(w *holdsWorld) error {
		return func(w *holdsWorld) error {
			p, ok, err := w.s.First(w.t.Context(), From{holdsName("long"), holdsWhere(where)})
			if err == nil && (!ok || p.Sequence == 0) {
				err = errors.New("found nothing")
			}
			return err
		}
	}
	return []holdsExercise{
		{"First", first("")},
		{"First: by an index that is to be made", first("lang = 'en' and n > 100000")},
		{"First: by a condition on bodies", first("body like '%199998'")},
		{"Claim", claim(100, "", 100)},
		{"Claim: by an index", claim(1, "n = 199999", 100)},
		{"Claim: by a condition that no index serves", claim(1, "n % 1000000 = 199999", 1)},
		{"Claim: by a condition that no index serves, of more than it looked for ahead",
			claim(140, "n % 2000 = 1999", 1000)},
		{"Claim: by a condition on bodies", claim(1, "body = 'body 279999'", 1)},
		{"Claim: by a condition on some of the bodies", claim(1, "lang = 'en' and body = 'body 279999'", 1)},
		{"Claim: by a range of texts that begin alike", claim(1, "mark >= 'the same for all of them 0279999'", 10)},
		{"Claim: by the owner of others", func(w *holdsWorld) error {
			o := w.s.NewOwner("test")
			defer o.Close()
			for range 2 {
				cs, err := w.s.Claim(w.t.Context(), ClaimRequest{From: from(holdsName("long")), Max: 100, Owner: o})
				if err := holdsWants(100, len(cs), err); err != nil {
					return err
				}
			}
			return nil
		}},
		{"Claim: that waits", func(w *holdsWorld) error { return holdsWaiting(w, "", 10) }},
		{"Claim: that waits, by a condition on bodies",
			func(w *holdsWorld) error { return holdsWaiting(w, "body = 'body 7'", 1) }},
		{"NewOwner", func(w *holdsWorld) error { w.s.NewOwner("test").Close(); return nil }},
		{"Owner.Close", func(w *holdsWorld) error {
			o := w.s.NewOwner("test")
			cs, err := w.s.Claim(w.t.Context(), ClaimRequest{From: from(holdsName("long")), Max: 300, Owner: o})
			o.Close()
			return holdsWants(300, len(cs), err)
		}},
	}
}

// holdsWaiting lets a claim wait in an empty queue for messages of which it wants some.
func holdsWaiting(w *holdsWorld, where string, want int) error {
	got := make(chan error, 1)
	name := holdsName("q7")
	before, err := w.s.Stats(w.t.Context(), name)
	if err != nil {
		return err
	}
	go func() {
		cs, err := w.s.Claim(w.t.Context(), ClaimRequest{From: []From{{name, holdsWhere(where)}}, Max: 100,
			Wait: time.Minute})
		got <- holdsWants(want, len(cs), err)
	}()
	for st := before; st.Waiters == 0; {
		if st, err = w.s.Stats(w.t.Context(), name); err != nil {
			return err
		}
	}
	w.put("q7", 10, "")
	if err := <-got; err != nil {
		return err
	}
	_, err = w.s.Purge(w.t.Context(), name)
	return err
}

// holdsMoving are the exercises that put, settle and move messages.
func holdsMoving() []holdsExercise {
	settle := func(kind SettleKind) func(w *holdsWorld) error {
		return func(w *holdsWorld) error {
			cs, err := w.hold("long", "", 100)
			if err != nil {
				return err
			}
			var ss []Settlement
			for _, c := range cs {
				ss = append(ss, Settlement{Token: c.Token, Kind: kind, Reason: "test"})
			}
			_, err = w.s.Settle(w.t.Context(), ss)
			return err
		}
	}
	return []holdsExercise{
		{"Put", func(w *holdsWorld) error { w.put("q8", 10, ""); return nil }},
		{"Put: with ids of duplicates and keys", func(w *holdsWorld) error {
			_, err := w.s.Put(w.t.Context(), holdsName("q9"),
				[]message.Message{{Key: "k", Dedup: "d"}, {Key: "k", Dedup: "e"}})
			return err
		}},
		{"Put: refused for the store's bytes", func(w *holdsWorld) error {
			was := w.s.limits.Bytes
			w.s.limits.Bytes = 1
			defer func() { w.s.limits.Bytes = was }()
			var full *FullError
			if _, err := w.s.Put(w.t.Context(), holdsName("q9"), text("x")); !errors.As(err, &full) {
				return fmt.Errorf("%v, want a *FullError", err)
			}
			return nil
		}},
		{"Publish", func(w *holdsWorld) error {
			_, err := w.s.Publish(w.t.Context(), holdsName("topic"), text("x"))
			return err
		}},
		{"Commit", func(w *holdsWorld) error {
			_, _, err := w.s.Commit(w.t.Context(), Change{Puts: []QueuePut{{To: holdsName("q9"), Messages: text("x")}},
				Notes: []Note{{"room", "key8", []byte("x")}}})
			return err
		}},
		{"SetNotes", func(w *holdsWorld) error {
			return w.s.SetNotes(w.t.Context(),
				Note{"room", "key8", []byte("value")})
		}},
		{"KeepNotes", func(w *holdsWorld) error {
			return w.s.KeepNotes(w.t.Context(), Note{"room", "key8", []byte("value")})
		}},
		{"Settle: done", settle(Done)},
		{"Settle: back", settle(Back)},
		{"Settle: dead", settle(Dead)},
		{"Extend", func(w *holdsWorld) error {
			cs, err := w.hold("long", "", 1)
			if err != nil {
				return err
			}
			_, err = w.s.Extend(w.t.Context(), []Token{cs[0].Token}, time.Minute)
			return err
		}},
		{"Remove", func(w *holdsWorld) error {
			n, err := w.s.Remove(w.t.Context(), holdsName("long"), []uint64{100_001, 100_002})
			return holdsWants(2, n, err)
		}},
		{"Replay: by a condition that none meets", holdsReplay(0, 0, "n = -1")},
		{"Replay: by a condition that few meet", holdsReplay(1, 0, "n = 99999")},
		{"Replay: by a condition on bodies", holdsReplay(1, 0, "body = 'body 99998'")},
		{"Replay: all", holdsReplay(20_000, 20_000, "")},
	}
}

// holdsReplay moves messages of one queue to another.
func holdsReplay(want, most int, where string) func(w *holdsWorld) error {
	return func(w *holdsWorld) error {
		done, err := w.s.Replay(w.t.Context(), holdsName("moved"),
			ReplayRequest{To: holdsName("q10"), Where: holdsWhere(where), Max: most})
		return holdsWants(want, done.Moved, err)
	}
}

// holdsDefining are the exercises that define things.
func holdsDefining() []holdsExercise {
	return []holdsExercise{
		{"CreateQueue", func(w *holdsWorld) error {
			_, err := w.s.CreateQueue(w.t.Context(), holdsName("new"), Definition{})
			return err
		}},
		{"RenameNoted", func(w *holdsWorld) error {
			note := Note{Room: "room", Key: "renamed", Value: []byte("value")}
			return w.s.RenameNoted(w.t.Context(), holdsName("new"), holdsName("new"), note)
		}},
		{"NowCalled", func(w *holdsWorld) error {
			_, _, err := w.s.NowCalled(w.t.Context(), holdsName("long"))
			return err
		}},
		{"RenameQueue", func(w *holdsWorld) error {
			return w.s.RenameQueue(w.t.Context(), holdsName("new"),
				holdsName("newer"))
		}},
		{"RenameQueue: to which the dead letters of twenty thousand go", func(w *holdsWorld) error {
			if err := w.s.RenameQueue(w.t.Context(), holdsName("graves"), holdsName("tombs")); err != nil {
				return err
			}
			d, _, err := w.s.Definition(w.t.Context(), holdsName("q%d", holdsQueues-1))
			if err == nil && d.DeadLetter != holdsName("tombs").String() {
				err = fmt.Errorf("dead letters go to %s", d.DeadLetter)
			}
			return err
		}},
		{"RenameQueue: to which the dead letters of queues with many labels go", func(w *holdsWorld) error {
			labels := map[string]string{}
			for i := range 50 {
				labels[fmt.Sprintf("label%d", i)] = "value"
			}
			w.create("vault", Definition{})
			for i := range atOnce {
				w.create(fmt.Sprintf("labelled%d", i), Definition{DeadLetter: "vault", Labels: labels})
			}
			return w.s.RenameQueue(w.t.Context(), holdsName("vault"), holdsName("crypt"))
		}},
		{"RenameDeadLetters", func(w *holdsWorld) error {
			return w.s.RenameDeadLetters(w.t.Context(), holdsName("crypt"), holdsName("elsewhere"))
		}},
		{"AlterQueue", func(w *holdsWorld) error {
			return w.s.AlterQueue(w.t.Context(), holdsName("long"), Definition{MaxAttempts: 7})
		}},
		{"AlterQueue: with a history", func(w *holdsWorld) error {
			return w.s.AlterQueue(w.t.Context(), holdsName("sought"), Definition{History: 2 * time.Hour})
		}},
		{"AlterColumns", holdsAlter},
		{"Configured", func(w *holdsWorld) error {
			_, err := w.s.Configured().CreateQueue(w.t.Context(), holdsName("configured"), Definition{})
			return err
		}},
		{"Noted", func(w *holdsWorld) error {
			return w.s.Noted(Note{"noted", "long", []byte("x")}, Note{"noted", "short", []byte("x")}).AlterQueue(
				w.t.Context(), holdsName("long"), Definition{MaxAttempts: 8})
		}},
		{"Noted: if a note is so", func(w *holdsWorld) error {
			return w.s.Noted(Note{"noted", "if", []byte("x")}).If(NoteIs{Room: "noted", Key: "if"}).AlterQueue(
				w.t.Context(), holdsName("long"), Definition{MaxAttempts: 9})
		}},
		{"CreateTopic", func(w *holdsWorld) error {
			_, err := w.s.CreateTopic(w.t.Context(), holdsName("other"), nil)
			return err
		}},
		{"DeleteTopic: to which queues with many labels subscribe", func(w *holdsWorld) error {
			labels := map[string]string{}
			for i := range 50 {
				labels[fmt.Sprintf("label%d", i)] = "value"
			}
			topic := holdsName("labels")
			if _, err := w.s.CreateTopic(w.t.Context(), topic, nil); err != nil {
				return err
			}
			for i := range atOnce {
				w.create(fmt.Sprintf("subscribed%d", i), Definition{Topic: topic.String(), Labels: labels})
			}
			return w.s.DeleteTopic(w.t.Context(), topic)
		}},
		{"DeleteTopic", func(w *holdsWorld) error { return w.s.DeleteTopic(w.t.Context(), holdsName("other")) }},
		{"TakeSnapshot", func(w *holdsWorld) error {
			_, err := w.s.TakeSnapshot(w.t.Context(), holdsName("taken"), holdsName("sought"), SnapshotOptions{})
			return err
		}},
		{"TakeSnapshot: of a long queue", func(w *holdsWorld) error {
			_, err := w.s.TakeSnapshot(w.t.Context(), holdsName("oflong"), holdsName("long"), SnapshotOptions{})
			return err
		}},
		{"Seek: forward", func(w *holdsWorld) error {
			_, err := w.s.Seek(w.t.Context(), holdsName("sought"), SeekTo{Time: w.s.clock()})
			return err
		}},
		{"AlterQueue: with a longer history, when much is past", func(w *holdsWorld) error {
			return w.s.AlterQueue(w.t.Context(), holdsName("sought"), Definition{History: 3 * time.Hour})
		}},
		{"Seek: to a snapshot", func(w *holdsWorld) error {
			_, err := w.s.Seek(w.t.Context(), holdsName("sought"), SeekTo{Snapshot: holdsName("taken")})
			return err
		}},
		{"TakeSnapshot: of a sibling", func(w *holdsWorld) error {
			_, err := w.s.TakeSnapshot(w.t.Context(), holdsName("ofsibling"), holdsName("snapped"), SnapshotOptions{})
			return err
		}},
		{"Seek: to a sibling's snapshot", func(w *holdsWorld) error {
			_, err := w.s.Seek(w.t.Context(), holdsName("sibling"), SeekTo{Snapshot: holdsName("ofsibling")})
			return err
		}},
		{"DeleteSnapshot", func(w *holdsWorld) error { return w.s.DeleteSnapshot(w.t.Context(), holdsName("taken")) }},
	}
}

// holdsAlter gives a column of many rows another type.
func holdsAlter(w *holdsWorld) error {
	columns, err := message.ParseColumns([]string{"a int", "b varchar(20)"})
	if err != nil {
		return err
	}
	w.create("rows", Definition{Columns: columns})
	for range 50 {
		ms := make([]message.Message, 200)
		for i := range ms {
			ms[i].Row = []message.Value{message.Int(int64(i)), message.String("x")}
		}
		if _, err := w.s.Put(w.t.Context(), holdsName("rows"), ms); err != nil {
			return err
		}
	}
	columns, err = message.ParseColumns([]string{"a varchar(20)", "b varchar(20)"})
	if err != nil {
		return err
	}
	return w.s.AlterColumns(w.t.Context(), holdsName("rows"), Definition{Columns: columns}, []int{0, 1}, 0)
}

// holdsEnding are the exercises after which there is less.
func holdsEnding() []holdsExercise {
	return []holdsExercise{
		{"Purge", func(w *holdsWorld) error {
			n, err := w.s.Purge(w.t.Context(), holdsName("purged"))
			return holdsWants(holdsShort, n, err)
		}},
		{"Purge: of a queue with thousands of snapshots", func(w *holdsWorld) error {
			n, err := w.s.Purge(w.t.Context(), holdsName("many"))
			return holdsWants(holdsOfMany-3000-holdsSpreadOut, n, err) // the others were settled and removed
		}},
		{"DeleteQueue", func(w *holdsWorld) error { return w.s.DeleteQueue(w.t.Context(), holdsName("deleted")) }},
		{"DeleteQueue: of one message and thousands of snapshots", func(w *holdsWorld) error {
			before := len(must(w.s.Snapshots(w.t.Context())))
			err := w.s.DeleteQueue(w.t.Context(), holdsName("brief"))
			return holdsWants(holdsSnapshots-holdsOfOne, before-len(must(w.s.Snapshots(w.t.Context()))), err)
		}},
		{"Stats: when all messages of a queue expire", func(w *holdsWorld) error {
			w.skipped.Add(int64(90 * time.Minute))
			var err error
			waittest.Until(w.t, "all have expired", func() bool {
				var st Stats
				st, err = w.s.Stats(w.t.Context(), holdsName("expiring"))
				return err != nil || st.TotalExpired == holdsShort
			})
			return err
		}},
		{"Close", func(w *holdsWorld) error { return w.s.Close() }},
	}
}
