package shard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// newDisks are n empty ones.
func newDisks(n int) []*memory.Disk {
	disks := make([]*memory.Disk, n)
	for i := range disks {
		disks[i] = memory.New()
	}
	return disks
}

// onDisks opens the journals of disks for a while.
func onDisks(t testing.TB, disks []*memory.Disk, do func(js []journal.Journal) error) error {
	t.Helper()
	js := make([]journal.Journal, len(disks))
	for i, d := range disks {
		j, err := d.Open(memory.Options{Durability: journal.Fsync})
		must(t, err)
		js[i] = j
		defer func() { must(t, j.Close()) }()
	}
	return do(js)
}

// rewrite makes so many shards of what is on disks, and sees that nothing is another.
func rewrite(t testing.TB, from []*memory.Disk, shards int) (to []*memory.Disk) {
	t.Helper()
	to = newDisks(shards)
	var was *queue.Inventory
	must(t, onDisks(t, from, func(old []journal.Journal) error {
		return onDisks(t, to, func(js []journal.Journal) (err error) {
			was, err = Rewrite(t.Context(), old, js, func(int64, int64) {})
			return err
		})
	}))
	for i := range to {
		to[i] = to[i].After(true)
	}
	must(t, onDisks(t, to, func(js []journal.Journal) error {
		return Compare(t.Context(), was, js, func(int64, int64) {})
	}))
	return to
}

// single is a single store on a disk.
func single(t testing.TB, disk *memory.Disk, do func(s *queue.Store)) {
	t.Helper()
	must(t, onDisks(t, []*memory.Disk{disk}, func(js []journal.Journal) error {
		s, err := queue.Open(t.Context(), queue.Options{Journal: js[0], OnDemand: true})
		must(t, err)
		do(s)
		return s.Close()
	}))
}

func nameOf(name string) queue.Name { return queue.Name{Namespace: queue.DefaultNamespace, Name: name} }

// fillEverything puts something of every kind into a store: ten times, so that every shard has some.
func fillEverything(t testing.TB, s queue.Service) (claims []queue.Claim, late time.Time) {
	t.Helper()
	ctx := t.Context()
	late = time.Now().Add(time.Hour).Truncate(time.Microsecond)
	for i := range 10 {
		name := func(what string) queue.Name { return nameOf(fmt.Sprint(what, i, "x")) }
		create := func(n queue.Name, d queue.Definition) {
			_, err := s.CreateQueue(ctx, n, d)
			must(t, err)
		}
		put := func(n queue.Name, msgs ...message.Message) {
			_, err := s.Publish(ctx, n, msgs)
			must(t, err)
		}
		_, err := s.CreateTopic(ctx, name("topic"), map[string]string{"l": "v"})
		must(t, err)
		create(name("sub"), queue.Definition{Topic: name("topic").String(), History: time.Hour})
		create(name("second"), queue.Definition{Topic: name("topic").String(), History: time.Hour})
		create(name("other"), queue.Definition{Topic: name("topic").String(), Filter: "n > 3"})
		create(name("jobs"), queue.Definition{MaxAttempts: 1, Lease: time.Hour, DedupWindow: time.Hour})
		columns, err := message.ParseColumns([]string{"a BIGINT", "b VARCHAR(20)"})
		must(t, err)
		create(name("table"), queue.Definition{Columns: columns})
		put(name("table"), message.Message{Body: []byte(`{"a":1,"b":"x"}`)})
		columns, err = message.ParseColumns([]string{"b VARCHAR(20)", "c BIGINT", "a BIGINT"})
		must(t, err)
		_, version, err := s.Definition(ctx, name("table"))
		must(t, err)
		must(t, s.AlterColumns(ctx, name("table"), queue.Definition{Columns: columns}, []int{1, -1, 0}, version))
		for n := range 5 {
			m := message.Message{Body: fmt.Append(nil, "event ", n), Key: "k"}
			m.Attributes.Set("n", message.Int(int64(n)))
			put(name("topic"), m)
		}
		cs, err := s.Claim(ctx, queue.ClaimRequest{From: from(name("sub")), Max: 1})
		must(t, err)
		settleAll(t, s, queue.Done, cs) // one of the past
		_, err = s.TakeSnapshot(ctx, name("snapshot"), name("sub"), queue.SnapshotOptions{})
		must(t, err)
		put(name("jobs"), message.Message{Body: []byte("dead")}, message.Message{Body: []byte("claimed")},
			message.Message{Body: []byte("once"), Dedup: "d"}, message.Message{Body: []byte("late"), NotBefore: late},
			message.Message{Body: []byte("of a source"), Origin: message.Origin{Source: "file", Offset: 7}})
		cs, err = s.Claim(ctx, queue.ClaimRequest{From: from(name("jobs")), Max: 2})
		must(t, err)
		settleAll(t, s, queue.Dead, cs[:1])
		claims = append(claims, cs[1])
		must(t, s.SetNotes(ctx, queue.Note{Room: "lambda/mappings", Key: fmt.Sprint(i), Value: []byte("mapping")}))
		put(name("old"), message.Message{Body: []byte("renamed")})
		must(t, s.RenameQueue(ctx, name("old"), name("new")))
		var many []message.Message
		for n := range 600 { // pages that are written
			many = append(many, message.Message{Body: fmt.Append(nil, "many ", n)})
		}
		put(name("many"), many...)
		cs, err = s.Claim(ctx, queue.ClaimRequest{From: from(name("many")), Max: 100})
		must(t, err)
		settleAll(t, s, queue.Done, cs)
	}
	return claims, late
}

