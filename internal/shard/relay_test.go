package shard

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

var ends = flag.Int("ends", 100, "how often the world ends in TestARelayedMessageIsThereOnceAfterAnyEnd")

func TestAChangePutsIntoOtherShardsExactlyOnce(t *testing.T) {
	w := newWorld(t, 3, onDemand)
	in, near, far, farther := w.in(0, "in"), w.in(0, "near"), w.in(1, "far"), w.in(2, "farther")
	w.put(in, "job")
	job := w.claim(in)
	change := queue.Change{
		Settles: []queue.Settlement{{Token: job[0].Token}},
		Puts: []queue.QueuePut{{To: near, Messages: messagesOf("near")}, {To: far, Messages: messagesOf("f1", "f2")},
			{To: farther, Messages: messagesOf("far")}},
	}
	puts, settles, err := w.Commit(t.Context(), change)
	must(t, errors.Join(append(settles, err)...))
	if puts[0][0].Sequence == 0 || puts[1][0].Sequence != 0 || puts[1][0].ID.IsZero() {
		t.Errorf("results are %v", puts)
	}
	w.quiet()
	for range 2 {
		w.wants(in)
		w.wants(near, "near")
		w.wants(far, "f1", "f2")
		w.wants(farther, "far")
		names, err := w.Queues(t.Context())
		if err != nil || slices.ContainsFunc(names, reserved) || len(names) != 4 {
			t.Errorf("queues are %v, %v", names, err)
		}
		w = w.after(true, onDemand)
	}
	cs := w.claim(far)
	if cs[0].Message.ID != puts[1][0].ID {
		t.Errorf("a relayed message has id %v, its sender was told %v", cs[0].Message.ID, puts[1][0].ID)
	}
}

func TestWhatGoesBetweenShardsKeepsItsDelayItsKeyAndItsDeduplicationID(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	in, out := w.in(0, "in"), w.in(1, "out")
	late := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	m := message.Message{Body: []byte("later"), Key: "k", Dedup: "once", NotBefore: late, Expires: late.Add(time.Hour)}
	m.Attributes.Set("color", message.String("red"))
	m.Hops.Mark(message.Accepted, time.Now())
	for range 2 {
		w.put(in, "job")
		settle := []queue.Settlement{{Token: w.claim(in)[0].Token}}
		_, _, err := w.Commit(t.Context(), queue.Change{Settles: settle,
			Puts: []queue.QueuePut{{To: out, Messages: []message.Message{m}}}})
		must(t, err)
	}
	if m.Dedup == "" || len(m.Attributes) != 1 {
		t.Errorf("the sender's message was changed: %+v", m)
	}
	w.quiet()
	ps, err := w.Peek(t.Context(), out, queue.PeekRequest{})
	if err != nil || len(ps) != 1 {
		t.Fatalf("%d messages of one deduplication id, %v", len(ps), err)
	}
	got := &ps[0]
	color, _ := got.Message.Attributes.Get("color")
	if got.State != queue.Delayed || !got.Until.Equal(late) || got.Message.Key != "k" || color.AsString() != "red" ||
		len(got.Message.Attributes) != 1 || !got.Message.Expires.Equal(m.Expires) {
		t.Errorf("it came as %+v", got)
	}
}

func TestDeadLettersGoToAQueueOrATopicOfAnotherShard(t *testing.T) {
	w := newWorld(t, 3, queue.Options{})
	jobs, alarms, topic := w.in(0, "jobs"), w.in(1, "alarms"), w.in(2, "topic")
	tasks, watcher := w.in(0, "tasks"), w.in(0, "watcher")
	create := func(n queue.Name, d queue.Definition) {
		t.Helper()
		_, err := w.CreateQueue(t.Context(), n, d)
		must(t, err)
	}
	_, err := w.CreateTopic(t.Context(), topic, nil)
	must(t, err)
	create(jobs, queue.Definition{DeadLetter: alarms.String()})
	create(tasks, queue.Definition{DeadLetter: topic.String()})
	w.put(jobs, "job")
	w.put(tasks, "task 1")
	w.settle(queue.Dead, w.claim(jobs)...)  // alarms is not there: it is made
	w.settle(queue.Dead, w.claim(tasks)...) // the topic has no subscription: a queue of its name is made
	w.quiet()
	w.wants(alarms, "job")
	w.wants(topic, "task 1")
	create(watcher, queue.Definition{Topic: topic.String()})
	w.put(tasks, "task 2")
	w.settle(queue.Dead, w.claim(tasks)...)
	w.quiet()
	w.wants(watcher, "task 2")
	w.wants(topic, "task 1")
	cs := w.claim(alarms)
	if d := cs[0].Message.Death; d == nil || d.Queue != jobs.String() || d.Reason != "for the test" {
		t.Errorf("the letter tells %+v", cs[0].Message.Death)
	}
	w.settle(queue.Back, cs...)
	replayed, err := w.Replay(t.Context(), alarms, queue.ReplayRequest{})
	if err != nil || replayed.Moved != 1 {
		t.Fatal(replayed, err)
	}
	w.quiet()
	w.wants(jobs, "job")
	w.wants(alarms)
	if d := w.claim(jobs)[0].Message.Death; d != nil {
		t.Errorf("what was replayed is a dead letter still: %+v", d)
	}
}

