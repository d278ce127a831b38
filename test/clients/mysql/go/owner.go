package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	one  = int64(1)
	zero = int64(0)
)

// owning checks how rows are taken, given back and ended.
func owning(c *checks, db *sql.DB, l *link) {
	first := [][]any{{"a", "first", int64(10)}}
	c.check("wait", func() error { return l.is(one, "SELECT queue_wait('q4m_test')") })
	c.check("own-row-text", func() error { return l.gives(first, "select * from q4m_test") })
	c.check("own-row-prepared", func() error { return l.givesPrepared(first, "select * from q4m_test") })
	c.check("rowid", func() error { return l.is(one, "SELECT queue_rowid()") })
	c.check("abort", func() error {
		return errors.Join(
			l.is(one, "SELECT queue_abort()"),
			l.is(one, "SELECT queue_wait('q4m_test', 0)"),
			l.is(one, "SELECT queue_rowid()"),
		)
	})
	c.check("end", func() error {
		return errors.Join(l.is(one, "select queue_end()"), l.is(int64(5), "SELECT COUNT(*) FROM q4m_test"))
	})
	c.check("wait-condition", func() error {
		return errors.Join(
			l.is(one, "SELECT queue_wait('q4m_test:enqueued_at>=31', 5)"),
			l.gives([][]any{{"e", "x", int64(31)}}, "SELECT * FROM q4m_test"),
			l.is(int64(2), "SELECT queue_wait('q4m_test:enqueued_at>99', 'q4m_test:enqueued_at<31', 5)"),
			l.gives([][]any{{"b", text, int64(20)}}, "SELECT * FROM q4m_test"),
			l.is(one, "SELECT queue_end()"),
		)
	})
	c.check("wait-prepared", func() error {
		return errors.Join(
			l.is(one, "SELECT queue_wait(?, ?)", "q4m_test:enqueued_at=32", 5),
			l.givesPrepared([][]any{{"f", "y", int64(32)}}, "SELECT * FROM q4m_test"),
			l.givesPrepared([][]any{{one}}, "SELECT queue_end()"),
		)
	})
	c.check("time-out", func() error {
		return errors.Join(
			l.is(zero, "SELECT queue_wait('q4m_test:enqueued_at>99', 1)"),
			l.gives([][]any{}, "SELECT * FROM q4m_test"),
			l.givesPrepared([][]any{}, "SELECT * FROM q4m_test"),
			l.is(nil, "SELECT queue_rowid()"),
			l.is(one, "SELECT queue_end()"),
		)
	})
	c.check("bad-condition", func() error {
		if err := l.is(nil, "SELECT queue_wait('q4m_test:enqueued_at>>', 1)"); err != nil {
			return err
		}
		rows, err := l.rows("SHOW WARNINGS")
		if err != nil || len(rows) != 1 || fmt.Sprint(rows[0][:2]) != "[Warning 1210]" ||
			!strings.Contains(fmt.Sprint(rows[0][2]), "character") {
			return fmt.Errorf("the warnings are %v: %w", rows, err)
		}
		return l.is(nil, "SELECT queue_wait('no_such_table', 0)")
	})
	c.check("wake-up", func() error {
		got := make(chan error, 1)
		go func() { got <- awaken(db, l) }()
		for waits := false; !waits; { // until the other is seen to wait
			rows, err := l.rows("SHOW PROCESSLIST")
			if err != nil {
				return err
			}
			waits = strings.Contains(fmt.Sprint(rows), "enqueued_at=77")
		}
		_, err := l.run("INSERT INTO q4m_test VALUES ('w', 'wake', 77)")
		return errors.Join(err, <-got)
	})
	c.check("disconnect", func() error {
		other, err := open(overSocket)
		if err != nil {
			return err
		}
		var n int64
		if err := other.QueryRow("SELECT queue_wait('q4m_test:enqueued_at=30', 0)").Scan(&n); err != nil || n != 1 {
			return fmt.Errorf("the other got %d: %w", n, err)
		}
		return errors.Join(
			l.is(zero, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"),
			other.Close(),
			l.is(one, "SELECT queue_wait('q4m_test:enqueued_at=30', 20)"),
			l.is(one, "SELECT queue_end()"),
		)
	})
	c.check("cancel", func() error { return cancelled(db, l) })
	c.check("pool", func() error { return pool(db, l) })
}

// awaken waits on a connection of its own for the row of wake-up.
func awaken(db *sql.DB, l *link) error {
	conn, err := db.Conn(l.ctx)
	if err != nil {
		return err
	}
	waiter := &link{l.ctx, conn}
	return errors.Join(
		waiter.is(one, "SELECT queue_wait('q4m_test:enqueued_at=77', 20)"),
		waiter.is(one, "SELECT queue_end()"),
		conn.Close(),
	)
}

// cancelled gives up a wait, for which the driver hangs up. The row that comes then is not lost to a waiter that has
// gone.
func cancelled(db *sql.DB, l *link) error {
	ctx, cancel := context.WithTimeout(l.ctx, time.Second)
	defer cancel()
	var n int64
	if err := db.QueryRowContext(ctx, "SELECT queue_wait('q4m_test:enqueued_at=78', 20)").Scan(&n); !errors.Is(err,
		context.DeadlineExceeded) {
		return fmt.Errorf("the wait that was given up is %d: %w", n, err)
	}
	return errors.Join(
		l.does("INSERT INTO q4m_test VALUES ('x', 'cancel', 78)"),
		l.is(one, "SELECT queue_wait('q4m_test:enqueued_at=78', 20)"),
		l.is(one, "SELECT queue_end()"),
	)
}

// pool uses a pool of two connections from eight goroutines.
func pool(db *sql.DB, l *link) error {
	db.SetMaxOpenConns(3) // l has one
	results := make(chan error, 8)
	for i := range cap(results) {
		go func() {
			_, err := db.ExecContext(l.ctx, "INSERT INTO q4m_test VALUES (?, ?, ?)", fmt.Sprint("p", i), "pool", 80)
			results <- err
		}()
	}
	var err error
	for range cap(results) {
		err = errors.Join(err, <-results)
	}
	return errors.Join(err, l.is(int64(8), "SELECT COUNT(*) FROM q4m_test WHERE enqueued_at = 80"))
}