func settleAll(t testing.TB, s queue.Service, kind queue.SettleKind, cs []queue.Claim) {
	t.Helper()
	ss := make([]queue.Settlement, len(cs))
	for i := range cs {
		ss[i] = queue.Settlement{Token: cs[i].Token, Kind: kind}
	}
	errs, err := s.Settle(t.Context(), ss)
	must(t, errors.Join(append(errs, err)...))
}

// checkEverything sees that all that fillEverything made works, and leaves it as it was but for one more message.
func checkEverything(t *testing.T, s queue.Service, late time.Time) {
	t.Helper()
	ctx := t.Context()
	count := func(n queue.Name) int64 {
		t.Helper()
		st, err := s.Stats(ctx, n)
		must(t, err)
		return st.Messages()
	}
	for i := range 10 {
		name := func(what string) queue.Name { return nameOf(fmt.Sprint(what, i, "x")) }
		rs, err := s.Put(ctx, name("jobs"), []message.Message{{Body: []byte("again"), Dedup: "d"},
			{Body: []byte("again"), Origin: message.Origin{Source: "file", Offset: 7}}})
		if err != nil || !rs[0].Duplicate || !rs[1].Duplicate {
			t.Errorf("ids of before are not remembered: %v, %v", rs, err)
		}
		states := map[string]queue.MessageState{"claimed": queue.Claimed, "once": queue.Ready, "late": queue.Delayed,
			"of a source": queue.Ready}
		ps, err := s.Peek(ctx, name("jobs"), queue.PeekRequest{})
		must(t, err)
		for j := range ps {
			if want, there := states[string(ps[j].Message.Body)]; !there || want != ps[j].State {
				t.Errorf("%s is %v", ps[j].Message.Body, ps[j].State)
			}
			if ps[j].State == queue.Delayed && !ps[j].Until.Equal(late) {
				t.Errorf("it wakes %v, want %v", ps[j].Until, late)
			}
		}
		if len(ps) != len(states) || count(name("many")) != 500 || count(name("new")) != 1 ||
			count(name("other")) != 1 || count(name("table")) != 1 {
			t.Errorf("messages are missing: %d, %d, %d, %d", len(ps), count(name("many")), count(name("new")),
				count(name("other")))
		}
		ps, err = s.Peek(ctx, queue.Name{Namespace: name("jobs").Namespace, Name: name("jobs").Name + queue.DeadEnding},
			queue.PeekRequest{})
		if err != nil || len(ps) != 1 || ps[0].Message.Death.Queue != name("jobs").String() {
			t.Errorf("dead letters are %v, %v", ps, err)
		}
		sought, err := s.Seek(ctx, name("sub"), queue.SeekTo{Time: time.Unix(0, 0)})
		if err != nil || count(name("sub")) != 5 {
			t.Errorf("a seek brings back %+v, %v", sought, err)
		}
		_, err = s.Seek(ctx, name("sub"), queue.SeekTo{Snapshot: name("snapshot")})
		if err != nil || count(name("sub")) != 4 {
			t.Errorf("a seek to the snapshot leaves %d, %v", count(name("sub")), err)
		}
		// which message is which of the other subscription's is told by where the records are
		sought, err = s.Seek(ctx, name("second"), queue.SeekTo{Snapshot: name("snapshot")})
		if err != nil || count(name("second")) != 4 {
			t.Errorf("a seek to the snapshot of another subscription leaves %d (%+v), %v", count(name("second")), sought,
				err)
		}
		_, err = s.Seek(ctx, name("second"), queue.SeekTo{Time: time.Unix(0, 0)})
		must(t, err)
		rows, err := s.Peek(ctx, name("table"), queue.PeekRequest{})
		must(t, err)
		if row := rows[0].Message.Row; len(row) != 3 || row[0].AsString() != "x" || row[2].AsInt() != 1 {
			t.Errorf("the row from before the alteration is %v", row)
		}
		if v, _, err := s.Note(ctx, "lambda/mappings", fmt.Sprint(i)); err != nil || string(v) != "mapping" {
			t.Errorf("the note is %q, %v", v, err)
		}
		if cs, err := s.Claim(ctx, queue.ClaimRequest{From: from(name("sub")), Max: 2}); err != nil || len(cs) != 2 ||
			string(cs[0].Message.Body) != "event 1" || cs[0].Message.Key != "k" {
			t.Errorf("claims are %v, %v", cs, err)
		} else {
			settleAll(t, s, queue.Back, cs[1:]) // the first one takes those behind it of its key with it
			settleAll(t, s, queue.Back, cs[:1])
		}
	}
}

