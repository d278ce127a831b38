package queue

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Check says what is wrong with a definition for the queue of that name. The error is ErrDefinition.
func (d *Definition) Check(n Name) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: queue %s: %s", ErrDefinition, n.Short(), fmt.Sprintf(format, args...))
	}
	for _, x := range []struct {
		name string
		d    time.Duration
	}{{"lease", d.Lease}, {"retention", d.Retention}, {"delay", d.Delay}, {"dedup_window", d.DedupWindow},
		{"history", d.History}} {
		if x.d < 0 {
			return bad("%s is %v: it cannot be negative", x.name, x.d)
		}
	}
	if d.Lease > MaxLease {
		return bad("lease is %v: the longest is %v", d.Lease, MaxLease)
	}
	if d.MaxAttempts < 0 || d.MaxMessages < 0 || d.MaxBytes < 0 {
		return bad("max_attempts, max_messages and max_bytes cannot be negative")
	}
	if d.MaxAttempts > math.MaxInt32 {
		return bad("max_attempts is %d: the most is %d (0 is no bound)", d.MaxAttempts, math.MaxInt32)
	}
	if d.DeadLetter != "" {
		if _, err := ParseName(d.DeadLetter); err != nil {
			return bad("dead_letter: %v", err)
		}
		if d.deadLetter(n) == n {
			return bad("it cannot be its own dead-letter queue")
		}
	}
	if d.Topic != "" {
		if _, err := ParseName(d.Topic); err != nil {
			return bad("topic: %v", err)
		}
	}
	if d.Filter != "" {
		if d.Topic == "" {
			return bad("a filter needs a topic to subscribe to")
		}
		if _, err := condition.Parse(d.Filter); err != nil {
			return fmt.Errorf("%w: queue %s: filter: %w", ErrDefinition, n.Short(), err)
		}
	}
	return nil
}

// deadLetter is the name of the queue for n's dead letters.
func (d *Definition) deadLetter(n Name) Name {
	dead, err := ParseName(d.DeadLetter)
	if d.DeadLetter == "" || err != nil { // an error can not be: definitions are checked
		return Name{n.Namespace, message.Beginning(n.Name, MaxNameBytes-len(DeadEnding)) + DeadEnding}
	}
	if !strings.Contains(d.DeadLetter, "/") {
		dead.Namespace = n.Namespace
	}
	return dead
}

// DeadEnding makes the name of a queue that of its dead-letter queue, unless its definition says another one.
const DeadEnding = "_dead"

// ClaimLease is how long a claim of the queue lasts that does not say.
func (d *Definition) ClaimLease() time.Duration {
	if d.Lease == 0 {
		return DefaultLease
	}
	return d.Lease
}

func (d *Definition) dedupWindow() time.Duration {
	if d.DedupWindow == 0 {
		return DefaultDedupWindow
	}
	return d.DedupWindow
}

// normal writes defaults out, so that a definition that leaves a field empty equals one that says the default.
func (d Definition) normal(n Name) Definition {
	d.Lease = d.ClaimLease()
	d.DedupWindow = d.dedupWindow()
	d.DeadLetter = d.deadLetter(n).String()
	if d.Topic != "" {
		if t, err := ParseName(d.Topic); err == nil {
			if !strings.Contains(d.Topic, "/") {
				t.Namespace = n.Namespace
			}
			d.Topic = t.String()
		}
	}
	if len(d.Labels) == 0 {
		d.Labels = nil
	}
	return d
}

// columnTexts are the columns as SQL.
func columnTexts(cs message.Columns) []string {
	texts := make([]string, len(cs))
	for i, c := range cs {
		texts[i] = c.String()
	}
	return texts
}

// differences compares two normal definitions of one queue.
func differences(have, want Definition) []Difference {
	var ds []Difference
	add := func(field string, a, b any) {
		if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
			ds = append(ds, Difference{field, orNone(x), orNone(y)})
		}
	}
	add("columns", strings.Join(columnTexts(have.Columns), ", "), strings.Join(columnTexts(want.Columns), ", "))
	add("max_attempts", have.MaxAttempts, want.MaxAttempts)
	add("dead_letter", have.DeadLetter, want.DeadLetter)
	add("lease", have.Lease, want.Lease)
	add("retention", have.Retention, want.Retention)
	add("delay", have.Delay, want.Delay)
	add("dedup_window", have.DedupWindow, want.DedupWindow)
	add("history", have.History, want.History)
	add("exactly_once", have.ExactlyOnce, want.ExactlyOnce)
	add("ordering", ordering(have.Unordered), ordering(want.Unordered))
	add("max_messages", have.MaxMessages, want.MaxMessages)
	add("max_bytes", have.MaxBytes, want.MaxBytes)
	add("topic", have.Topic, want.Topic)
	add("filter", have.Filter, want.Filter)
	add("labels", labelText(have.Labels), labelText(want.Labels))
	return ds
}

func ordering(unordered bool) string {
	if unordered {
		return "none"
	}
	return "keys"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func labelText(labels map[string]string) string {
	var b strings.Builder
	for i, k := range slices.Sorted(maps.Keys(labels)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s=%s", k, labels[k])
	}
	return b.String()
}

func appendLabels(b []byte, labels map[string]string) []byte {
	b = putUint(b, uint64(len(labels)))
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		b = putString(b, k)
		b = putString(b, labels[k])
	}
	return b
}

func readLabels(r *reader) map[string]string {
	n := r.count(2)
	if n == 0 {
		return nil
	}
	labels := make(map[string]string, n)
	for range n {
		k := r.string()
		labels[k] = r.string()
	}
	return labels
}

func appendDefinition(b []byte, d *Definition) []byte {
	b = putUint(b, uint64(len(d.Columns)))
	for _, c := range d.Columns {
		b = putString(b, c.String())
	}
	b = putUint(b, uint64(d.MaxAttempts))
	b = putString(b, d.DeadLetter)
	for _, t := range []time.Duration{d.Lease, d.Retention, d.Delay, d.DedupWindow, d.History} {
		b = putInt(b, int64(t))
	}
	b = putBool(b, d.Unordered)
	b = putBool(b, d.ExactlyOnce)
	b = putInt(b, d.MaxMessages)
	b = putInt(b, d.MaxBytes)
	b = putString(b, d.Topic)
	b = putString(b, d.Filter)
	return appendLabels(b, d.Labels)
}

func readDefinition(r *reader) (d Definition) {
	if n := r.count(1); n > 0 {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = r.string()
		}
		columns, err := message.ParseColumns(texts)
		if err != nil {
			r.fail(fmt.Errorf("%w: columns: %w", errTruncated, err))
			return d
		}
		d.Columns = columns
	}
	d.MaxAttempts = int(r.uint32())
	d.DeadLetter = r.string()
	for _, t := range []*time.Duration{&d.Lease, &d.Retention, &d.Delay, &d.DedupWindow, &d.History} {
		*t = time.Duration(r.int())
	}
	d.Unordered = r.bool()
	d.ExactlyOnce = r.bool()
	d.MaxMessages = r.int()
	d.MaxBytes = r.int()
	d.Topic = r.string()
	d.Filter = r.string()
	d.Labels = readLabels(r)
	return d
}
