package main

import (
	"errors"
	"fmt"
	"strings"
)

// tables checks how they are made, filled and read by everyone.
func tables(c *checks, l *link) {
	c.check("create-table", func() error {
		return l.does("DROP TABLE IF EXISTS q4m_test", "CREATE TABLE `q4m_test` (\n"+
			"  `id` varchar(255) COLLATE utf8mb4_bin NOT NULL,\n"+
			"  `payload` text COLLATE utf8mb4_bin NOT NULL,\n"+
			"  `enqueued_at` int(10) unsigned NOT NULL\n"+
			") ENGINE=QUEUE;")
	})
	c.check("show-table", func() error {
		rows, err := l.rows("SHOW CREATE TABLE q4m_test")
		if err == nil && !strings.Contains(fmt.Sprint(rows), "ENGINE=QUEUE") {
			err = errors.New("SHOW CREATE TABLE names another engine")
		}
		return errors.Join(err, l.gives([][]any{{"q4m_test"}}, "SHOW TABLES LIKE 'q4m_test'"))
	})
	c.check("insert-text", func() error {
		return l.changes(1, "INSERT INTO q4m_test VALUES ('a', 'first', 10)")
	})
	c.check("insert-prepared", func() error {
		statement, err := l.conn.PrepareContext(l.ctx, "INSERT INTO q4m_test VALUES (?, ?, ?)")
		if err != nil {
			return err
		}
		for i, id := range []string{"b", "c"} {
			r, err := statement.ExecContext(l.ctx, id, text, 20+i)
			if err != nil {
				return err
			}
			if n, err := r.RowsAffected(); n != 1 || err != nil {
				return fmt.Errorf("changed %d rows: %w", n, err)
			}
		}
		return statement.Close()
	})
	c.check("insert-multi-row", func() error {
		return l.changes(3, "INSERT INTO q4m_test (enqueued_at, id, payload) VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?)",
			30, "d", "", 31, "e", "x", 32, "f", "y")
	})
	c.check("insert-refused", func() error {
		_, err := l.run("INSERT INTO q4m_test VALUES ('g', 'z', 40), (NULL, 'z', 41)")
		return errors.Join(refused(1048, "23000", err), l.is(int64(6), "SELECT COUNT(*) FROM q4m_test"))
	})
	c.check("select-unowned", func() error {
		return errors.Join(
			l.gives([][]any{
				{"a", "first", int64(10)}, {"b", text, int64(20)}, {"c", text, int64(21)},
				{"d", "", int64(30)}, {"e", "x", int64(31)}, {"f", "y", int64(32)},
			}, "SELECT * FROM q4m_test"),
			l.gives([][]any{{"f"}, {"e"}}, "SELECT id FROM q4m_test WHERE enqueued_at > ? ORDER BY enqueued_at DESC",
				30),
		)
	})
	c.check("error-codes", func() error {
		_, missing := l.rows("SELECT * FROM no_such_table")
		_, missingPrepared := l.prepared("SELECT * FROM no_such_table WHERE id = ?", 1)
		return errors.Join(
			refused(1146, "42S02", missing),
			refused(1146, "42S02", missingPrepared),
			refused(1064, "42000", l.does("SELEKT 1")),
			refused(1050, "42S01", l.does("CREATE TABLE q4m_test (id int) ENGINE=QUEUE")),
		)
	})
	c.check("abort-outside-owner-mode", func() error {
		_, err := l.rows("SELECT queue_abort()")
		return errors.Join(refused(1210, "HY000", err), l.is(int64(1), "SELECT 1"))
	})
}

// session checks what belongs to a connection, and drops the tables.
func session(c *checks, l *link) {
	c.check("set-names", func() error {
		return errors.Join(
			l.does("SET NAMES utf8mb4"),
			l.gives([][]any{{text, "utf8mb4"}}, "SELECT '"+text+"', @@character_set_client"),
		)
	})
	c.check("transactions", func() error {
		if err := l.does("DELETE FROM q4m_test", "SET autocommit=1"); err != nil {
			return err
		}
		kept, err := l.conn.BeginTx(l.ctx, nil)
		if err != nil {
			return err
		}
		_, err = kept.ExecContext(l.ctx, "INSERT INTO q4m_test VALUES ('t', 'kept', 60)")
		if err := errors.Join(err, kept.Commit()); err != nil {
			return err
		}
		tx, err := l.conn.BeginTx(l.ctx, nil)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(l.ctx, "INSERT INTO q4m_test VALUES (?, ?, ?)", "u", "kept", 61)
		if err := errors.Join(err, tx.Rollback()); err != nil {
			return err
		}
		warnings, err := l.rows("SHOW WARNINGS")
		if err != nil || !strings.Contains(fmt.Sprint(warnings), "1196") {
			return fmt.Errorf("the warnings after a rollback are %v: %w", warnings, err)
		}
		return l.gives([][]any{{"t"}, {"u"}}, "SELECT id FROM q4m_test")
	})
	c.check("drop-table", func() error {
		if err := l.does("DROP TABLE q4m_test", "DROP TABLE kinds, letters"); err != nil {
			return err
		}
		_, err := l.rows("SELECT * FROM q4m_test")
		return refused(1146, "42S02", err)
	})
}
