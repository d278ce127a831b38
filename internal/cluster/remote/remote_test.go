package remote_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/cluster/remote"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/queue/twintest"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

const secret = "a secret of thirty-two characters or more"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openStore(t testing.TB, o queue.Options) *queue.Store {
	t.Helper()
	j, err := memory.New().Open(memory.Options{})
	must(t, err)
	o.Journal, o.OnDemand = j, true
	s, err := queue.Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// world is a store at node b, and how node a sees it.
type world struct {
	store  *queue.Store
	server *remote.Server
	node   *remote.Node
	*remote.Store
}

func listen(t testing.TB, node string) *link.Listener {
	t.Helper()
	l, err := link.Listen(t.Context(), link.Options{Listen: "127.0.0.1:0", Cluster: "test", Node: node, Secret: secret})
	must(t, err)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{store: openStore(t, queue.Options{})}
	here, there := listen(t, "a"), listen(t, "b")
	w.server = remote.NewServer(there, func(int) (queue.Shard, error) { return w.store, nil })
	t.Cleanup(w.server.Close)
	var err error
	w.node, err = remote.Dial(here.Dialer(), link.Peer{Node: "b", Address: there.Addr().String()})
	must(t, err)
	t.Cleanup(func() {
		if err := w.node.Close(); err != nil {
			t.Error(err)
		}
	})
	w.Store = w.node.Shard(0, nil)
	return w
}

func TestAStoreOfAnotherNodeDoesWhatAStoreDoes(t *testing.T) {
	for range 6 {
		w := twintest.Twins{Tested: newWorld(t), Plain: openStore(t, queue.Options{})}
		w.Run(t, rand.Uint64(), 150)
	}
}

// With columns messages are rows, and claims have the columns.
func TestRowsComeWithTheirColumns(t *testing.T) {
	w := newWorld(t)
	columns, err := message.ParseColumns([]string{"id int not null", "name varchar(20) default 'x'"})
	must(t, err)
	_, err = w.CreateQueue(t.Context(), jobs, queue.Definition{Columns: columns})
	must(t, err)
	d, version, err := w.Definition(t.Context(), jobs)
	if err != nil || !reflect.DeepEqual(d.Columns, columns) || version == 0 {
		t.Fatalf("columns come back as %v of version %d, %v", d.Columns, version, err)
	}
	row := []message.Value{message.Int(7), message.String("飛脚")}
	_, err = w.Put(t.Context(), jobs, []message.Message{{Row: row}, {Row: row}})
	must(t, err)
	where, err := w.Parse(t.Context(), jobs, "ID = 7")
	must(t, err)
	cs, err := w.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: jobs, Where: where}}, Max: 2})
	must(t, err)
	if len(cs) != 2 || !reflect.DeepEqual(cs[1].Columns, columns) || !slices.Equal(cs[1].Message.Row, row) {
		t.Errorf("claimed %+v", cs)
	}
	if len(cs) == 2 && string(cs[0].Body()) != `{"id":7,"name":"飛脚"}` {
		t.Errorf("the body is %s", cs[0].Body())
	}
	ps, err := w.Peek(t.Context(), jobs, queue.PeekRequest{})
	if err != nil || len(ps) != 2 || !reflect.DeepEqual(ps[0].Columns, columns) {
		t.Errorf("looked at %+v, %v", ps, err)
	}
}

// What only a router asks for, twins do not ask.
func TestAShardIsAskedForWhatARouterWants(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	other, topic := queue.Name{Namespace: "app", Name: "other"}, queue.Name{Namespace: "app", Name: "topic"}
	m := message.Message{Body: []byte("m"), Origin: message.Origin{Source: "file", Offset: 7}}
	_, err := w.Put(ctx, jobs, []message.Message{m})
	must(t, err)
	taken, next, err := w.TookFrom(ctx, jobs, "file", []uint64{6, 7})
	if err != nil || !slices.Equal(taken, []uint64{7}) || next != 8 {
		t.Errorf("it took %v, before %d, %v", taken, next, err)
	}
	must(t, w.RenameNoted(ctx, jobs, other, queue.Note{Room: "test", Key: "k", Value: []byte{}}))
	if now, ok, err := w.NowCalled(ctx, jobs); err != nil || !ok || now != other {
		t.Errorf("it is called %v, %t, %v", now, ok, err)
	}
	if value, ok, err := w.Note(ctx, "test", "k"); err != nil || !ok || value == nil || len(value) > 0 {
		t.Errorf("the note is %v, %t, %v", value, ok, err)
	}
	if there, err := w.Has(ctx, other); err != nil || !there {
		t.Errorf("it is there: %t, %v", there, err)
	}
	_, err = w.CreateQueue(ctx, jobs, queue.Definition{DeadLetter: "app/dead"})
	must(t, err)
	must(t, w.RenameDeadLetters(ctx, queue.Name{Namespace: "app", Name: "dead"}, other))
	if d, _, err := w.Definition(ctx, jobs); err != nil || d.DeadLetter != "app/other" {
		t.Errorf("dead letters go to %s, %v", d.DeadLetter, err)
	}
	_, err = w.TakeSnapshot(ctx, topic, other, queue.SnapshotOptions{})
	must(t, err)
	if there, err := w.HasSnapshot(ctx, topic); err != nil || !there {
		t.Errorf("the snapshot is there: %t, %v", there, err)
	}
	if there, err := w.HasSnapshot(ctx, other); err != nil || there {
		t.Errorf("another snapshot is there: %t, %v", there, err)
	}
	rs, err := w.PublishEach(ctx, other, []message.Message{m, {Body: []byte("n")}})
	if err != nil || len(rs) != 2 || !rs[0].Duplicate || rs[1].Sequence != 2 {
		t.Errorf("published %+v, %v", rs, err)
	}
}