func TestAStoreBecomesShardsAndOneStoreAgain(t *testing.T) {
	disk := memory.New()
	var claims []queue.Claim
	var late time.Time
	single(t, disk, func(s *queue.Store) { claims, late = fillEverything(t, s) })
	split := rewrite(t, []*memory.Disk{disk}, 3)
	w := startWorld(t, split, onDemand)
	checkEverything(t, w, late)
	w.quiet()
	good := 0
	for i := range claims {
		errs, err := w.Settle(t.Context(), []queue.Settlement{{Token: claims[i].Token, Kind: queue.Back,
			Uncounted: true}})
		must(t, err)
		home := w.ShardOf(nameOf(fmt.Sprint("jobs", i, "x")))
		if want := home == 0; want != (errs[0] == nil) {
			t.Errorf("the token of a claim of shard %d: %v", home, errs[0])
		}
		if errs[0] == nil {
			good++
		}
		if i, at := w.stores[home], nameOf(fmt.Sprint("jobs", i, "x")); home != 0 {
			if there, err := i.Has(t.Context(), at); err != nil || !there {
				t.Errorf("%v is not in shard %d", at, home)
			}
		}
	}
	for i, s := range w.stores {
		if names, err := s.Queues(t.Context()); err != nil || len(names) < 5 {
			t.Errorf("shard %d has %d queues, %v", i, len(names), err)
		}
	}
	if good == 0 {
		t.Error("no token is good")
	}
	must(t, w.Close())
	joined := rewrite(t, w.after(true, onDemand).disksNow(), 1)
	single(t, joined[0], func(s *queue.Store) {
		names, err := s.Queues(t.Context())
		must(t, err)
		for _, n := range names {
			if reserved(n) {
				t.Errorf("the lane %v is there", n)
			}
		}
		if names, err := s.Notes(t.Context(), countRoom); err != nil || len(names) != 0 {
			t.Errorf("it says that it is a shard: %v, %v", names, err)
		}
		for i := range claims { // those that were put back are claimed again, so that all is as it was
			if st, err := s.Stats(t.Context(), nameOf(fmt.Sprint("jobs", i, "x"))); err != nil || st.Claimed == 0 {
				_, err := s.Claim(t.Context(), queue.ClaimRequest{From: from(nameOf(fmt.Sprint("jobs", i, "x")))})
				must(t, err)
			}
		}
		checkEverything(t, s, late)
	})
}

