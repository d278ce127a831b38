package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// engineStatus is SHOW ENGINE … STATUS: all tables that the user may take from, summed, and the journal under them.
func (l *long) engineStatus(ctx context.Context, s *session, engine string) error {
	if !strings.EqualFold(engine, engineName) {
		return sqlError(erUnknownEngine, "42000", "Unknown storage engine '%s': there is %s", engine, engineName)
	}
	queues, err := l.door.store.Queues(ctx)
	if err != nil {
		return fromStore(err, "")
	}
	var sum queue.Stats
	tables := 0
	for _, n := range queues {
		if !l.door.users.Allowed(s.user, access.Take, n) {
			continue
		}
		st, err := l.door.store.Stats(ctx, n)
		if failed := absent(err); failed != nil {
			return failed
		}
		if err != nil {
			continue // it was dropped meanwhile
		}
		tables++
		sum.Ready, sum.Claimed, sum.Delayed, sum.Behind = sum.Ready+st.Ready, sum.Claimed+st.Claimed,
			sum.Delayed+st.Delayed, sum.Behind+st.Behind
		sum.Bytes, sum.Waiters = sum.Bytes+st.Bytes, sum.Waiters+st.Waiters
		sum.TotalPut, sum.TotalClaims, sum.TotalDone = sum.TotalPut+st.TotalPut, sum.TotalClaims+st.TotalClaims,
			sum.TotalDone+st.TotalDone
		sum.TotalDead, sum.TotalExpired, sum.TotalPurged = sum.TotalDead+st.TotalDead, sum.TotalExpired+st.TotalExpired,
			sum.TotalPurged+st.TotalPurged
		sum.TotalDuplicate, sum.TotalExamined = sum.TotalDuplicate+st.TotalDuplicate, sum.TotalExamined+st.TotalExamined
	}
	j := l.door.store.JournalStats()
	var b strings.Builder
	l.door.counts.q4m(&b, sum, j)
	fmt.Fprintf(&b, "\nconnections: %d\ntables: %d\n", l.door.limit.open.Load(), tables)
	for _, line := range statLines(sum) {
		if line.name != "next_rowid" {
			fmt.Fprintf(&b, "%s: %d\n", line.name, line.value)
		}
	}
	fmt.Fprintf(&b, "journal_groups: %d\njournal_syncs: %d\njournal_bytes_written: %d\njournal_bytes_live: "+
		"%d\njournal_bytes_on_disk: %d\njournal_bytes_copied: %d\n",
		j.Groups, j.Syncs, j.Bytes, j.LiveBytes, j.TotalBytes, j.CopiedBytes)
	return l.answerRows([]string{"Type", "Name", "Status"}, []string{engineName, "", b.String()})
}

// q4m writes what Q4M shows and there is here, in its form.
func (c *counts) q4m(b *strings.Builder, sum queue.Stats, j journal.Stats) {
	for _, part := range []struct {
		title string
		lines []statLine
	}{
		{"I/O calls", []statLine{{"sys_write", int64(j.Groups)}, {"sys_sync", int64(j.Syncs)}}},
		{"Conditional subscription", []statLine{{"evaluation", int64(sum.TotalExamined)}}},
		{"High-level stats", []statLine{
			{"rows_written", int64(sum.TotalPut)}, {"rows_removed", removed(sum)}, {"queue_wait", c.waits.Load()},
			{"queue_end", c.ends.Load()},
			{"queue_abort", c.aborts.Load()}, {"queue_rowid", c.rowids.Load()}, {"queue_set_srcid", c.sources.Load()},
		}},
	} {
		fmt.Fprintf(b, "\n%s\n------------------------------------\n", part.title)
		for _, line := range part.lines {
			fmt.Fprintf(b, "%-16s %20d\n", line.name, line.value)
		}
	}
}
