package soak

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// step is one thing that a run can do, and how often.
type step struct {
	name  string
	often int
	do    func(*world)
}

func steps() []step {
	return []step{
		{"put", 22, (*world).put},
		{"claim", 22, (*world).claim},
		{"settle", 20, (*world).settle},
		{"commit", 6, (*world).commit},
		{"extend", 4, (*world).extend},
		{"close an owner", 3, (*world).closeOwner},
		{"time", 10, (*world).passTime},
		{"clock", 2, (*world).stepClock},
		{"purge", 1, (*world).purge},
		{"replay", 3, (*world).replay},
		{"notes", 2, (*world).setNotes},
		{"alter", 2, (*world).alter},
		{"define", 2, (*world).define},
		{"seek", 6, (*world).seek},
		{"snapshot", 4, (*world).takeSnapshot},
		{"delete a snapshot", 1, (*world).deleteSnapshot},
	}
}

// plain, subscribers and the topic are all the names there are.
var (
	plain       = []string{"a", "b", "c"}
	subscribers = []string{"t1", "t2"}
)

const topicName = "t"

// definition draws one.
func (w *world) definition(n string) (d queue.Definition, filter int) {
	r := w.random
	d.MaxAttempts = []int{0, 0, 1, 2, 3}[r.IntN(5)]
	d.Lease = []time.Duration{0, 5 * time.Second, 20 * time.Second}[r.IntN(3)]
	d.DedupWindow = []time.Duration{0, 3 * time.Second, 20 * time.Second}[r.IntN(3)]
	if r.IntN(4) == 0 {
		d.Retention = time.Duration(2+r.IntN(30)) * time.Second
	}
	if r.IntN(5) == 0 {
		d.Delay = time.Duration(1+r.IntN(4)) * time.Second
	}
	if r.IntN(4) == 0 {
		d.MaxMessages = int64(3 + r.IntN(12))
	}
	if r.IntN(6) == 0 {
		d.MaxBytes = int64(3000 + r.IntN(20_000))
	}
	if r.IntN(3) == 0 {
		d.History = time.Duration(2+r.IntN(40)) * time.Second
	}
	d.ExactlyOnce = r.IntN(4) == 0
	d.Unordered = r.IntN(4) == 0
	if r.IntN(3) == 0 {
		d.DeadLetter = "graveyard"
	}
	if n == "c" || n == "t2" {
		d.Columns = table()
	}
	if strings.HasPrefix(n, "t") && w.m.topic(name(topicName)) != nil {
		d.Topic = topicName
		if filter = r.IntN(lasting); filter > 0 {
			d.Filter = w.choices[filter].text
		}
	}
	return d, filter
}

// define makes what is missing, or deletes something.
func (w *world) define() {
	ctx := context.Background()
	t := name(topicName)
	if w.m.topic(t) == nil {
		w.say("create topic %s", topicName)
		w.do(true, func() error {
			w.m.topics = append(w.m.topics, &refTopic{name: t})
			w.m.wrote()
			return nil
		}, func() error { _, err := w.s.CreateTopic(ctx, t, nil); return err })
		return
	}
	for _, n := range append(plain, subscribers...) {
		if w.m.queue(name(n)) == nil {
			w.create(n)
			return
		}
	}
	if w.random.IntN(8) == 0 {
		w.say("delete topic %s", topicName)
		w.do(true, func() error { w.m.dropTopic(t); return nil }, func() error { return w.s.DeleteTopic(ctx, t) })
		return
	}
	if w.random.IntN(2) == 0 {
		q := w.anyQueue()
		w.say("delete %s", q.name.Short())
		w.do(true, func() error { w.m.drop(q.name); return nil }, func() error { return w.s.DeleteQueue(ctx, q.name) })
	}
}

func (w *world) create(n string) {
	d, filter := w.definition(n)
	w.say("create %s %s", n, describe(d))
	w.do(true, func() error { w.m.create(name(n), d, filter); return nil }, func() error {
		_, err := w.s.CreateQueue(context.Background(), name(n), d)
		return err
	})
}

func describe(d queue.Definition) string {
	return fmt.Sprintf("attempts %d, lease %v, dedup %v, retention %v, delay %v, at most %d messages, %d bytes, "+
		"unordered %t, columns %t, topic %q, filter %q, dead letters to %q, history %v, exactly once %t",
		d.MaxAttempts, d.Lease, d.DedupWindow, d.Retention, d.Delay, d.MaxMessages, d.MaxBytes, d.Unordered,
		d.Columns != nil, d.Topic, d.Filter, d.DeadLetter, d.History, d.ExactlyOnce)
}

