package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// world is a Router over disks in memory.
type world struct {
	*Router
	t        testing.TB
	disks    []*memory.Disk
	journals []*memory.Journal
}

func newWorld(t testing.TB, shards int, o queue.Options) *world {
	disks := make([]*memory.Disk, shards)
	for i := range disks {
		disks[i] = memory.New()
	}
	return startWorld(t, disks, o)
}

func startWorld(t testing.TB, disks []*memory.Disk, o queue.Options) *world {
	t.Helper()
	return startWorldOf(t, disks, Options{Store: o})
}

func startWorldOf(t testing.TB, disks []*memory.Disk, o Options) *world {
	t.Helper()
	w := &world{t: t, disks: disks}
	o.Journals, o.Report = make([]journal.Journal, len(disks)), func(err error) { t.Log(err) }
	for i, d := range disks {
		j, err := d.Open(memory.Options{Durability: journal.Fsync})
		if err != nil {
			t.Fatal(err)
		}
		w.journals, o.Journals[i] = append(w.journals, j), j
	}
	r, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w.Router = r
	t.Cleanup(func() {
		for _, j := range w.journals {
			j.Hold(false) // a test that failed may have left it so
		}
		_ = r.Close()
	})
	return w
}

// after is the world after a kill, or a power cut, at this moment. The journals end one after the other.
func (w *world) after(powerCut bool, o queue.Options) *world {
	w.t.Helper()
	for _, j := range w.journals {
		j.Break(fmt.Errorf("%w: the process was killed", journal.ErrFailed))
	}
	disks := make([]*memory.Disk, len(w.disks))
	for i, d := range w.disks {
		disks[i] = d.After(powerCut)
		w.journals[i].Hold(false) // who waits for it can end
	}
	_ = w.Close()
	return startWorld(w.t, disks, o)
}

// in is a name that says that it is in a shard.
func (w *world) in(shard int, base string) queue.Name {
	for i := 0; ; i++ {
		n := queue.Name{Namespace: queue.DefaultNamespace, Name: base + strconv.Itoa(i)}
		if w.places.said(n) == shard {
			return n
		}
	}
}

