package rowstest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// patience bounds whatever is waited for. A test that reaches it has failed.
const patience = time.Minute

// table is one table of a test.
type table struct {
	t       *testing.T
	h       *Harness
	name    rows.Name
	columns []Definition
}

// table makes one. Without columns it has k, the key, and v.
func (h *Harness) table(t *testing.T, name string, columns ...Definition) *table {
	t.Helper()
	if len(columns) == 0 {
		columns = []Definition{{Name: "k", Type: h.Int, NotNull: true, Key: true}, {Name: "v", Type: h.Text}}
	}
	tb := &table{t, h, h.Name(name), columns}
	h.Create(t, tb.name, columns)
	t.Cleanup(func() { h.Drop(t, tb.name) })
	return tb
}

// setting is a table's name as Config.Table takes it.
func setting(n rows.Name) []string {
	if len(n) == 1 {
		return []string{n.String()}
	}
	return n
}

// sink is an open sink over one table.
type sink struct {
	component.Sink
	t *testing.T
}

// open makes and starts a sink over the table, and closes it at the end.
func (tb *table) open(c rows.Config) *sink {
	tb.t.Helper()
	s, err := tb.tryOpen(c)
	if err != nil {
		tb.t.Fatalf("start: %v", err)
	}
	return s
}

// tryOpen gives what Start says.
func (tb *table) tryOpen(c rows.Config) (*sink, error) {
	tb.t.Helper()
	if c.Table == nil {
		c.Table = setting(tb.name)
	}
	made := tb.h.Open(tb.t, c)
	tb.t.Cleanup(func() {
		if err := made.Close(); err != nil {
			tb.t.Logf("close: %v", err) // what a database that was killed makes of it is no promise
		}
	})
	if st, ok := made.(component.Starter); ok {
		if err := st.Start(tb.t.Context()); err != nil {
			return nil, err
		}
	}
	return &sink{made, tb.t}, nil
}

// send sends a batch once.
func (s *sink) send(batch ...*message.Message) []component.Outcome {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	outcomes, err := s.Send(ctx, batch)
	if err != nil || len(outcomes) != len(batch) {
		s.t.Fatalf("%d outcomes for %d messages, %v", len(outcomes), len(batch), err)
	}
	return outcomes
}

// deliver sends a batch until nothing is to be tried again, as a pipeline does.
func (s *sink) deliver(batch ...*message.Message) []component.Outcome {
	s.t.Helper()
	outcomes, err := s.tryDeliver(batch)
	if err != nil {
		s.t.Fatal(err)
	}
	return outcomes
}

// tryDeliver is deliver for goroutines that may not end the test.
func (s *sink) tryDeliver(batch []*message.Message) ([]component.Outcome, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	final := make([]component.Outcome, len(batch))
	left := make([]int, len(batch))
	for i := range left {
		left[i] = i
	}
	for {
		now := make([]*message.Message, len(left))
		for k, i := range left {
			now[k] = batch[i]
		}
		outcomes, err := s.Send(ctx, now)
		if err != nil || len(outcomes) != len(now) {
			return final, fmt.Errorf("%d outcomes for %d messages, %w", len(outcomes), len(now), err)
		}
		var again []int
		wait := time.Millisecond
		for k, o := range outcomes {
			final[left[k]] = o
			if o.Verdict == component.Retry {
				again = append(again, left[k])
				wait = max(wait, o.After)
			}
		}
		if left = again; len(left) == 0 {
			return final, nil
		}
		timer := time.NewTimer(min(wait, 200*time.Millisecond)) // a retry is not before its time
		select {
		case <-timer.C:
		case <-ctx.Done():
			return final, fmt.Errorf("%d messages are not delivered, the first one because: %w", len(left),
				final[left[0]].Reason)
		}
	}
}

// count is one of the sink's own counts.
func (s *sink) count(name string) uint64 {
	if c, ok := s.Sink.(component.Counter); ok {
		return c.Counts()[name]
	}
	s.t.Fatal("the sink counts nothing")
	return 0
}

// until waits for a condition that another goroutine brings about.
func until(t *testing.T, what string, met func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(patience); !met(); <-ticker.C {
		if time.Now().After(end) {
			t.Fatalf("it never happened: %s", what)
		}
	}
}

// body makes a message of a JSON text.
func body(format string, args ...any) *message.Message {
	return &message.Message{ID: message.NewID(), Body: fmt.Appendf(nil, format, args...), Time: time.Now()}
}

// row is a message for a table of k and v.
func row(k int) *message.Message { return body(`{"k":%d,"v":"v%d"}`, k, k) }

// rowsOf are several.
func rowsOf(from, to int) []*message.Message {
	var batch []*message.Message
	for k := from; k < to; k++ {
		batch = append(batch, row(k))
	}
	return batch
}

// delivered wants every outcome to be that.
func delivered(t *testing.T, outcomes []component.Outcome) {
	t.Helper()
	for i, o := range outcomes {
		if o.Verdict != component.Delivered {
			t.Fatalf("message %d: %v, because: %v", i, o.Verdict, o.Reason)
		}
	}
}

// rejected wants one outcome to be that, for a reason that has each of the texts in it.
func rejected(t *testing.T, o component.Outcome, because ...string) {
	t.Helper()
	if o.Verdict != component.Rejected {
		t.Errorf("it is %v, not rejected, because: %v", o.Verdict, o.Reason)
		return
	}
	for _, text := range because {
		if !strings.Contains(strings.ToLower(o.Reason.Error()), strings.ToLower(text)) {
			t.Errorf("rejected because: %v; the reason does not have %q", o.Reason, text)
		}
	}
}

// keys are the values of k that are in the table, in their order.
func (tb *table) keys() []int {
	tb.t.Helper()
	var found []int
	for _, r := range tb.h.Read(tb.t, tb.name, []string{"k"}) {
		k, err := strconv.Atoi(Text(rows.Column{Kind: rows.Int}, r[0]))
		if err != nil {
			tb.t.Fatal(err)
		}
		found = append(found, k)
	}
	slices.Sort(found)
	return found
}

// holds wants the keys from (inclusive) to (exclusive) to be in the table, each once, and nothing else.
func (tb *table) holds(from, to int, but ...int) {
	tb.t.Helper()
	var want []int
	for k := from; k < to; k++ {
		if !slices.Contains(but, k) {
			want = append(want, k)
		}
	}
	if got := tb.keys(); !slices.Equal(got, want) {
		tb.t.Errorf("the table has %s, not %s", brief(got), brief(want))
	}
}

func brief(keys []int) string {
	if len(keys) > 20 {
		return fmt.Sprintf("%d keys from %d to %d", len(keys), keys[0], keys[len(keys)-1])
	}
	return fmt.Sprint(keys)
}

// cells are the texts of one column, by the key k.
func (tb *table) cells(c rows.Column) map[string]string {
	tb.t.Helper()
	found := map[string]string{}
	for _, r := range tb.h.Read(tb.t, tb.name, []string{"k", c.Name}) {
		found[Text(rows.Column{Kind: rows.Int}, r[0])] = Text(c, r[1])
	}
	return found
}
