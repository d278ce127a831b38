package queue

import (
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// ViewKind is what is kept for conditions.
type ViewKind string

const (
	ViewIndex     ViewKind = "index"     // an ordered index, whatever the constants
	ViewCondition ViewKind = "condition" // which messages match one condition, that indexes do not serve whole
)

// ViewStats describes an index of a queue or a condition that it remembers, and what they cost. Both are made when a
// claim first asks for them, and forgotten when others were asked for since, by a restart, by a purge and with the
// queue's columns.
type ViewStats struct {
	Kind ViewKind
	// Text names what it serves: of an index its names, those that are compared with = first, and <> behind the one
	// that may lie in a range ("lang =, priority <>"); of a condition its text.
	Text string
	// Complete tells that no ready message is left to look at. An index has to be complete before a claim is answered;
	// a condition is looked for only as far as claims want to know.
	Complete bool
	Upto     uint64 // not Complete: the sequence up to which ready messages were looked at
	Entries  int    // messages that an index holds; that match a condition, as far as was looked
	Bytes    int64  // its memory, about
	Examined uint64 // messages looked at one by one for it
	Claims   uint64 // claims that asked it, with looks at whether anything matches
	Used     time.Time
}

// viewStats describes a queue's views. Indexes that differ only in how they read values say how.
func (q *queueState) viewStats() []ViewStats {
	if len(q.views) == 0 {
		return nil
	}
	out := make([]ViewStats, len(q.views))
	count := map[string]int{}
	for i, v := range q.views {
		out[i] = v.describe()
		if out[i].Kind == ViewIndex {
			count[out[i].Text]++
		}
	}
	for i, v := range q.views {
		if x, ok := v.(*indexed); ok && count[out[i].Text] > 1 {
			out[i].Text = x.text(true)
		}
	}
	return out
}

func (x *indexed) describe() ViewStats {
	st := ViewStats{Kind: ViewIndex, Text: x.text(false), Complete: x.built.done, Entries: x.tree.Len(),
		Bytes: x.tree.Bytes()}
	if !st.Complete {
		st.Upto = x.built.upto
	}
	x.effort.describe(&st)
	return st
}

// text names the index's fields, with how it reads their values if that is wanted.
func (x *indexed) text(views bool) string {
	var b strings.Builder
	add := func(f condition.Field, compared string) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name)
		if views {
			b.WriteString(" " + f.View.String())
		}
		b.WriteString(compared)
	}
	for _, f := range x.equal {
		add(f, " =")
	}
	if x.span != nil {
		add(*x.span, " <>")
	}
	return b.String()
}

func (m *matcher) describe() ViewStats {
	st := ViewStats{Kind: ViewCondition, Text: m.text, Complete: m.tested(), Entries: m.matched.Len(),
		Bytes: m.matched.bytes() + m.waiting.bytes()}
	if !st.Complete {
		st.Upto = m.built.upto
	}
	m.effort.describe(&st)
	return st
}

func (e *effort) describe(st *ViewStats) {
	st.Examined, st.Claims, st.Used = e.examined, e.uses, timeOf(e.last)
}

// bytes is about the memory of the set: of each block its bits, and its place in a tree that is two thirds full.
func (s *sequences) bytes() int64 {
	const block = pageSize/8 + 24
	return int64(s.blocks.Len()) * block
}

// stats describes the queue now.
func (q *queueState) stats() Stats {
	st := Stats{
		Name: q.name, ID: q.id, Definition: q.def, Bytes: q.bytes, Waiters: q.waiting.Len(),
		Ready: int64(q.ready.Len()), Delayed: q.delayed, Claimed: q.claimed,
		TotalPut: q.put, TotalDuplicate: q.duplicate, TotalDone: q.done, TotalDead: q.dead,
		TotalExpired: q.expired, TotalPurged: q.purged, TotalClaims: q.claims, NextSequence: q.next,
		TotalExamined: q.scanned, Views: q.viewStats(),
	}
	st.Behind = int64(q.all.Len()) - st.Ready - st.Delayed - st.Claimed
	st.Past, st.PastBytes, st.PastFrom = int64(q.all.past), q.pastBytes, timeOf(q.oldestPast())
	if e := q.oldestOf(&q.ready); e != none {
		st.Oldest = timeOf(e.at())
	}
	return st
}
