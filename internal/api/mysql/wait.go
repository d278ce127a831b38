package mysql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Timeouts of queue_wait.
const (
	defaultTimeout = 60 * time.Second
	maxTimeout     = 365 * 24 * time.Hour
)

// lostRow is the warning about a row that was no longer ours when it was to be ended or given back.
const lostRow = "the row was no longer owned: its lease had ended, or its table was emptied, dropped or sought"

// argument is one argument of queue_wait: a text, or null.
type argument struct {
	text string
	null bool
}

// queueWait is queue_wait(): it returns the place of the table that yielded a row, from 1; 0 when none came in time; ok
// is false (NULL) when an argument cannot be understood, with a warning that says which and why.
//
// With one argument the time-out is a minute; with more the last one is the time-out, in seconds. The row that was
// owned is ended first.
func (s *session) queueWait(ctx context.Context, args []argument) (place int64, ok bool, err error) {
	s.door.counts.waits.Add(1)
	if len(args) == 0 {
		return 0, false, sqlError(erWrongParamCount, "42000", "Incorrect parameter count in the call to native "+
			"function 'queue_wait'")
	}
	timeout := defaultTimeout
	tables := args
	if last := len(args) - 1; last > 0 {
		tables, timeout = args[:last], seconds(args[last])
	}
	wishes, err := s.wishes(ctx, tables)
	if err != nil {
		if err := s.complain(err); err != nil {
			return 0, false, err
		}
		lost, err := s.seat.end(ctx)
		return 0, false, s.told(lost, err)
	}
	may := func() error {
		for _, w := range wishes {
			if err := s.may(access.Take, w.queue, "SELECT"); err != nil {
				return err
			}
		}
		return nil
	}
	if err := may(); err != nil {
		return 0, false, err
	}
	s.border.read()
	waits := s.door.traffic.of.Waiting(door.ForMessages)
	if waits != nil {
		waits.Inc()
	}
	n, lost, err := s.seat.wait(ctx, wishes, timeout, s.waiting, may)
	if waits != nil {
		waits.Dec()
	}
	if err = s.told(lost, err); err != nil {
		// dropped or altered under the wait
		if errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrCondition) {
			s.warn(erNoSuchTable, err.Error())
			return 0, false, nil
		}
		return 0, false, fromStoreOf(err, wishes[0].queue)
	}
	s.waited(wishes, n, s.seat.waited)
	return int64(n), true, nil
}

// complaint says what cannot be understood of a function's arguments: a warning says it, and the function is NULL.
type complaint string

func (c complaint) Error() string { return string(c) }

// complain makes a warning of a complaint. Any other error is left, as clients know it.
func (s *session) complain(err error) error {
	var c complaint
	if !errors.As(err, &c) {
		return fromStore(err, "")
	}
	s.warn(erWrongArguments, string(c))
	return nil
}

// wishes reads the tables of a wait. A complaint says which one cannot be understood and why.
func (s *session) wishes(ctx context.Context, args []argument) ([]wish, error) {
	wishes := make([]wish, 0, len(args))
	for i, a := range args {
		if a.null {
			return nil, complaint(fmt.Sprintf("queue_wait: argument %d is NULL: it has to be 'table' or "+
				"'table:condition'", i+1))
		}
		w, err := s.wish(ctx, a.text)
		if err != nil {
			var c complaint
			if errors.As(err, &c) {
				err = complaint(fmt.Sprintf("queue_wait: argument %d: %s", i+1, c))
			}
			return nil, err
		}
		wishes = append(wishes, w)
	}
	return wishes, nil
}

