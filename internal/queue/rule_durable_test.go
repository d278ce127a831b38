package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/message"
)

// look tells, in one text, all that can be seen of some queues and of a topic from outside.
func look(t *testing.T, s *Store, topic Name, names ...Name) string {
	t.Helper()
	var b strings.Builder
	for _, n := range names {
		st, err := s.Stats(t.Context(), n)
		fmt.Fprintf(&b, "%s: %d ready %d delayed %d claimed %d behind, %d bytes, put %d done %d dead %d (%v)",
			n.Short(), st.Ready, st.Delayed, st.Claimed, st.Behind, st.Bytes,
			st.TotalPut, st.TotalDone, st.TotalDead, err)
		ps, err := s.Peek(context.Background(), n, PeekRequest{})
		for _, p := range ps {
			fmt.Fprintf(&b, " %s %s", p.Message.Body, p.State)
		}
		fmt.Fprintf(&b, " (%v)\n", err)
	}
	st, err := s.TopicStats(t.Context(), topic)
	note, there, _ := s.Note(t.Context(), "room", "key")
	fmt.Fprintf(&b, "topic: published %d to %v (%v); queues %v; note %s %v\n", st.TotalPublish, st.Subscriptions, err,
		must(s.Queues(t.Context())), note, there)
	return b.String()
}

// TestRuleNothingIsSeenInAnyWayBeforeItIsDurable looks in every way there is while groups are on their way to the disk.
func TestRuleNothingIsSeenInAnyWayBeforeItIsDurable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		name := func(n string) Name { return Name{DefaultNamespace, n} }
		topic, sub, dead := name("events"), name("sub"), name("news_dead")
		if _, err := s.CreateTopic(ctx, topic, nil); err != nil {
			t.Fatal(err)
		}
		for n, d := range map[Name]Definition{news: {}, sub: {Topic: "events"}, dead: {}} {
			if _, err := s.CreateQueue(ctx, n, d); err != nil {
				t.Fatal(err)
			}
		}
		mustPut(t, s, news, text("done", "dead", "there")...)
		claims := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2, Lease: time.Hour})
		before := look(t, s, topic, news, sub, dead, name("later"))

		m.hold(true)
		answers := make(chan error, 3)
		go func() {
			_, errs, err := s.Commit(ctx, Change{
				Puts: []QueuePut{{To: news, Messages: text("put")}, {To: topic, Messages: text("published")}},
				Settles: []Settlement{{Token: claims[0].Token},
					{Token: claims[1].Token, Kind: Dead, Reason: "why not"}},
				Notes: []Note{{Room: "room", Key: "key", Value: []byte("value")}},
			})
			answers <- errors.Join(append(errs, err)...)
		}()
		go func() {
			_, err := s.CreateQueue(ctx, name("later"), Definition{})
			answers <- err
		}()
		served := make(chan string, 1)
		go func() {
			c, err := s.Claim(ctx, ClaimRequest{From: from(sub), Wait: time.Hour, Lease: time.Hour})
			served <- fmt.Sprint(bodies(c), err)
		}()
		synctest.Wait()
		if during := look(t, s, topic, news, sub, dead, name("later")); during != before {
			t.Errorf("before: %s\nbefore it is durable: %s", before, during)
		}
		if must(s.Idle(t.Context(), sub, nil)) || must(s.Idle(t.Context(), dead, nil)) {
			t.Error("a queue into which a message is on its way says that it is idle")
		}
		if c := mustClaim(t, s, ClaimRequest{From: []From{{Queue: sub}, {Queue: dead}}}); len(c) != 0 {
			t.Errorf("claimed %q", bodies(c))
		}
		if r, err := s.Replay(ctx, dead, ReplayRequest{}); err != nil || r != (Replayed{}) {
			t.Errorf("replayed %+v, %v", r, err)
		}
		select {
		case got := <-served:
			t.Errorf("a waiting reader was handed %q", got)
		case err := <-answers:
			t.Errorf("answered %v", err)
		default:
		}
		m.hold(false)
		if err := errors.Join(<-answers, <-answers); err != nil {
			t.Fatal(err)
		}
		if got := <-served; got != "published<nil>" {
			t.Errorf("the waiting reader was handed %q", got)
		}
		after := look(t, s, topic, news, sub, dead, name("later"))
		for _, want := range []string{"put ready", "dead ready", "published claimed", "put 4 done 1 dead 1",
			"published 1 to", "note value true", "later: 0 ready"} {
			if !strings.Contains(after, want) {
				t.Errorf("%q is missing in what is seen then: %s", want, after)
			}
		}
	})
}