// quiet waits until nothing is on its way between shards.
func (w *world) quiet() {
	w.t.Helper()
	waittest.Until(w.t, "nothing is in a lane", func() bool {
		for _, s := range w.stores {
			names, err := s.Queues(context.Background())
			for _, n := range names {
				st, failed := s.Stats(context.Background(), n)
				if err = errors.Join(err, failed); reserved(n) && st.Messages() > 0 {
					return false
				}
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}
		return true
	})
}

func (w *world) put(n queue.Name, bodies ...string) {
	w.t.Helper()
	if _, err := w.Put(w.t.Context(), n, messagesOf(bodies...)); err != nil {
		w.t.Fatal(err)
	}
}

func messagesOf(bodies ...string) []message.Message {
	msgs := make([]message.Message, len(bodies))
	for i, b := range bodies {
		msgs[i].Body = []byte(b)
	}
	return msgs
}

// claim takes what there is.
func (w *world) claim(names ...queue.Name) []queue.Claim {
	w.t.Helper()
	cs, err := w.Claim(w.t.Context(), queue.ClaimRequest{From: from(names...), Max: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	return cs
}

func from(names ...queue.Name) (fs []queue.From) {
	for _, n := range names {
		fs = append(fs, queue.From{Queue: n})
	}
	return fs
}

// bodies are what is in a queue, whatever its state, in order.
func (w *world) bodies(n queue.Name) (bodies []string) {
	w.t.Helper()
	ps, err := w.Peek(w.t.Context(), n, queue.PeekRequest{Max: 1_000_000})
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		w.t.Fatal(err)
	}
	for i := range ps {
		bodies = append(bodies, string(ps[i].Message.Body))
	}
	return bodies
}

func (w *world) wants(n queue.Name, want ...string) {
	w.t.Helper()
	if got := w.bodies(n); !slices.Equal(got, want) {
		w.t.Errorf("queue %s has %q, want %q", n.Short(), got, want)
	}
}

func (w *world) settle(kind queue.SettleKind, cs ...queue.Claim) {
	w.t.Helper()
	ss := make([]queue.Settlement, len(cs))
	for i := range cs {
		ss[i] = queue.Settlement{Token: cs[i].Token, Kind: kind, Reason: "for the test"}
	}
	errs, err := w.Settle(w.t.Context(), ss)
	if err := errors.Join(append(errs, err)...); err != nil {
		w.t.Fatal(err)
	}
}

// shardOf is the shard that has a queue.
func (w *world) shardOf(n queue.Name) int {
	w.t.Helper()
	found := -1
	for i, s := range w.stores {
		if there, err := s.Has(w.t.Context(), n); err != nil {
			w.t.Fatal(err)
		} else if there && found >= 0 {
			w.t.Errorf("queue %s is in shard %d and in shard %d", n.Short(), found, i)
		} else if there {
			found = i
		}
	}
	return found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var onDemand = queue.Options{OnDemand: true}

func TestQueuesAreSpreadByNameAndListedTogether(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	var names []queue.Name
	for i := range 30 {
		n := queue.Name{Namespace: "app", Name: "q" + strconv.Itoa(100+i)}
		w.put(n, "m")
		names = append(names, n)
	}
	for i, s := range w.stores {
		if qs, err := s.Queues(t.Context()); err != nil || len(qs) < 3 {
			t.Errorf("shard %d has %d of 30 queues, %v", i, len(qs), err)
		}
	}
	got, err := w.Queues(t.Context())
	if err != nil || !slices.Equal(got, names) {
		t.Errorf("got %v, %v", got, err)
	}
	w = w.after(false, onDemand)
	for _, n := range names {
		w.wants(n, "m")
	}
}

func TestTokensOfAllShardsAreToldApart(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	var all []queue.Claim
	ids := map[uint32]bool{}
	for shard := range 3 {
		n := w.in(shard, "q")
		w.put(n, "a", "b")
		all = append(all, w.claim(n)...)
		st, err := w.Stats(t.Context(), n)
		must(t, err)
		if ids[st.ID] {
			t.Errorf("two queues have the number %d", st.ID)
		}
		ids[st.ID] = true
		if name, ok, err := w.QueueOf(t.Context(), all[len(all)-1].Token); err != nil || !ok || name != n {
			t.Errorf("a token of %v is one of %v, %v, %v", n, name, ok, err)
		}
		if own, ok, err := w.TokenOf(t.Context(), n, all[len(all)-1].Sequence); err != nil || !ok ||
			own != all[len(all)-1].Token {
			t.Errorf("the claim's token is %v, not %v: %v, %v", own, all[len(all)-1].Token, ok, err)
		}
	}
	var tokens []queue.Token
	for i := range all {
		tokens = append(tokens, all[i].Token)
	}
	errs, err := w.Extend(t.Context(), tokens, time.Hour)
	must(t, errors.Join(append(errs, err)...))
	w.settle(queue.Done, all...) // of three shards in one call
	errs, err = w.Settle(t.Context(), []queue.Settlement{{Token: all[0].Token}, {Token: queue.Token{Queue: 1 << 31}}})
	if err != nil || !errors.Is(errs[0], queue.ErrStale) || !errors.Is(errs[1], queue.ErrStale) {
		t.Errorf("stale tokens: %v, %v", errs, err)
	}
}

func TestASubscriptionIsWhereItsTopicIs(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	topic := w.in(0, "topic")
	_, err := w.CreateTopic(t.Context(), topic, nil)
	must(t, err)
	elsewhere := queue.Name{Namespace: "other", Name: "sub"}
	for i := 0; w.places.said(elsewhere) == 0; i++ {
		elsewhere.Name = "sub" + strconv.Itoa(i)
	}
	subs := []queue.Name{w.in(1, "sub"), w.in(2, "sub"), elsewhere}
	for _, n := range subs {
		created, err := w.CreateQueue(t.Context(), n, queue.Definition{Topic: topic.String(), MaxAttempts: 1})
		if err != nil || !created {
			t.Fatal(created, err)
		}
		if created, err := w.CreateQueue(t.Context(), n, queue.Definition{Topic: topic.String(),
			MaxAttempts: 1}); err != nil || created {
			t.Error("once more:", created, err)
		}
	}
	_, err = w.Publish(t.Context(), topic, messagesOf("news"))
	must(t, err)
	for range 2 {
		for _, n := range subs {
			if got := w.shardOf(n); got != 0 {
				t.Errorf("%v is in shard %d, its topic in 0", n, got)
			}
			w.wants(n, "news")
		}
		st, err := w.TopicStats(t.Context(), topic)
		if err != nil || len(st.Subscriptions) != len(subs) {
			t.Errorf("the topic has %v, %v", st.Subscriptions, err)
		}
		w = w.after(false, onDemand)
	}
	w.settle(queue.Dead, w.claim(subs[0])...)
	dead := queue.Name{Namespace: subs[0].Namespace, Name: subs[0].Name + queue.DeadEnding}
	w.wants(dead, "news")
	if got := w.shardOf(dead); got != 0 {
		t.Errorf("its dead letters are in shard %d", got)
	}
	must(t, w.DeleteQueue(t.Context(), subs[0]))
	w.wants(dead, "news") // though nothing by its name says where it is
	w.put(subs[0], "plain")
	if got := w.shardOf(subs[0]); got != 1 {
		t.Errorf("a queue of the name is in shard %d, its name says 1", got)
	}
	w = w.after(true, onDemand)
	w.wants(dead, "news")
	w.wants(subs[0], "plain")
}

func TestARenamedQueueStaysInItsShard(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	a, b, c := w.in(0, "a"), w.in(1, "b"), w.in(2, "c")
	w.put(a, "1", "2")
	w.put(c, "taken")
	held := w.claim(a)
	must(t, w.RenameQueue(t.Context(), a, b))
	w.settle(queue.Dead, held[0])
	if err := w.RenameQueue(t.Context(), b, c); !errors.Is(err, queue.ErrExists) {
		t.Errorf("renamed to a name that is taken: %v", err)
	}
	w.put(a, "another")
	for range 2 {
		w.wants(a, "another")
		w.wants(b, "2")
		w.wants(queue.Name{Namespace: b.Namespace, Name: b.Name + queue.DeadEnding}, "1")
		w.wants(c, "taken")
		if got := w.shardOf(b); got != 0 {
			t.Errorf("it is in shard %d", got)
		}
		w = w.after(false, onDemand)
	}
	must(t, w.RenameQueue(t.Context(), c, w.in(2, "d")))
	if err := w.RenameQueue(t.Context(), w.in(2, "nothing"), w.in(0, "e")); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("renamed what is not there: %v", err)
	}
	w.put(w.in(0, "e"), "at home") // nothing is left of the attempt
	if got := w.shardOf(w.in(0, "e")); got != 0 {
		t.Errorf("it is in shard %d", got)
	}
}

func TestAClaimOverShardsIsByPriority(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	high, middle, low := w.in(2, "high"), w.in(0, "middle"), w.in(2, "low")
	w.put(low, "low")
	w.put(middle, "middle")
	var got []string
	for range 2 {
		cs, err := w.Claim(t.Context(), queue.ClaimRequest{From: from(high, middle, low), Max: 5})
		if err != nil || len(cs) != 1 {
			t.Fatal(cs, err)
		}
		got = append(got, fmt.Sprint(cs[0].From, " ", string(cs[0].Message.Body)))
	}
	if !slices.Equal(got, []string{"1 middle", "2 low"}) {
		t.Errorf("got %q", got)
	}
}

func TestAClaimThatWaitsAtSeveralShardsGetsTheFirstMessageAndTheOthersKeepTheirs(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	names := []queue.Name{w.in(0, "q"), w.in(1, "q"), w.in(2, "q")}
	o := w.NewOwner("reader")
	defer o.Close()
	for round := range 30 {
		type answer struct {
			cs  []queue.Claim
			err error
		}
		answers := make(chan answer, 1)
		go func() {
			cs, err := w.Claim(t.Context(), queue.ClaimRequest{From: from(names...), Wait: time.Minute, Owner: o})
			answers <- answer{cs, err}
		}()
		if round%2 == 0 {
			waittest.Until(t, "the claim waits at each shard", func() bool {
				for _, n := range names {
					if st, err := w.Stats(t.Context(), n); err != nil || st.Waiters == 0 {
						return false
					}
				}
				return true
			})
		}
		puts := make(chan error)
		for _, n := range names {
			go func() { _, err := w.Put(context.Background(), n, messagesOf("m")); puts <- err }()
		}
		for range names {
			must(t, <-puts)
		}
		a := <-answers
		if a.err != nil || len(a.cs) != 1 || a.cs[0].Attempt != 1 {
			t.Fatalf("round %d: %v, %v", round, a.cs, a.err)
		}
		w.settle(queue.Done, a.cs...)
		rest := 0
		for _, n := range names {
			cs := w.claim(n)
			for i := range cs {
				if cs[i].Attempt != 1 {
					t.Errorf("round %d: a message that went back was counted: attempt %d", round, cs[i].Attempt)
				}
			}
			rest += len(cs)
			w.settle(queue.Done, cs...)
		}
		if rest != 2 {
			t.Fatalf("round %d: %d messages are left of 2", round, rest)
		}
	}
}

func TestAWaitAtSeveralShardsEnds(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	names := from(w.in(0, "q"), w.in(1, "q"))
	if cs, err := w.Claim(t.Context(), queue.ClaimRequest{From: names, Wait: time.Millisecond}); err != nil ||
		len(cs) > 0 {
		t.Error(cs, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := w.Claim(ctx, queue.ClaimRequest{From: names, Wait: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	o := w.NewOwner("reader")
	time.AfterFunc(time.Millisecond, o.Close)
	_, err := w.Claim(t.Context(), queue.ClaimRequest{From: names, Wait: time.Hour, Owner: o})
	if !errors.Is(err, queue.ErrStale) {
		t.Error(err)
	}
	time.AfterFunc(time.Millisecond, func() { _ = w.Close() })
	_, err = w.Claim(t.Context(), queue.ClaimRequest{From: names, Wait: time.Hour})
	if !errors.Is(err, queue.ErrClosed) {
		t.Error(err)
	}
}

func TestAnOwnerThatEndsGivesBackInEachShard(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	o := w.NewOwner("reader")
	for shard := range 3 {
		n := w.in(shard, "q")
		w.put(n, "m")
		cs, err := w.Claim(t.Context(), queue.ClaimRequest{From: from(n), Owner: o})
		if err != nil || len(cs) != 1 {
			t.Fatal(cs, err)
		}
	}
	o.Close()
	for shard := range 3 {
		if cs := w.claim(w.in(shard, "q")); len(cs) != 1 {
			t.Errorf("shard %d: %d messages came back", shard, len(cs))
		}
	}
	if _, err := w.Claim(t.Context(), queue.ClaimRequest{From: from(w.in(0, "q")), Owner: o}); !errors.Is(err,
		queue.ErrStale) {
		t.Errorf("a closed owner claims: %v", err)
	}
}

func TestWhatAConditionNamesIsCheckedInTheQueuesShard(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	for shard := range 2 {
		n := w.in(shard, "table")
		columns, err := message.ParseColumns([]string{"a BIGINT"})
		must(t, err)
		_, err = w.CreateQueue(t.Context(), n, queue.Definition{Columns: columns})
		must(t, err)
		if _, err := w.Parse(t.Context(), n, "b = 1"); !errors.Is(err, queue.ErrCondition) {
			t.Error(err)
		}
		w.put(n, `{"a":7}`)
		where, err := w.Parse(t.Context(), n, "a = 7")
		must(t, err)
		if idle, err := w.Idle(t.Context(), n, where); err != nil || idle {
			t.Error(idle, err)
		}
		p, ok, err := w.First(t.Context(), queue.From{Queue: n, Where: where})
		if err != nil || !ok || p.Sequence != 1 {
			t.Error(p, ok, err)
		}
		if _, err := w.Look(t.Context(), n, 1); err != nil {
			t.Error(err)
		}
	}
}

func TestAnotherNumberOfShardsIsRefused(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	w.put(w.in(1, "q"), "m")
	must(t, w.Close())
	alone, err := queue.Open(t.Context(), queue.Options{Journal: w.journals[0]})
	must(t, err)
	var count *CountError
	if err := Alone(t.Context(), alone); !errors.As(err, &count) || count.Made != 3 {
		t.Errorf("shard 0 of 3 alone: %v", err)
	}
	must(t, alone.Close())
	used := memory.New()
	s, err := queue.Open(t.Context(), queue.Options{Journal: open(t, used), OnDemand: true})
	must(t, err)
	_, err = s.Put(t.Context(), w.in(0, "q"), messagesOf("m"))
	must(t, err)
	must(t, Alone(t.Context(), s))
	must(t, s.Close())
	fresh := []*memory.Disk{memory.New(), memory.New(), memory.New()}
	for what, disks := range map[string][]*memory.Disk{
		"two of three":      w.disks[:2],
		"one more":          {w.disks[0], w.disks[1], w.disks[2], fresh[0]},
		"exchanged":         {w.disks[1], w.disks[0], w.disks[2]},
		"one is another's":  {w.disks[0], fresh[1], w.disks[2]},
		"the first is gone": {fresh[0], w.disks[1], w.disks[2]},
		"the last is gone":  {w.disks[0], w.disks[1], fresh[2]},
		"two are gone":      {fresh[0], w.disks[1], fresh[2]},
		"used alone before": {used.After(false), memory.New()},
	} {
		js := make([]journal.Journal, len(disks))
		for i, d := range disks {
			js[i] = open(t, d.After(false))
		}
		r, err := Open(t.Context(), Options{Journals: js, Store: onDemand})
		if err == nil {
			t.Errorf("%s: it is taken", what)
			must(t, r.Close())
		}
	}
	startWorld(t, []*memory.Disk{w.disks[0].After(false), w.disks[1].After(false), w.disks[2].After(false)}, onDemand).
		wants(w.in(1, "q"), "m")
}

func open(t *testing.T, d *memory.Disk) *memory.Journal {
	t.Helper()
	j, err := d.Open(memory.Options{Durability: journal.Fsync})
	must(t, err)
	return j
}

func TestFindingAShardAllocatesNothing(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	w.places.set(queue.Name{Namespace: "app", Name: "moved"}, 1)
	n := queue.Name{Namespace: "a namespace that is long", Name: "a queue whose name is long, of dead letters_dead"}
	if got := testing.AllocsPerRun(100, func() { _, _, _ = w.of(n) }); got != 0 {
		t.Errorf("it allocates %v times", got)
	}
}

// TestWhereANameIsStaysTheSame: folders that were made with another answer could not be opened.
func TestWhereANameIsStaysTheSame(t *testing.T) {
	for _, c := range []struct {
		name  queue.Name
		three int
		eight int
	}{
		{queue.Name{Namespace: "default", Name: "jobs"}, 0, 5},
		{queue.Name{Namespace: "default", Name: "jobs_dead"}, 0, 5},
		{queue.Name{Namespace: "000000000000", Name: "orders.fifo"}, 2, 3},
		{queue.Name{Namespace: "東京", Name: "飛脚"}, 0, 3},
	} {
		three, eight := newPlaces(3), newPlaces(8)
		if a, b := three.said(c.name), eight.said(c.name); a != c.three || b != c.eight {
			t.Errorf("%v is in shard %d of 3 and %d of 8", c.name, a, b)
		}
	}
}