func TestErrorsAreThoseOfTheStore(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	_, err := w.CreateQueue(ctx, jobs, queue.Definition{MaxMessages: 1})
	must(t, err)
	_, err = w.CreateQueue(ctx, jobs, queue.Definition{MaxMessages: 2})
	var different *queue.DifferentError
	if !errors.Is(err, queue.ErrExists) || !errors.As(err, &different) || len(different.Differences) != 1 {
		t.Errorf("another definition: %v", err)
	}
	_, here := w.store.CreateQueue(ctx, jobs, queue.Definition{MaxMessages: 2})
	if here == nil || err == nil || here.Error() != err.Error() {
		t.Errorf("the store says %v, another node %v", here, err)
	}
	_, err = w.Put(ctx, jobs, make([]message.Message, 2))
	var full *queue.FullError
	if !errors.Is(err, queue.ErrQueueFull) || !errors.As(err, &full) || full.Limit != 1 {
		t.Errorf("a full queue: %v", err)
	}
	_, err = w.Parse(ctx, jobs, "a = ")
	var syntax *condition.Error
	if !errors.As(err, &syntax) || syntax.Offset != 4 {
		t.Errorf("half a condition: %v", err)
	}
	errs, err := w.Settle(ctx, []queue.Settlement{{Token: queue.Token{Queue: 1}}})
	if err != nil || len(errs) != 1 || !errors.Is(errs[0], queue.ErrStale) {
		t.Errorf("a claim that there is not: %v, %v", errs, err)
	}
}

// eventually is the message that can be claimed at last, with its attempts.
func (w *world) eventually(t *testing.T) queue.Claim {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cs, err := w.store.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: jobs}}, Wait: time.Minute})
	must(t, err)
	return cs[0]
}

func (w *world) put(t *testing.T) {
	t.Helper()
	_, err := w.store.Put(t.Context(), jobs, []message.Message{{Body: []byte("m")}})
	must(t, err)
}

func (w *world) waits(t *testing.T, n int) {
	t.Helper()
	waittest.Until(t, "claims wait at the store", func() bool {
		st, err := w.store.Stats(t.Context(), jobs)
		return err == nil && st.Waiters == n
	})
}

func TestAClaimThatWaitsGetsWhatIsPutAndEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	_, err := w.CreateQueue(t.Context(), jobs, queue.Definition{})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error, 1)
	ask := func() {
		_, err := w.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: jobs}}, Wait: time.Hour})
		got <- err
	}
	go ask()
	w.waits(t, 1)
	w.put(t)
	must(t, <-got)
	go ask()
	w.waits(t, 1)
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("a claim that was given up says %v", err)
	}
	w.waits(t, 0)
}

func TestClaimsOfAnOwnerEndWithItOrItsConnection(t *testing.T) {
	w := newWorld(t)
	for _, how := range []string{"owner", "connection"} {
		o := w.NewOwner("test")
		w.put(t)
		cs, err := w.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: jobs}}, Owner: o})
		must(t, err)
		if len(cs) != 1 {
			t.Fatal("nothing was claimed")
		}
		if how == "owner" {
			o.Close()
		} else if err := w.node.Close(); err != nil {
			t.Fatal(err)
		}
		c := w.eventually(t)
		_, err = w.store.Settle(t.Context(), []queue.Settlement{{Token: c.Token}})
		must(t, err)
		if how == "owner" {
			_, err := w.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: jobs}}, Owner: o})
			if !errors.Is(err, queue.ErrStale) {
				t.Errorf("a claim of an owner that was closed: %v", err)
			}
		}
		o.Close()
	}
}

func TestAnOwnerThatIsClosedEndsItsClaimThatWaits(t *testing.T) {
	w := newWorld(t)
	w.put(t)
	w.eventually(t)
	o := w.NewOwner("test")
	got := make(chan error, 1)
	go func() {
		_, err := w.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: jobs}}, Owner: o, Wait: time.Hour})
		got <- err
	}()
	w.waits(t, 1)
	o.Close()
	if err := <-got; !errors.Is(err, queue.ErrStale) {
		t.Errorf("it says %v", err)
	}
	w.waits(t, 0)
}