func TestWhatADestinationRefusesHoldsUpNothingElse(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	in, table, full := w.in(0, "in"), w.in(1, "table"), w.in(1, "full")
	columns, err := message.ParseColumns([]string{"a BIGINT"})
	must(t, err)
	_, err = w.CreateQueue(t.Context(), table, queue.Definition{Columns: columns})
	must(t, err)
	_, err = w.CreateQueue(t.Context(), full, queue.Definition{MaxMessages: 1})
	must(t, err)
	send := func(to queue.Name, bodies ...string) error {
		t.Helper()
		w.put(in, "job")
		_, _, err := w.Commit(t.Context(), queue.Change{Settles: []queue.Settlement{{Token: w.claim(in)[0].Token}},
			Puts: []queue.QueuePut{{To: to, Messages: messagesOf(bodies...)}}})
		return err
	}
	if err := send(table, "no row"); !errors.Is(err, queue.ErrMismatch) {
		t.Errorf("what does not fit is taken: %v", err)
	}
	w.settle(queue.Done, w.claim(in)...)
	must(t, send(full, "1", "2", "3"))
	must(t, send(table, `{"a":1}`, `{"a":2}`))
	waittest.Until(t, "what fits is there", func() bool {
		return len(w.bodies(table)) == 2 && len(w.bodies(full)) == 1
	})
	for _, want := range []string{"1", "2", "3"} { // as its reader makes room
		waittest.Until(t, "message "+want+" is there", func() bool { return len(w.bodies(full)) == 1 })
		cs := w.claim(full)
		if len(cs) != 1 || string(cs[0].Message.Body) != want {
			t.Fatalf("got %v, want %s", cs, want)
		}
		w.settle(queue.Done, cs...)
	}
}

func TestWhatItsDestinationTakesNoMoreBecomesADeadLetter(t *testing.T) {
	w := newWorld(t, 2, queue.Options{})
	in, out := w.in(0, "in"), w.in(1, "out")
	for _, n := range []queue.Name{in, out} {
		_, err := w.CreateQueue(t.Context(), n, queue.Definition{})
		must(t, err)
	}
	if _, _, err := w.Commit(t.Context(), queue.Change{Puts: []queue.QueuePut{{To: in, Messages: messagesOf("x")},
		{To: w.in(1, "nowhere"), Messages: messagesOf("y")}}}); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("put where nothing is: %v", err)
	}
	must(t, w.DeleteQueue(t.Context(), out))
	lane := laneTo(out, queue.TopicBefore) // as if the message had been on its way
	must(t, w.makeLane(t.Context(), 0, lane))
	_, err := w.stores[0].Put(t.Context(), lane.Queue, messagesOf("homeless"))
	must(t, err)
	w.quiet()
	w.wants(queue.Name{Namespace: out.Namespace, Name: out.Name + queue.DeadEnding}, "homeless")
}

func TestARelayThatIsBehindSaysSoAndRefusesMoreByTheNameOfTheDestination(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	near, far := w.in(0, "near"), w.in(1, "far")
	w.put(far, "first")
	w.journals[1].Hold(true)
	defer w.journals[1].Hold(false)
	group := make([]message.Message, 5000)
	send := func() error {
		_, _, err := w.Commit(t.Context(), queue.Change{Puts: []queue.QueuePut{
			{To: near, Messages: messagesOf("n")}, {To: far, Messages: group}}})
		return err
	}
	var err error
	for range laneMessages/len(group) + 1 {
		if err = send(); err != nil {
			break
		}
	}
	var full *queue.FullError
	if !errors.As(err, &full) || full.Name != far {
		t.Errorf("a lane that is full answers %v", err)
	}
	st, err := w.Relay(t.Context())
	if err != nil || st.Waiting != laneMessages || st.Oldest.IsZero() || st.Lanes != 1 || st.Carried != 0 {
		t.Errorf("the relay says %+v, %v", st, err)
	}
	w.journals[1].Hold(false)
	w.quiet()
	waittest.Until(t, "all have arrived", func() bool {
		st, err := w.Relay(t.Context())
		return err == nil && st.Waiting == 0 && st.Carried == laneMessages && st.Oldest.IsZero()
	})
}

