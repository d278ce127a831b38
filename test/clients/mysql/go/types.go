package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

const createKinds = `CREATE TABLE kinds (
	t tinyint NOT NULL, i int, u bigint unsigned, d decimal(20,4), f float, g double,
	at datetime(6), day date, s varchar(255) CHARACTER SET utf8mb4, b blob, n int,
	e enum('small', 'large'), w set('a', 'b', 'c')
) ENGINE=QUEUE`

// types checks that values of every sort come back as they were.
func types(c *checks, l *link) {
	var bytes []byte
	for i := range 256 {
		bytes = append(bytes, byte(i))
	}
	kinds := []any{
		int64(-128), int64(-2147483648), "18446744073709551615", "-1234567890123456.7890", float32(1.5), 0.1,
		time.Date(2026, 11, 22, 3, 4, 5, 678_901_000, time.UTC), time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), text,
		string(bytes), nil, "large", "a,c",
	}
	c.check("types-insert-text", func() error {
		return errors.Join(
			l.does("DROP TABLE IF EXISTS kinds", createKinds),
			l.changes(1, fmt.Sprintf("INSERT INTO kinds VALUES (-128, -2147483648, 18446744073709551615, "+
				"-1234567890123456.7890, 1.5, 0.1, "+
				"'2026-11-22 03:04:05.678901', '2026-11-22', '%s', x'%x', NULL, 'LARGE', 5)", text, bytes)),
			refused(1265, "01000", l.does("INSERT INTO kinds (t, e) VALUES (1, 'huge')")),
		)
	})
	c.check("types-insert-prepared", func() error {
		args := append([]any{}, kinds...)
		args[9] = bytes
		return l.changes(1, "INSERT INTO kinds VALUES ("+strings.Repeat("?, ", len(args)-1)+"?)", args...)
	})
	c.check("types-read-text", func() error { return l.gives([][]any{kinds, kinds}, "SELECT * FROM kinds") })
	c.check("types-read-prepared",
		func() error { return l.givesPrepared([][]any{kinds, kinds}, "SELECT * FROM kinds") })
	c.check("column-types", func() error {
		return errors.Join(
			l.describes("SELECT e, w, COUNT(*), SUM(i), AVG(i), AVG(d), SUM(g) FROM kinds GROUP BY e, w",
				"ENUM", "SET", "BIGINT", "DECIMAL", "DECIMAL", "DECIMAL", "DOUBLE"),
			l.does("DROP TABLE IF EXISTS numbers", "CREATE TABLE numbers (b1 bit(1), b64 bit(64), d decimal(10,2), "+
				"f float, g double, t tinyint unsigned, s smallint unsigned, m mediumint unsigned, i int unsigned, "+
				"l bigint unsigned, y year) ENGINE=QUEUE"),
			l.describes("SELECT * FROM numbers", "BIT", "BIT", "DECIMAL", "FLOAT", "DOUBLE", "UNSIGNED TINYINT",
				"UNSIGNED SMALLINT", "UNSIGNED MEDIUMINT", "UNSIGNED INT", "UNSIGNED BIGINT", "YEAR"),
			l.describes("SELECT MAX(t), MAX(l), SUM(l), MAX(y) FROM numbers",
				"UNSIGNED TINYINT", "UNSIGNED BIGINT", "DECIMAL", "YEAR"),
			l.does("DROP TABLE numbers"),
		)
	})
	c.check("types-own-row", func() error {
		return errors.Join(
			l.is(one, "SELECT queue_wait('kinds', 0)"),
			l.gives([][]any{kinds}, "SELECT * FROM kinds"),
			l.givesPrepared([][]any{kinds}, "SELECT * FROM kinds"),
			l.is(one, "SELECT queue_end()"),
		)
	})
	c.check("huge-row", func() error { // needs more than one packet of 16 MB
		huge := strings.Repeat(string(bytes), 20<<20/len(bytes))
		err := errors.Join(
			l.does("DROP TABLE IF EXISTS huge", "CREATE TABLE huge (b longblob) ENGINE=QUEUE"),
			l.changes(1, "INSERT INTO huge VALUES (?)", []byte(huge)),
			l.is(one, "SELECT queue_wait('huge', 0)"),
		)
		if err != nil {
			return err
		}
		for _, read := range []func(string, ...any) ([][]any, error){l.rows, l.prepared} {
			if rows, err := read("SELECT * FROM huge"); err != nil || len(rows) != 1 || rows[0][0] != huge {
				return fmt.Errorf("%d rows, or another value came back: %w", len(rows), err)
			}
		}
		return errors.Join(l.is(one, "SELECT queue_end()"), l.does("DROP TABLE huge"))
	})
	c.check("long-row", func() error {
		long := strings.Repeat(text, 100_000) // 2.5 MB
		err := errors.Join(
			l.does("DROP TABLE IF EXISTS letters", "CREATE TABLE letters (id int, payload longtext) ENGINE=QUEUE"),
			l.changes(1, "INSERT INTO letters VALUES (1, '"+long+"')"),
			l.changes(1, "INSERT INTO letters VALUES (?, ?)", 2, long),
		)
		if err != nil {
			return err
		}
		for _, read := range []func(string, ...any) ([][]any, error){l.rows, l.prepared} {
			if err := l.is(one, "SELECT queue_wait('letters', 0)"); err != nil {
				return err
			}
			if rows, err := read("SELECT payload FROM letters"); err != nil || len(rows) != 1 || rows[0][0] != long {
				return fmt.Errorf("%d rows, or another payload came back: %w", len(rows), err)
			}
		}
		return l.is(one, "SELECT queue_end()")
	})
}
