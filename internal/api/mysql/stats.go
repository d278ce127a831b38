package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// queueCompact is queue_compact(): there is nothing to do, the journal is cleaned beside the work. ok is false (NULL)
// for an unknown table.
func (s *session) queueCompact(ctx context.Context, table argument) (n int64, ok bool, err error) {
	_, ok, err = s.statsOf(ctx, table)
	return 1, ok, err
}

// queueStats is queue_stats(): a line for each figure. ok is false (NULL) for an unknown table.
func (s *session) queueStats(ctx context.Context, table argument) (text string, ok bool, err error) {
	st, ok, err := s.statsOf(ctx, table)
	if !ok || err != nil {
		return "", false, err
	}
	var b strings.Builder
	c := s.door.counts.of(st.Name)
	for _, l := range append([]statLine{ // Q4M's, in its order
		{"rows_written", int64(st.TotalPut)},
		{"rows_removed", removed(st)},
		{"wait_immediate", c.immediate.Load()},
		{"wait_delayed", c.delayed.Load()},
		{"wait_timeout", c.timeout.Load()},
		{"restored_by_abort", c.aborted.Load()},
		{"restored_by_close", c.closed.Load()},
		{"bytes_total", st.Bytes},
		{"bytes_removed", 0}, // the journal is cleaned beside the work
	}, statLines(st)...) {
		fmt.Fprintf(&b, "%s: %d\n", l.name, l.value)
	}
	return b.String(), true, nil
}

func (s *session) statsOf(ctx context.Context, table argument) (st queue.Stats, ok bool, err error) {
	if table.null {
		return st, false, nil
	}
	n, _, err := s.tableName(ctx, table.text)
	if err != nil {
		return st, false, s.complain(err)
	}
	if err := s.may(access.Take, n, "SELECT"); err != nil {
		return st, false, err
	}
	if st, err = s.door.store.Stats(ctx, n); err != nil {
		if failed := absent(err); failed != nil {
			return st, false, failed
		}
		s.warn(erNoSuchTable, err.Error())
		return st, false, nil
	}
	return st, true, nil
}

// removed is how many rows a table has no more.
func removed(st queue.Stats) int64 {
	return int64(st.TotalDone + st.TotalDead + st.TotalExpired + st.TotalPurged)
}

// statLine is a figure of a table.
type statLine struct {
	name  string
	value int64
}

// statLines are the figures of a table, the live ones first.
func statLines(st queue.Stats) []statLine {
	return []statLine{
		{"rows_waiting", st.Ready},
		{"rows_owned", st.Claimed},
		{"rows_delayed", st.Delayed},
		{"rows_behind_key", st.Behind},
		{"bytes", st.Bytes},
		{"waiters", int64(st.Waiters)},
		{"next_rowid", int64(st.NextSequence)},
		{"total_inserted", int64(st.TotalPut)},
		{"total_owned", int64(st.TotalClaims)},
		{"total_ended", int64(st.TotalDone)},
		{"total_dead", int64(st.TotalDead)},
		{"total_expired", int64(st.TotalExpired)},
		{"total_removed", int64(st.TotalPurged)},
		{"total_duplicate", int64(st.TotalDuplicate)},
		{"total_examined", int64(st.TotalExamined)},
	}
}