func TestAMessageThatIsDamagedOnItsWayIsSetAsideWhereSomebodySeesIt(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	near, far := w.in(0, "near"), w.in(1, "far")
	w.put(far, "first")
	send := func(body string) {
		t.Helper()
		_, _, err := w.Commit(t.Context(), queue.Change{Puts: []queue.QueuePut{
			{To: near, Messages: messagesOf("n")}, {To: far, Messages: messagesOf(body)}}})
		must(t, err)
	}
	lane := laneOfChanges(far).Queue
	w.journals[1].Hold(true)
	send("held up")
	waittest.Until(t, "the carrier has the first message", func() bool {
		st, err := w.stores[0].Stats(t.Context(), lane)
		return err == nil && st.Claimed == 1
	})
	send("damaged")
	send("sound")
	for _, g := range w.disks[0].Groups() {
		for i, r := range g.Records {
			if string(r.Body) == "damaged" {
				w.disks[0].Damage(journal.Address{Position: g.Position, Index: uint32(i)})
			}
		}
	}
	w.journals[1].Hold(false)
	grave := queue.Name{Namespace: far.Namespace, Name: far.Name + queue.DeadEnding}
	waittest.Until(t, "what is damaged is a dead letter", func() bool { return len(w.bodies(grave)) == 1 })
	w.quiet()
	w.wants(far, "first", "held up", "sound")
}

