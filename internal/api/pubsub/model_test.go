package pubsub

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// modelMessage is what a client may know of a message.
type modelMessage struct {
	text, key string
	at        int           // in which of the model's moments it was published
	acked     bool          // it will not come, unless a seek brings it back
	held      string        // the ack id under which somebody holds it; "": nobody does
	until     time.Duration // of held
}

// modelID is what became of an ack id.
type modelID struct {
	m     *modelMessage
	ended string // "", "done", "back" or "over"
}

// modelMark is a moment to which a seek may go.
type modelMark struct {
	at       int
	time     time.Time
	snapshot string          // its name; "": none was taken
	open     map[string]bool // of the snapshot: texts of what was not acknowledged
}

// model is a subscription as its documentation describes it: a list of messages, and who holds which until when.
type model struct {
	r              *rig
	clock          *fakeClock
	id             string
	ordered, exact bool
	messages       []*modelMessage
	ids            map[string]*modelID
	names          []string // of ids, in the order in which they came
	marks          []modelMark
	moment         int
}

func (m *model) now() time.Duration { return time.Duration(m.clock.ahead.Load()) }

// expire lets what is past its deadline go back, here and in the store: its own timers know nothing of a clock that
// jumps.
func (m *model) expire() {
	if _, err := m.r.store.Stats(m.r.t.Context(), queue.Name{Namespace: "default", Name: m.id}); err != nil {
		m.r.t.Error(err)
	}
	for _, x := range m.messages {
		if x.held != "" && x.until <= m.now() {
			m.back(x, "over")
		}
	}
}

// back puts a message back, and those of its key that were handed out after it.
func (m *model) back(x *modelMessage, how string) {
	m.ids[x.held].ended = how
	x.held = ""
	if !m.ordered || x.key == "" {
		return
	}
	later := m.messages[slices.Index(m.messages, x)+1:]
	for _, y := range later {
		if y.key == x.key && y.held != "" {
			m.ids[y.held].ended = "over"
			y.held = ""
		}
	}
}

// available lists what a pull gets, the oldest first.
func (m *model) available() (list []*modelMessage) {
	blocked := map[string]bool{}
	for _, x := range m.messages {
		if x.acked || m.ordered && x.key != "" && blocked[x.key] {
			continue
		}
		if x.held != "" {
			blocked[x.key] = true
			continue
		}
		list = append(list, x)
	}
	return list
}

func (m *model) publish(t *rapid.T) {
	key := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "key")
	var texts []string
	for range rapid.IntRange(1, 3).Draw(t, "count") {
		x := &modelMessage{text: fmt.Sprintf("%s%d", key, len(m.messages)), key: key, at: m.moment}
		m.messages, texts = append(m.messages, x), append(texts, x.text)
	}
	m.r.publish(m.id+"-topic", key, texts...)
}

func (m *model) pull(t *rapid.T) {
	n := rapid.IntRange(1, 6).Draw(t, "most")
	m.expire()
	want := m.available()
	want = want[:min(n, len(want))]
	got := m.r.pull(m.id, int32(n))
	var expected []string
	for _, x := range want {
		expected = append(expected, x.text)
	}
	if !slices.Equal(texts(got), expected) {
		t.Fatalf("a pull got %q, not %q", texts(got), expected)
	}
	for i, x := range want {
		id := got[i].AckId
		if m.ids[id] != nil {
			t.Fatalf("the ack id %s was given out twice", id)
		}
		if got[i].Message.OrderingKey != x.key {
			t.Fatalf("%s has the key %q", x.text, got[i].Message.OrderingKey)
		}
		x.held, x.until = id, m.now()+10*time.Second
		m.ids[id] = &modelID{m: x}
		m.names = append(m.names, id)
	}
}

// draw picks some ack ids, old ones as well.
func (m *model) draw(t *rapid.T) []string {
	if len(m.names) == 0 {
		return nil // none was handed out yet
	}
	m.expire()
	recent := m.names[max(0, len(m.names)-8):]
	return rapid.SliceOfN(rapid.SampledFrom(recent), 1, 4).Draw(t, "ids")
}