// TestRuleAPutThatAnsweredAnErrorMayStillAppear lets a sync fail: nobody can tell whether the group is on the disk. The
// caller is told so, nothing more is taken, and a start finds the group whole or not at all; both happen.
func TestRuleAPutThatAnsweredAnErrorMayStillAppear(t *testing.T) {
	broken := errors.New("the disk is broken")
	fates := map[string]int{}
	for seed := range uint64(30) {
		disk := faultfs.New()
		s, j := onDisk(t, disk)
		mustPut(t, s, news, text("acknowledged")...)
		disk.Fault(func(op faultfs.Op) error {
			if op.Kind == "sync" {
				return broken
			}
			return nil
		})
		ctx := context.Background()
		if _, err := s.Put(ctx, news, text("a", "b", "c")); !errors.Is(err, ErrUnavailable) ||
			!errors.Is(err, journal.ErrUnknown) || !errors.Is(err, broken) {
			t.Fatalf("the put whose sync failed answers %v", err)
		}
		disk.Fault(nil) // the next sync would succeed, and say nothing of what this one lost
		if _, err := s.Put(ctx, news, text("d")); !errors.Is(err, ErrUnavailable) {
			t.Fatalf("a put after a failed sync answers %v", err)
		}
		after := disk.AfterPowerCut(rand.New(rand.NewPCG(seed, 1)))
		_ = errors.Join(s.Close(), j.Close()) // the power is off
		s, j = onDisk(t, after)
		ps, err := s.Peek(ctx, news, PeekRequest{})
		if err != nil {
			t.Fatal(err)
		}
		var there []string
		for _, p := range ps {
			there = append(there, string(p.Message.Body))
		}
		fates[strings.Join(there, " ")]++
		if err := errors.Join(s.Close(), j.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for fate := range fates {
		if fate != "acknowledged" && fate != "acknowledged a b c" {
			t.Errorf("a start found %q", fate)
		}
	}
	if len(fates) != 2 {
		t.Errorf("of the two fates only these happened: %v", fates)
	}
}

// TestRuleAPowerCutAtAnyChangeLeavesABeginningOfWhatHappened cuts the power before every single change that a workload
// makes to the disk. What is found has to be the state after one of its groups, not before the last that was
// acknowledged: so a group that spans queues is there whole or not at all. After a kill, instead of a power cut, it is
// the last state, or the one that was on its way.
func TestRuleAPowerCutAtAnyChangeLeavesABeginningOfWhatHappened(t *testing.T) {
	states, _, _, err := workload(t, faultfs.New())
	if err != nil {
		t.Fatal(err)
	}
	cut := 1
	for ; ; cut += amount(1, 1, 24) {
		disk := faultfs.New()
		disk.CutAfter(cut)
		_, done, durable, err := workload(t, disk)
		if err == nil {
			break
		}
		random := rand.New(rand.NewPCG(uint64(cut), 5))
		survivors := map[string]*faultfs.Disk{"power cut": disk.AfterPowerCut(random),
			"other power cut": disk.AfterPowerCut(random), "kill": disk.AfterKill()}
		for what, disk := range survivors {
			first := durable
			if what == "kill" {
				first = done
			}
			allowed := states[first:min(done+2, len(states))]
			if got := found(t, disk); !slices.Contains(allowed, got) {
				t.Fatalf("%s at change %d, in step %d of which %d were durable: a start finds\n%s\nit should be one "+
					"of\n%s", what, cut, done, durable, got, strings.Join(allowed, "or\n"))
			}
		}
	}
	if cut < 20 {
		t.Errorf("the workload makes only %d changes", cut)
	}
}

// still is a clock that stands still, so that two runs do the same.
func still() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// openStill opens a store with such a clock over files with small segments.
func openStill(disk *faultfs.Disk) (*Store, *file.Journal, error) { return openSegments(disk, 16<<10) }

func openSegments(disk *faultfs.Disk, bytes int64) (*Store, *file.Journal, error) {
	j, err := file.Open(context.Background(),
		file.Options{Dir: "log", FS: disk, SegmentBytes: bytes, MaxGroupBytes: 64 << 10, IdleSeal: -1})
	if err != nil {
		return nil, nil, err
	}
	s, err := Open(context.Background(), Options{Journal: j, Clock: still, CheckpointBytes: 1 << 40})
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	return s, j, nil
}

// portrayed is the portrait of a store at work.
func portrayed(s *Store) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return portrait(s.state)
}

// found is what a start finds on a disk.
func found(t *testing.T, disk *faultfs.Disk) string {
	t.Helper()
	s, j, err := openStill(disk)
	if err != nil {
		t.Fatal(err)
	}
	got := portrayed(s)
	if err := errors.Join(s.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
	return got
}

// workload does a bit of everything, a group at each step, until the disk fails. It returns the states after the steps,
// how many steps were done, and how many of them were durable for certain.
func workload(t *testing.T, disk *faultfs.Disk) (states []string, done, durable int, err error) {
	t.Helper()
	s, j, err := openStill(disk)
	if err != nil {
		return nil, 0, 0, err
	}
	defer func() {
		if err != nil {
			disk.Cut()
		}
		_ = errors.Join(s.Close(), j.Close())
	}()
	ctx := context.Background()
	name := func(n string) Name { return Name{DefaultNamespace, n} }
	var claims []Claim
	define := func(n string, d Definition) func() error {
		return func() error { _, err := s.CreateQueue(ctx, name(n), d); return err }
	}
	put := func(n Name, ms ...message.Message) func() error {
		return func() error { _, err := s.Publish(ctx, n, ms); return err }
	}
	large := message.Message{Body: bytes.Repeat([]byte("large"), 1000), Dedup: "large"}
	steps := []struct {
		waits bool // for a sync
		do    func() error
	}{
		{true, define("a", Definition{MaxAttempts: 3})},
		{true, define("a_dead", Definition{})},
		{true, define("b", Definition{})},
		{true, func() error { _, err := s.CreateTopic(ctx, name("t"), nil); return err }},
		{true, define("x", Definition{Topic: "t"})},
		{true, define("y", Definition{Topic: "t"})},
		{true, put(name("a"), message.Message{Key: "k"}, message.Message{Key: "k"}, message.Message{}, large)},
		{false, func() (err error) {
			claims, err = s.Claim(ctx, ClaimRequest{From: from(name("a")), Max: 3})
			return err
		}},
		{true, put(name("t"), large)},
		{true, func() error { // a move, a dead letter, a publish and a note, in four queues
			_, errs, err := s.Commit(ctx, Change{
				Puts: []QueuePut{{To: name("b"), Messages: text("made of the first", "too")},
					{To: name("t"), Messages: text("published")}},
				Settles: []Settlement{{Token: claims[0].Token}, {Token: claims[2].Token, Kind: Dead}},
				Notes:   []Note{{Room: "r", Key: "k", Value: []byte("v")}},
			})
			return errors.Join(append(errs, err)...)
		}},
		{true, put(name("b"), large, large)},
		{true, put(name("b"), make([]message.Message, 2*pageSize)...)}, // pages that a checkpoint need not hold whole
		{false, func() error { _, err := s.Claim(ctx, ClaimRequest{From: from(name("x")), Max: 2}); return err }},
		{true, func() error { return s.checkpoint(ctx) }},
		{false, func() error {
			errs, err := s.Extend(ctx, []Token{claims[1].Token}, time.Hour)
			return errors.Join(append(errs, err)...)
		}},
		{true, func() error { _, err := s.Replay(ctx, name("a_dead"), ReplayRequest{}); return err }},
		{true, func() error { _, err := s.Purge(ctx, name("y")); return err }},
		{true, func() error { return s.checkpoint(ctx) }},
		{true, func() error { _, err := s.Remove(ctx, name("b"), []uint64{1, 3, 4, 300, 301, 302}); return err }},
		{true, func() error { return s.RenameQueue(ctx, name("b"), Name{"other", "b"}) }},
		{true, put(Name{"other", "b"}, large)},
		{true, func() error { return s.RenameQueue(ctx, name("a_dead"), name("grave")) }},
		{true, func() error { return s.checkpoint(ctx) }},
		{true, func() error { return s.RenameQueue(ctx, Name{"other", "b"}, name("b")) }},
		{true, define("rows", Definition{Columns: columnsOf(t, "n int", "text text")})},
		{true, put(name("rows"),
			text(`{"n":1,"text":"one"}`, `{"n":2,"text":"`+string(bytes.Repeat([]byte("two"), 100))+`"}`)...)},
		{true, func() error {
			return s.AlterColumns(ctx, name("rows"),
				Definition{Columns: columnsOf(t, "label varchar(300)", "new int default 5", "n decimal(3,1)")},
				[]int{1, fixed, 0}, 0)
		}},
		{true, put(name("rows"), text(`{"label":"three","n":3}`)...)},
		{true, func() error { return s.checkpoint(ctx) }},
		{true, func() error {
			return s.AlterQueue(ctx, name("rows"), Definition{Columns: columnsOf(t, "n smallint", "new varchar(2)")})
		}},
		{true, put(name("rows"), text(`{"n":4,"new":"x"}`)...)},
		{true, func() error { // a change that depends on a note
			_, _, err := s.Commit(ctx, Change{
				If:    []NoteIs{{Room: "r", Key: "k", Value: []byte("v")}},
				Puts:  []QueuePut{{To: name("b"), Messages: text("as expected")}},
				Notes: []Note{{Room: "r", Key: "k", Value: []byte("w")}},
			})
			return err
		}},
		{true, func() error { return s.DeleteQueue(ctx, name("x")) }},
		{true, put(name("b"), message.Message{NotBefore: still().Add(time.Hour)})},
	}
	states = append(states, portrayed(s))
	for i, step := range steps {
		if err := step.do(); err != nil {
			if !errors.Is(err, faultfs.ErrCut) {
				t.Fatalf("step %d: %v", i, err)
			}
			return states, done, durable, err
		}
		done = i + 1
		if step.waits {
			durable = done
		}
		states = append(states, portrayed(s))
	}
	return states, done, durable, nil
}