func (w *world) alter() {
	q := w.anyQueue()
	d, _ := w.definition(q.name.Name)
	reordered := w.random.IntN(5) == 0
	if !slices.Contains(append(plain, subscribers...), q.name.Name) { // dead letters take what time they find
		d = queue.Definition{MaxAttempts: d.MaxAttempts, Lease: d.Lease, History: d.History, ExactlyOnce: d.ExactlyOnce}
	}
	// ids that end out of their order are forgotten, and stop to count, at some later time
	d.DedupWindow = q.def.DedupWindow
	d.Columns, d.Topic, d.Filter, d.Unordered = q.def.Columns, q.def.Topic, q.def.Filter, q.def.Unordered != reordered
	w.say("alter %s: %s", q.name.Short(), describe(d))
	w.do(true, func() error { return w.m.redefine(w.m.queue(q.name), d) }, func() error {
		return w.s.AlterQueue(context.Background(), q.name, d)
	})
}

func (w *world) anyQueue() *refQueue { return w.m.queues[w.random.IntN(len(w.m.queues))] }

// draft makes a message.
func (w *world) draft() draft {
	r := w.random
	w.drafts++
	d := draft{n: int64(r.IntN(4)), s: []string{"a", "b", "c", ""}[r.IntN(4)],
		key: []string{"", "", "", "k1", "k2"}[r.IntN(5)]}
	d.id[6], d.id[8] = 0x70, 0x80
	binary.BigEndian.PutUint32(d.id[:], 0x01900000)
	binary.BigEndian.PutUint32(d.id[12:], uint32(w.drafts))
	size := r.IntN(120)
	if r.IntN(3) == 0 { // segments are small, and are to be filled and given up
		size = r.IntN(5000)
	}
	text := fmt.Sprintf("%06d", w.drafts)
	d.body = fmt.Sprintf(`{"n":%d,"s":"%s","text":"%s"}`, d.n, d.s, strings.Repeat(text, 1+size/len(text)))
	if r.IntN(5) == 0 {
		d.dedup = fmt.Sprint("d", r.IntN(12))
	}
	if r.IntN(8) == 0 {
		s := r.IntN(len(w.sources))
		d.source = fmt.Sprint("source", s)
		if r.IntN(3) > 0 {
			w.sources[s]++
			d.offset = w.sources[s]
		} else { // read again
			d.offset = w.sources[s] - min(w.sources[s], uint64(r.IntN(6)))
		}
	}
	now := max(w.m.now, w.clock().UnixMicro())
	if r.IntN(8) == 0 {
		d.wake = now + int64(r.IntN(8)-1)*1_000_000
	}
	if r.IntN(8) == 0 {
		d.expire = now + int64(r.IntN(20)-1)*1_000_000 + 500_000
	}
	return d
}

// delivery draws one for a queue or the topic. Of one source, what lies further ahead comes later in it.
func (w *world) delivery() delivery {
	names := append(append([]string{topicName}, plain...), subscribers...)
	dv := delivery{to: name(names[w.random.IntN(len(names))])}
	ahead := map[string]uint64{}
	for range 1 + w.random.IntN(3) {
		d := w.draft()
		if d.source != "" && d.offset <= ahead[d.source] {
			d.source = ""
		}
		ahead[d.source] = d.offset
		dv.drafts = append(dv.drafts, d)
	}
	return dv
}

func (dv *delivery) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", dv.to.Short())
	for _, d := range dv.drafts {
		fmt.Fprintf(&b, " %s(n %d, s %q, %d bytes", short(d.id.String()), d.n, d.s, len(d.body))
		for _, x := range []struct{ what, value string }{{"key", d.key}, {"dedup", d.dedup}} {
			if x.value != "" {
				fmt.Fprintf(&b, ", %s %s", x.what, x.value)
			}
		}
		if d.source != "" {
			fmt.Fprintf(&b, ", from %s at %d", d.source, d.offset)
		}
		for _, x := range []struct {
			what string
			at   int64
		}{{"sleeps", d.wake}, {"expires", d.expire}} {
			if x.at != 0 {
				fmt.Fprintf(&b, ", %s until %s", x.what, timeOf(x.at).Format("04:05.0"))
			}
		}
		b.WriteString(")")
	}
	return b.String()
}

func (dv *delivery) messages() (ms []message.Message) {
	for i := range dv.drafts {
		ms = append(ms, dv.drafts[i].message())
	}
	return ms
}

func (w *world) put() {
	dv := w.delivery()
	// Put goes to queues only, Publish to topics first.
	only := dv.to.Name != topicName && w.random.IntN(2) == 0
	w.say("put %s", &dv)
	w.do(true, func() error { return w.m.deliver([]delivery{dv}, only, w.limits, w.choices) }, func() error {
		put := w.s.Publish
		if only {
			put = w.s.Put
		}
		_, err := put(context.Background(), dv.to, dv.messages())
		return err
	})
}