// disksNow are the disks of a world that is closed.
func (w *world) disksNow() []*memory.Disk {
	must(w.t, w.Close())
	for i, j := range w.journals {
		must(w.t, j.Close())
		w.disks[i] = w.disks[i].After(true)
	}
	return w.disks
}

func TestWhatIsOnItsWayBetweenShardsArrivesBeforeTheyBecomeOne(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	out := w.in(1, "out")
	w.put(out, "first")
	w.delivered(out, "delivered") // and not let go of
	w.journals[0].Hold(false)
	w.journals[1].Hold(true)
	_, _, err := w.Commit(t.Context(), queue.Change{Puts: []queue.QueuePut{
		{To: w.in(0, "near"), Messages: messagesOf("n")}, {To: out, Messages: messagesOf("on its way")}}})
	must(t, err)
	disks := []*memory.Disk{w.disks[0].After(true), w.disks[1].After(true)}
	w.journals[1].Hold(false)
	joined := rewrite(t, disks, 1)
	single(t, joined[0], func(s *queue.Store) {
		ps, err := s.Peek(t.Context(), out, queue.PeekRequest{})
		must(t, err)
		var bodies []string
		for i := range ps {
			bodies = append(bodies, string(ps[i].Message.Body))
		}
		if strings.Join(bodies, ",") != "first,delivered,on its way" {
			t.Errorf("there is %q", bodies)
		}
	})
}

func TestADamagedOrAChangedMessageIsNotTakenForWhatWasThere(t *testing.T) {
	disk := memory.New()
	single(t, disk, func(s *queue.Store) {
		_, err := s.Put(t.Context(), nameOf("q"), messagesOf("sound", "damaged"))
		must(t, err)
	})
	split := rewrite(t, []*memory.Disk{disk}, 2)
	var was *queue.Inventory
	must(t, onDisks(t, split, func(js []journal.Journal) (err error) {
		f, err := foldAll(t.Context(), js)
		must(t, err)
		was, err = inventory(t.Context(), f, func(int64) {})
		return err
	}))
	w := startWorld(t, split, onDemand)
	w.put(nameOf("q"), "one more")
	if err := onDisks(t, w.disksNow(), func(js []journal.Journal) error {
		return Compare(t.Context(), was, js, func(int64, int64) {})
	}); err == nil || !strings.Contains(err.Error(), "queue default/q") {
		t.Errorf("what has changed is compared as %v", err)
	}
	for _, g := range disk.Groups() {
		for i, r := range g.Records {
			if string(r.Body) == "damaged" {
				disk.Damage(journal.Address{Position: g.Position, Index: uint32(i)})
			}
		}
	}
	err := onDisks(t, []*memory.Disk{disk}, func(old []journal.Journal) error {
		return onDisks(t, newDisks(2), func(js []journal.Journal) error {
			_, err := Rewrite(context.Background(), old, js, func(int64, int64) {})
			return err
		})
	})
	var damage *journal.DamageError
	if !errors.As(err, &damage) {
		t.Errorf("a damaged journal is rewritten: %v", err)
	}
	waittest.Until(t, "a store of several shards is no single one", func() bool {
		err := onDisks(t, w.disksNow(), func(js []journal.Journal) error {
			_, err := foldAll(t.Context(), js[:1])
			return err
		})
		var other *CountError
		return errors.As(err, &other)
	})
}