func TestANameOfTheRelayIsRefused(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	n := queue.Name{Namespace: laneNamespace, Name: "q"}
	_, err := w.Put(t.Context(), n, messagesOf("m"))
	_, claimed := w.Claim(t.Context(), queue.ClaimRequest{From: from(n)})
	_, created := w.CreateQueue(t.Context(), n, queue.Definition{})
	_, topic := w.CreateTopic(t.Context(), n, nil)
	renamed := w.RenameQueue(t.Context(), w.in(0, "q"), n)
	_, buries := w.CreateQueue(t.Context(), w.in(0, "q"), queue.Definition{DeadLetter: n.String()})
	w.put(w.in(0, "there"), "m")
	alters := w.AlterQueue(t.Context(), w.in(0, "there"), queue.Definition{DeadLetter: n.String()})
	_, replays := w.Replay(t.Context(), w.in(0, "there"), queue.ReplayRequest{To: n})
	for what, err := range map[string]error{"put": err, "claim": claimed, "create": created, "topic": topic,
		"rename": renamed, "bury": buries, "bury later": alters, "replay": replays,
		"delete": w.DeleteQueue(t.Context(), n)} {
		if !errors.Is(err, queue.ErrBadName) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestWhatItsSenderNumberedIsThereOnceAlsoAfterAStart(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	in, out := w.in(0, "in"), w.in(1, "out")
	m := message.Message{Body: []byte("item"), Origin: message.Origin{Source: "page 1", Offset: 7, Mark: 7}}
	for range 2 {
		w.put(in, "job")
		_, _, err := w.Commit(t.Context(), queue.Change{Settles: []queue.Settlement{{Token: w.claim(in)[0].Token}},
			Puts: []queue.QueuePut{{To: out, Messages: []message.Message{m}}}})
		must(t, err)
		w.quiet()
		w.wants(out, "item")
		w = w.after(false, onDemand)
	}
}

func TestAnAttributeOfASenderIsNotTheRelays(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	in, out, alarms := w.in(0, "in"), w.in(1, "out"), w.in(1, "alarms")
	_, err := w.CreateQueue(t.Context(), in, queue.Definition{DeadLetter: alarms.String()})
	must(t, err)
	for _, text := range []string{"x", `{"dedup":"d"}`, `{"not_before":"2999-01-01T00:00:00Z"}`} {
		m := message.Message{Body: []byte("m")}
		m.Attributes.Set(laneAttribute, message.String(text))
		_, err = w.Put(t.Context(), in, []message.Message{m})
		must(t, err)
		cs := w.claim(in)
		_, _, err = w.Commit(t.Context(), queue.Change{
			Settles: []queue.Settlement{{Token: cs[0].Token, Kind: queue.Dead}},
			Puts:    []queue.QueuePut{{To: out, Messages: []message.Message{m}}}})
		must(t, err)
		for _, n := range []queue.Name{alarms, out} {
			waittest.Until(t, "it is there", func() bool { return len(w.bodies(n)) == 1 })
			got := w.claim(n)
			if len(got) != 1 {
				t.Fatalf("%v: %q is not ready", n, text)
			}
			if v, _ := got[0].Message.Attributes.Get(laneAttribute); v.AsString() != text {
				t.Errorf("%v: the attribute is %q, want %q", n, v.AsString(), text)
			}
			w.settle(queue.Done, got...)
		}
	}
}

// TestARelayedMessageIsThereOnceAfterAnyEnd moves jobs through queues of three shards, each step as one change, while
// the world ends at random moments by kill or power cut. Every job has to be in one place at the end.
func TestARelayedMessageIsThereOnceAfterAnyEnd(t *testing.T) {
	const each = 10 // the log of a world is kept whole, and copied at each end
	left := *ends
	if testing.Short() {
		left = each
	}
	for ; left > 0; left -= each {
		t.Run("", func(t *testing.T) { endWorld(t, min(left, each)) })
	}
}

// endWorld lets one world end so often.
func endWorld(t *testing.T, ends int) {
	w := newWorld(t, 3, onDemand)
	stages := []queue.Name{w.in(0, "s"), w.in(1, "s"), w.in(2, "s"), w.in(0, "t")}
	put := map[string]bool{}
	for range ends {
		over := forward(w, stages)
		for range rand.IntN(40) {
			body := fmt.Sprint("job ", len(put))
			w.put(stages[0], body)
			put[body] = true
		}
		for range rand.IntN(200) {
			runtime.Gosched()
		}
		w = w.after(rand.IntN(2) == 0, onDemand)
		over()
	}
	over := forward(w, stages)
	waittest.Until(t, "all jobs have come to the end", func() bool { return len(w.bodies(stages[3])) >= len(put) })
	over()
	w.quiet()
	seen := map[string]int{}
	for _, n := range stages {
		for _, b := range w.bodies(n) {
			seen[b]++
		}
	}
	for b := range put {
		if seen[b] != 1 {
			t.Errorf("%s is there %d times", b, seen[b])
		}
	}
}

// forward moves jobs from each stage to the next one, each as one change, until over is called or the world ends.
func forward(w *world, stages []queue.Name) (over func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() {
		o := w.NewOwner("worker")
		defer o.Close()
		for ctx.Err() == nil {
			cs, err := w.Claim(ctx, queue.ClaimRequest{From: from(stages[2], stages[1], stages[0]), Max: 3,
				Wait: time.Second, Owner: o})
			if err != nil {
				return
			}
			for i := range cs {
				m := cs[i].Message
				m.Origin = message.Origin{}
				at := slices.Index(stages, cs[i].Queue)
				_, _, err := w.Commit(ctx, queue.Change{Settles: []queue.Settlement{{Token: cs[i].Token}},
					Puts: []queue.QueuePut{{To: stages[at+1], Messages: []message.Message{m}}}})
				if err != nil {
					return
				}
			}
		}
	})
	return func() {
		cancel()
		working.Wait()
	}
}

func TestALaneThatIsIdleHasNoCarrierAndGetsOneAgain(t *testing.T) {
	disks := []*memory.Disk{memory.New(), memory.New()}
	w := startWorldOf(t, disks, Options{Store: onDemand, idle: 20 * time.Millisecond})
	near := w.in(0, "near")
	carriers := func() int {
		w.relay.mu.Lock()
		defer w.relay.mu.Unlock()
		return len(w.relay.carriers)
	}
	for round := range 3 {
		for i := range 50 {
			far := w.in(1, fmt.Sprint("far", i, "x"))
			_, _, err := w.Commit(t.Context(), queue.Change{Puts: []queue.QueuePut{
				{To: near, Messages: messagesOf("n")}, {To: far, Messages: messagesOf(fmt.Sprint(round))}}})
			must(t, err)
		}
		w.quiet()
		waittest.Until(t, "no carrier is left", func() bool { return carriers() == 0 })
	}
	for i := range 50 {
		w.wants(w.in(1, fmt.Sprint("far", i, "x")), "0", "1", "2")
	}
	lane := laneOfChanges(w.in(1, "far0x")) // as if a put had come long after its carrier was asked for
	_, err := w.stores[0].Put(t.Context(), lane.Queue, messagesOf("late"))
	must(t, err)
	w.quiet()
	w.wants(w.in(1, "far0x"), "0", "1", "2", "late")
}