// What is claimed for a caller who has gone meanwhile is there for others at once, whatever its lease.
func TestClaimsThatReachNobodyGoBack(t *testing.T) {
	w := newWorld(t)
	for n := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan []queue.Claim, 1)
		go func() {
			cs, _ := w.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: jobs}}, Wait: time.Hour,
				Lease: time.Hour})
			got <- cs
		}()
		if n > 0 {
			w.waits(t, 1)
		}
		go cancel()
		w.put(t)
		if cs := <-got; len(cs) > 0 {
			_, err := w.Settle(t.Context(), []queue.Settlement{{Token: cs[0].Token}})
			must(t, err)
			continue
		}
		c := w.eventually(t)
		if c.Attempt != 1 {
			t.Errorf("a claim that reached nobody counts: attempt %d", c.Attempt)
		}
		_, err := w.store.Settle(t.Context(), []queue.Settlement{{Token: c.Token}})
		must(t, err)
	}
}

func TestACallerIsAskedBeforeBodiesAreRead(t *testing.T) {
	w := newWorld(t)
	w.put(t)
	request := queue.ClaimRequest{From: []queue.From{{Queue: jobs}}, Lease: time.Hour}
	no := errors.New("no memory is left")
	var asked int64
	request.Hold = func(_ context.Context, sum, _ int64) error {
		asked = sum
		return no
	}
	if _, err := w.Claim(t.Context(), request); err != no || asked != 1 {
		t.Errorf("it was asked for %d bytes; a claim that is not wanted says %v", asked, err)
	}
	if _, err := w.Peek(t.Context(), jobs, queue.PeekRequest{Hold: request.Hold}); err != no {
		t.Errorf("a look that is not wanted says %v", err)
	}
	request.Hold = func(context.Context, int64, int64) error { return nil }
	cs, err := w.Claim(t.Context(), request)
	if err != nil || len(cs) != 1 || cs[0].Attempt != 1 {
		t.Errorf("a claim that is wanted gets %v, %v", cs, err)
	}
}

func TestAReplayAsksWhereLettersBelong(t *testing.T) {
	w := newWorld(t)
	w.put(t)
	c := w.eventually(t)
	_, err := w.store.Settle(t.Context(), []queue.Settlement{{Token: c.Token, Kind: queue.Dead, Reason: "test"}})
	must(t, err)
	dead, other := queue.Name{Namespace: "app", Name: "jobs_dead"}, queue.Name{Namespace: "app", Name: "other"}
	no := errors.New("nobody knows")
	home := func(context.Context, queue.Name) (queue.Name, error) { return other, no }
	if _, err := w.Replay(t.Context(), dead, queue.ReplayRequest{Home: home}); err != no {
		t.Errorf("it says %v", err)
	}
	no = nil
	r, err := w.Replay(t.Context(), dead, queue.ReplayRequest{Home: home})
	if err != nil || r.Moved != 1 {
		t.Errorf("replayed %+v, %v", r, err)
	}
	if st, err := w.Stats(t.Context(), other); err != nil || st.Ready != 1 {
		t.Errorf("the queue has %d messages, %v", st.Ready, err)
	}
}

func TestANodeThatIsAwayHasDoneNothing(t *testing.T) {
	w := newWorld(t)
	w.put(t)
	w.server.Close()
	waittest.Until(t, "the node is away", func() bool {
		_, err := w.Put(t.Context(), jobs, []message.Message{{}})
		return errors.Is(err, remote.ErrAway)
	})
	if st, err := w.store.Stats(t.Context(), jobs); err != nil || st.Ready != 1 {
		t.Errorf("the store has %d messages, %v", st.Ready, err)
	}
}

func TestAShardThatIsNotThereIsToldOf(t *testing.T) {
	none := listen(t, "c")
	s := remote.NewServer(none, func(int) (queue.Shard, error) { return nil, cluster.ErrNotOwner })
	defer s.Close()
	node, err := remote.Dial(listen(t, "d").Dialer(), link.Peer{Node: "c", Address: none.Addr().String()})
	must(t, err)
	defer node.Close()
	if _, err := node.Shard(1, nil).Queues(t.Context()); !errors.Is(err, cluster.ErrNotOwner) {
		t.Errorf("it says %v", err)
	}
}

// A body of 60 MB does not hold up what is small.
func TestLargeBodiesAndManyWaitingClaimsShareAConnection(t *testing.T) {
	w := newWorld(t)
	const waiters = 500
	var waiting sync.WaitGroup
	for range waiters {
		waiting.Go(func() {
			cs, err := w.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: jobs}}, Wait: time.Hour})
			if err != nil || len(cs) != 1 {
				t.Errorf("claimed %d, %v", len(cs), err)
			}
		})
	}
	w.waits(t, waiters)
	large := queue.Name{Namespace: "app", Name: "large"}
	body := make([]byte, 60<<20)
	for i := range body {
		body[i] = byte(i * i >> 8)
	}
	_, err := w.Put(t.Context(), large, []message.Message{{Body: body}})
	must(t, err)
	for range waiters {
		w.put(t)
	}
	waiting.Wait()
	cs, err := w.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: large}}})
	if err != nil || len(cs) != 1 || !bytes.Equal(cs[0].Message.Body, body) {
		t.Errorf("claimed %d, %v", len(cs), err)
	}
}
