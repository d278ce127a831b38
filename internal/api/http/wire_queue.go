package http

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Definition is what can be said of a queue; see queue.Definition for the meaning of each field and of its absence.
type Definition struct {
	Columns     []string          `json:"columns,omitempty"` // as in SQL: "enqueued_at int unsigned not null"
	MaxAttempts int               `json:"max_attempts,omitempty"`
	DeadLetter  string            `json:"dead_letter,omitempty"`
	Lease       Duration          `json:"lease,omitempty"`
	Retention   Duration          `json:"retention,omitempty"`
	Delay       Duration          `json:"delay,omitempty"`
	DedupWindow Duration          `json:"dedup_window,omitempty"`
	History     Duration          `json:"history,omitempty"`
	ExactlyOnce bool              `json:"exactly_once,omitempty"`
	Unordered   bool              `json:"unordered,omitempty"`
	MaxMessages int64             `json:"max_messages,omitempty"`
	MaxBytes    int64             `json:"max_bytes,omitempty"`
	Topic       string            `json:"topic,omitempty"`
	Filter      string            `json:"filter,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}

// definition makes what a store takes. The error is queue.ErrDefinition.
func (d *Definition) definition() (queue.Definition, error) {
	out := queue.Definition{
		MaxAttempts: d.MaxAttempts, DeadLetter: d.DeadLetter, Lease: time.Duration(d.Lease),
		Retention: time.Duration(d.Retention),
		Delay:     time.Duration(d.Delay), DedupWindow: time.Duration(d.DedupWindow),
		History: time.Duration(d.History), ExactlyOnce: d.ExactlyOnce, Unordered: d.Unordered,
		MaxMessages: d.MaxMessages, MaxBytes: d.MaxBytes, Topic: d.Topic, Filter: d.Filter, Labels: d.Labels,
	}
	if len(d.Columns) > 0 {
		columns, err := message.ParseColumns(d.Columns)
		if err != nil {
			return out, fmt.Errorf("%w: columns: %w", queue.ErrDefinition, err)
		}
		out.Columns = columns
	}
	return out, nil
}

func definition(d queue.Definition) Definition {
	out := Definition{
		MaxAttempts: d.MaxAttempts, DeadLetter: d.DeadLetter, Lease: Duration(d.Lease),
		Retention: Duration(d.Retention),
		Delay:     Duration(d.Delay), DedupWindow: Duration(d.DedupWindow),
		History: Duration(d.History), ExactlyOnce: d.ExactlyOnce, Unordered: d.Unordered,
		MaxMessages: d.MaxMessages, MaxBytes: d.MaxBytes, Topic: d.Topic, Filter: d.Filter, Labels: d.Labels,
	}
	for _, c := range d.Columns {
		out.Columns = append(out.Columns, c.String())
	}
	return out
}

// Rows are the fields that say something, for people: names and values.
func (d *Definition) Rows() (rows [][2]string) {
	add := func(name, value string, said bool) {
		if said {
			rows = append(rows, [2]string{name, value})
		}
	}
	for i, c := range d.Columns {
		add("column "+strconv.Itoa(i+1), c, true)
	}
	number := func(name string, v int64) { add(name, measure.Count(v), v != 0) }
	duration := func(name string, v Duration) { add(name, time.Duration(v).String(), v != 0) }
	number("max attempts", int64(d.MaxAttempts))
	add("dead letter", d.DeadLetter, d.DeadLetter != "")
	duration("lease", d.Lease)
	duration("retention", d.Retention)
	duration("delay", d.Delay)
	duration("dedup window", d.DedupWindow)
	duration("history", d.History)
	add("exactly once", "yes", d.ExactlyOnce)
	add("ordering", "none", d.Unordered)
	number("max messages", d.MaxMessages)
	add("max bytes", measure.Bytes(d.MaxBytes), d.MaxBytes != 0)
	add("topic", d.Topic, d.Topic != "")
	add("filter", d.Filter, d.Filter != "")
	return rows
}

// Stats describes a queue now.
type Stats struct {
	Name       string     `json:"name"` // namespace/name
	Definition Definition `json:"definition"`
	Messages   int64      `json:"messages"` // ready, delayed, claimed and waiting
	Ready      int64      `json:"ready"`
	Delayed    int64      `json:"delayed"`
	Claimed    int64      `json:"claimed"`
	Waiting    int64      `json:"waiting"` // behind another of their key
	Bytes      int64      `json:"bytes"`
	Waiters    int        `json:"waiters"` // claims that wait for a message
	Oldest     *time.Time `json:"oldest,omitempty"`
	Past       int64      `json:"past"`                // settled messages that a seek can bring back
	PastBytes  int64      `json:"past_bytes"`          // theirs, which count against the limits of the store
	PastFrom   *time.Time `json:"past_from,omitempty"` // when the oldest of them was put
	Totals     Totals     `json:"totals"`
	// messages looked at one by one for conditions, since the server started
	Examined uint64 `json:"examined"`
	Views    []View `json:"views,omitempty"` // what is kept for conditions, most recently used first
}

// View is an index of a queue, or a condition that it remembers, and what it costs; see queue.ViewStats.
type View struct {
	Kind     string     `json:"kind"` // index or condition
	Text     string     `json:"text"` // of an index, its names: "lang =, priority <>"
	Complete bool       `json:"complete"`
	Upto     uint64     `json:"upto,omitempty"` // when it is not complete: up to which sequence messages were looked at
	Entries  int        `json:"entries"`
	Bytes    int64      `json:"bytes"`
	Examined uint64     `json:"examined"`
	Claims   uint64     `json:"claims"`
	Used     *time.Time `json:"used,omitempty"`
}

// Totals count since the queue was made.
type Totals struct {
	Put       uint64 `json:"put"`
	Duplicate uint64 `json:"duplicate"`
	Claims    uint64 `json:"claims"`
	Done      uint64 `json:"done"`
	Dead      uint64 `json:"dead"`
	Expired   uint64 `json:"expired"`
	Purged    uint64 `json:"purged"`
}

func stats(s queue.Stats) Stats {
	return Stats{
		Name: s.Name.String(), Definition: definition(s.Definition), Messages: s.Messages(),
		Ready: s.Ready, Delayed: s.Delayed, Claimed: s.Claimed, Waiting: s.Behind, Bytes: s.Bytes, Waiters: s.Waiters,
		Oldest: timeOrNil(s.Oldest), Past: s.Past, PastBytes: s.PastBytes, PastFrom: timeOrNil(s.PastFrom),
		Totals: Totals{
			Put: s.TotalPut, Duplicate: s.TotalDuplicate, Claims: s.TotalClaims, Done: s.TotalDone, Dead: s.TotalDead,
			Expired: s.TotalExpired, Purged: s.TotalPurged,
		},
		Examined: s.TotalExamined, Views: views(s.Views),
	}
}

func views(vs []queue.ViewStats) []View {
	out := make([]View, len(vs))
	for i, v := range vs {
		out[i] = View{Kind: string(v.Kind), Text: v.Text, Complete: v.Complete, Upto: v.Upto, Entries: v.Entries,
			Bytes:    v.Bytes,
			Examined: v.Examined, Claims: v.Claims, Used: timeOrNil(v.Used)}
	}
	return out
}

// TopicStats describes a topic now.
type TopicStats struct {
	Name          string            `json:"name"`
	Labels        map[string]string `json:"labels,omitempty"`
	Subscriptions []string          `json:"subscriptions"`
	Published     uint64            `json:"published"`
	Dropped       uint64            `json:"dropped"` // published while there was no subscription
}

// topicStats shows those subscriptions that may be known of.
func topicStats(s queue.TopicStats, known func(queue.Name) bool) TopicStats {
	out := TopicStats{Name: s.Name.String(), Labels: s.Labels, Subscriptions: []string{}, Published: s.TotalPublish,
		Dropped: s.TotalDropped}
	for _, n := range s.Subscriptions {
		if known(n) {
			out.Subscriptions = append(out.Subscriptions, n.String())
		}
	}
	return out
}

type queueList struct {
	Queues []Stats `json:"queues"`
	Next   string  `json:"next,omitempty"` // the after= of the next page
}

type topicList struct {
	Topics []TopicStats `json:"topics"`
	Next   string       `json:"next,omitempty"`
}

type topicDefinition struct {
	Labels map[string]string `json:"labels,omitempty"`
}