// wish reads 'table' or 'table:condition', with a database before the table or without. What a connection asked for
// last is remembered: it will ask for it again.
func (s *session) wish(ctx context.Context, text string) (wish, error) {
	table, where, conditional := strings.Cut(text, ":")
	n, version, err := s.tableName(ctx, strings.TrimSpace(table))
	if err != nil {
		return wish{}, err
	}
	w := wish{queue: n}
	if !conditional {
		return w, nil
	}
	if w.where, err = s.door.conditions.get(n, version, where,
		func() (*condition.Expr, error) { return s.door.store.Parse(ctx, n, where) }); err != nil {
		var c *condition.Error
		if errors.As(err, &c) {
			return wish{}, complaint(fmt.Sprintf("condition of '%s': at character %d: %v", table, c.Column, c))
		}
		if errors.Is(err, queue.ErrCondition) {
			return wish{}, complaint(fmt.Sprintf("condition of '%s': %v", table, err))
		}
		return wish{}, err
	}
	return w, nil
}

// tableName is the queue that a client means by "table" or "database.table", and the version of its definition. A
// complaint says why it is none.
func (s *session) tableName(ctx context.Context, text string) (queue.Name, uint64, error) {
	db := s.GetCurrentDatabase()
	if d, t, ok := strings.Cut(text, "."); ok && s.door.hasDatabase(d) {
		db, text = d, t
	}
	if db == "" {
		return queue.Name{}, 0, complaint("no database selected (say database.table)")
	}
	if text == "" {
		return queue.Name{}, 0, complaint("the table's name is missing")
	}
	n, _, version, err := s.door.find(ctx, queue.Name{Namespace: db, Name: text})
	if failed := absent(err); failed != nil {
		return n, 0, failed
	}
	if err != nil || !s.door.users.Visible(s.user, s.door.store.Resolve(n)) {
		return n, 0, complaint(fmt.Sprintf("table '%s' does not exist", n.Name))
	}
	return n, version, nil
}

// told turns a lost row into a warning.
func (s *session) told(lost bool, err error) error {
	if lost {
		s.warn(erLockWaitTimeout, lostRow)
	}
	return err
}

// seconds reads a time-out as MySQL coerces it: 'abc' and NULL are 0.
func seconds(a argument) time.Duration {
	n := wholeNumber(a)
	switch {
	case n <= 0:
		return 0
	case n > int64(maxTimeout/time.Second):
		return maxTimeout
	}
	return time.Duration(n) * time.Second
}

// wholeNumber is the integer that MySQL makes of a text: the number it begins with, cut; 0 when there is none.
func wholeNumber(a argument) int64 {
	if a.null {
		return 0
	}
	t := strings.TrimLeft(a.text, " \t\r\n")
	end := 0
	if end < len(t) && (t[end] == '-' || t[end] == '+') {
		end++
	}
	for end < len(t) && t[end] >= '0' && t[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(t[:end], 10, 64)
	if err != nil && strings.HasPrefix(t, "-") && end > 1 {
		return math.MinInt64
	}
	if err != nil && end > 1 {
		return math.MaxInt64
	}
	return n
}

// queueEnd is queue_end(): the owned row is gone for good, durably.
func (s *session) queueEnd(ctx context.Context) (int64, error) {
	s.door.counts.ends.Add(1)
	if _, h := s.seat.now(); h != nil {
		s.border.changed()
	}
	lost, err := s.seat.end(ctx)
	if err = s.told(lost, err); err != nil {
		return 0, fromStore(err, "")
	}
	return 1, nil
}

// queueAbort is queue_abort(): the owned row goes back to its old place.
func (s *session) queueAbort(ctx context.Context) (int64, error) {
	s.door.counts.aborts.Add(1)
	s.ownedGoesBack(func(t *tableCounts) *atomic.Int64 { return &t.aborted })
	lost, err := s.seat.abort(ctx)
	if errors.Is(err, errNotOwner) {
		return 0, sqlError(erWrongArguments, "HY000", "queue_abort: %v", err)
	}
	if err = s.told(lost, err); err != nil {
		return 0, fromStore(err, "")
	}
	return 1, nil
}

// queueRowID is queue_rowid(): the owned row's id; ok is false (NULL) when the last wait brought none.
func (s *session) queueRowID() (id int64, ok bool, err error) {
	s.door.counts.rowids.Add(1)
	seq, ok, err := s.seat.rowid()
	if err != nil {
		return 0, false, sqlError(erWrongArguments, "HY000", "queue_rowid: %v", err)
	}
	return int64(seq), ok, nil
}
