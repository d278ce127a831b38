package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	"github.com/hikyaku/hikyaku/internal/sink/apns"
	queuesource "github.com/hikyaku/hikyaku/internal/source/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const bundle = "com.example.news"

func named(name string) queue.Name { return queue.Name{Namespace: queue.DefaultNamespace, Name: name} }

// device makes a token of a number.
func device(n int) string { return fmt.Sprintf("%064x", n+1) }

// trial is a far end, a store, and how the sink is set.
type trial struct {
	far    *sandbox.Server
	store  *queue.Store
	sink   apns.Config
	s      pipeline.Settings
	hasty  bool         // requests end before an answer that is only late has come, on a machine that is busy
	ids    []message.ID // of what was put
	counts map[string]uint64
}

// newTrial starts a sandbox and opens a store.
func newTrial(t testing.TB, durability journal.Durability, b farend.Behaviour) *trial {
	t.Helper()
	key, err := sandbox.NewKey("TEAM123456", "KEY1234567")
	if err != nil {
		t.Fatal(err)
	}
	far, err := sandbox.Start(sandbox.Config{Config: farend.Config{Behaviour: b}, Keys: []*sandbox.Key{key},
		Topics: []string{bundle}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{"ca.pem": far.Authority.PEM, "key.p8": key.PEM} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j, err := file.Open(t.Context(), file.Options{Dir: filepath.Join(dir, "journal"), Durability: durability})
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(store.Close(), j.Close(), far.Close()); err != nil {
			t.Error(err)
		}
	})
	return &trial{
		far: far, store: store,
		sink: apns.Config{
			Apps: map[string]apns.App{bundle: {
				Endpoint: far.Addr().String(), CAFile: filepath.Join(dir, "ca.pem"), Team: "TEAM123456",
				KeyID: "KEY1234567", KeyFile: filepath.Join(dir, "key.p8"),
			}},
			Feedback: "gone", Connections: 4,
		},
		s: pipeline.Settings{Request: pipeline.Request{
			RetryAttempts: pipeline.Unbounded, RetryInitial: 10 * time.Millisecond, RetryMax: 200 * time.Millisecond,
		}},
	}
}

// beHasty gives answers little time to come, where the far end leaves some out.
func (tr *trial) beHasty() {
	tr.hasty = true
	tr.s.Request.Timeout = 2 * time.Second
}

// put puts messages for so many devices into the queue. change may alter each.
func (tr *trial) put(t testing.TB, n int, change func(i int, m *message.Message)) {
	t.Helper()
	for at := range slices.Chunk(numbers(n), 1000) {
		some := make([]message.Message, len(at))
		for k, i := range at {
			m := message.Message{Body: fmt.Appendf(nil,
				`{"aps":{"alert":{"title":"News 42","body":"What user %d is told"}}}`, i)}
			m.Attributes.Set("token", message.String(device(i)))
			if change != nil {
				change(i, &m)
			}
			some[k] = m
		}
		put, err := tr.store.Put(t.Context(), named("outbox"), some)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range put {
			tr.ids = append(tr.ids, p.ID)
		}
	}
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// nodes are the campaign's graph.
func (tr *trial) nodes(t testing.TB) ([]pipeline.Node, *apns.Sink) {
	t.Helper()
	source, err := queuesource.New(queuesource.Config{Queue: "outbox"},
		component.Env{Name: "waiting", Store: tr.store})
	if err != nil {
		t.Fatal(err)
	}
	made, err := apns.New(tr.sink, component.Env{Name: "phones", Store: tr.store})
	if err != nil {
		t.Fatal(err)
	}
	sink, ok := made.(*apns.Sink)
	if !ok {
		t.Fatalf("made a %T", made)
	}
	return []pipeline.Node{
		{Name: "waiting", Source: source, Drains: []string{"outbox"}},
		{Name: "phones", Inputs: []string{"waiting"}, Sink: sink, Settings: tr.s},
	}, sink
}

// run lets the campaign run to its end.
func (tr *trial) run(t testing.TB) pipeline.Result {
	t.Helper()
	nodes, sink := tr.nodes(t)
	p, err := pipeline.New(nodes, pipeline.Options{Store: tr.store, Finite: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tr.counts = sink.Counts()
	return r
}

// account checks that every message has exactly one end: the far end has it, it is a dead letter with a reason, or it
// was dropped.
func (tr *trial) account(t *testing.T, r pipeline.Result) {
	t.Helper()
	dead := map[message.ID]string{}
	letters, err := tr.store.Peek(t.Context(), named("phones_dead"), queue.PeekRequest{Max: len(tr.ids)})
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		t.Fatal(err)
	}
	for _, l := range letters {
		if l.Message.Death == nil || l.Message.Death.Reason == "" {
			t.Errorf("%s is a dead letter without a reason", l.Message.ID)
			continue
		}
		dead[l.Message.ID] = l.Message.Death.Reason
	}
	has, both := 0, 0
	for _, id := range tr.ids {
		n := tr.far.Count(id.String())
		if n > 0 {
			has++
		}
		if n > 0 && dead[id] != "" {
			both++
		}
	}
	c := tr.far.Counts()
	ours := tr.counts["answer lost"]
	lost := c.Lost
	if tr.hasty {
		lost = int64(ours)
	}
	switch {
	case r.Delivered+r.DeadLettered+r.Dropped != uint64(len(tr.ids)) || r.GivenBack != 0:
		t.Errorf("of %d messages: %+v", len(tr.ids), r)
	case uint64(len(dead)) != r.DeadLettered:
		t.Errorf("%d dead letters, %d are counted", len(dead), r.DeadLettered)
	case uint64(has) < r.Delivered || int64(has)-int64(r.Delivered) > lost:
		t.Errorf("the far end has %d messages, %d are settled as delivered, %d answers were lost", has, r.Delivered,
			lost)
	case int64(both) > lost:
		t.Errorf("%d messages are delivered and dead letters, too", both)
	case int64(c.Doubles) > lost || uint64(c.Doubles) > ours:
		t.Errorf("%d came twice, %d answers were lost, we know of %d", c.Doubles, lost, ours)
	}
	st, err := tr.store.Stats(t.Context(), named("outbox"))
	if err != nil || st.Messages() != 0 {
		t.Errorf("%d messages are left, %v", st.Messages(), err)
	}
}