// judge compares the answer to a call with what has become of each id. good are those that the call could do something
// with.
func (m *model) judge(t *rapid.T, err error, ids []string, good map[string]bool) {
	if !m.exact {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	failed := ackErrors(err)
	any := false
	for _, id := range ids {
		any = any || !good[id]
		if !good[id] != (failed[id] == permanentFailure) {
			t.Fatalf("ack id %s: good is %v, the answer %q (%v)", id, good[id], failed[id], err)
		}
		if good[id] && err != nil && !strings.HasPrefix(failed[id], "TRANSIENT_") {
			t.Fatalf("ack id %s was good and is told %q", id, failed[id])
		}
	}
	if any != (err != nil) {
		t.Fatalf("%v, with %v", err, good)
	}
}

func (m *model) ack(t *rapid.T) {
	ids, good := m.draw(t), map[string]bool{}
	if ids == nil {
		return
	}
	for _, id := range ids {
		x := m.ids[id]
		if x.ended == "" {
			x.ended, x.m.acked, x.m.held = "done", true, ""
		}
		good[id] = x.ended == "done"
	}
	_, err := m.r.sub.Acknowledge(m.r.t.Context(), &pubsubpb.AcknowledgeRequest{Subscription: subscriptionName(m.id),
		AckIds: ids})
	m.judge(t, err, ids, good)
}

func (m *model) nack(t *rapid.T) {
	ids, good := m.draw(t), map[string]bool{}
	if ids == nil {
		return
	}
	for _, id := range ids {
		if x := m.ids[id]; x.ended == "" {
			m.back(x.m, "back")
		}
		good[id] = m.ids[id].ended == "back"
	}
	_, err := m.r.sub.ModifyAckDeadline(m.r.t.Context(),
		&pubsubpb.ModifyAckDeadlineRequest{Subscription: subscriptionName(m.id), AckIds: ids})
	m.judge(t, err, ids, good)
}

func (m *model) extend(t *rapid.T) {
	ids, good := m.draw(t), map[string]bool{}
	if ids == nil {
		return
	}
	seconds := rapid.SampledFrom([]int32{5, 20, 40}).Draw(t, "seconds")
	for _, id := range ids {
		if x := m.ids[id]; x.ended == "" {
			good[id] = true
			x.m.until = m.now() + time.Duration(seconds)*time.Second
		}
	}
	_, err := m.r.sub.ModifyAckDeadline(m.r.t.Context(),
		&pubsubpb.ModifyAckDeadlineRequest{Subscription: subscriptionName(m.id), AckIds: ids,
			AckDeadlineSeconds: seconds})
	m.judge(t, err, ids, good)
}

func (m *model) wait(t *rapid.T) {
	m.clock.pass(time.Duration(rapid.IntRange(1, 12).Draw(t, "seconds")) * time.Second)
}

// mark makes a moment to which a seek may go, with a snapshot or without.
func (m *model) mark(t *rapid.T) {
	m.expire()
	m.clock.pass(time.Second)
	m.expire()
	m.moment++
	mark := modelMark{at: m.moment, time: m.clock.now()}
	m.clock.pass(time.Second)
	if rapid.Bool().Draw(t, "snapshot") {
		mark.snapshot, mark.open = snapshotName(fmt.Sprintf("%s-%d", m.id, m.moment)), map[string]bool{}
		for _, x := range m.messages {
			mark.open[x.text] = !x.acked
		}
		if _, err := m.r.sub.CreateSnapshot(m.r.t.Context(),
			&pubsubpb.CreateSnapshotRequest{Name: mark.snapshot, Subscription: subscriptionName(m.id)}); err != nil {
			t.Fatal(err)
		}
	}
	m.marks = append(m.marks, mark)
}

func (m *model) seek(t *rapid.T) {
	if len(m.marks) == 0 {
		return // there is nowhere to go
	}
	m.expire()
	to := rapid.SampledFrom(m.marks).Draw(t, "mark")
	req := &pubsubpb.SeekRequest{Subscription: subscriptionName(m.id)}
	if to.snapshot != "" {
		req.Target = &pubsubpb.SeekRequest_Snapshot{Snapshot: to.snapshot}
	} else {
		req.Target = &pubsubpb.SeekRequest_Time{Time: timestamppb.New(to.time)}
	}
	if _, err := m.r.sub.Seek(m.r.t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for _, x := range m.messages {
		x.acked = x.at < to.at && !to.open[x.text]
		if x.acked && x.held != "" {
			m.ids[x.held].ended = "over"
			x.held = ""
		}
	}
}

// remove leaves room for the next one.
func (m *model) remove(t *rapid.T) {
	for _, mark := range m.marks {
		if mark.snapshot == "" {
			continue
		}
		if _, err := m.r.sub.DeleteSnapshot(m.r.t.Context(),
			&pubsubpb.DeleteSnapshotRequest{Snapshot: mark.snapshot}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.r.sub.DeleteSubscription(m.r.t.Context(),
		&pubsubpb.DeleteSubscriptionRequest{Subscription: subscriptionName(m.id)}); err != nil {
		t.Fatal(err)
	}
}

// TestASubscriptionBehavesAsItsModel publishes, pulls, acknowledges, puts back, moves deadlines, waits and seeks at
// random.
func TestASubscriptionBehavesAsItsModel(t *testing.T) {
	r, clock := newTimedRig(t)
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		m := &model{
			r: r, clock: clock, id: fmt.Sprintf("model%d", run), ids: map[string]*modelID{},
			ordered: rapid.Bool().Draw(t, "ordered"), exact: rapid.Bool().Draw(t, "exactly once"),
		}
		r.topic(m.id + "-topic")
		r.subscribeTo(m.id+"-topic", m.id, func(s *pubsubpb.Subscription) {
			s.EnableMessageOrdering, s.EnableExactlyOnceDelivery, s.RetainAckedMessages = m.ordered, m.exact, true
		})
		t.Repeat(map[string]func(*rapid.T){
			"publish": m.publish, "pull": m.pull, "ack": m.ack, "nack": m.nack, "extend": m.extend, "wait": m.wait,
			"mark": m.mark, "seek": m.seek,
		})
		m.remove(t)
	})
}
