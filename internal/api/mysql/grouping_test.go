package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// manyRows are 10,000 rows: more than any buffer between what reads rows and what groups them.
var manyRows = func() string {
	ten := "(SELECT 1 a" + strings.Repeat(" UNION ALL SELECT 2", 9) + ")"
	return fmt.Sprintf("%s t1, %s t2, %s t3, %s t4", ten, ten, ten, ten)
}()

// TestAStatementThatGroupsEndsWhenItFails: an expression that fails, or whose time is over, ends the statement although
// rows are left to be read.
func TestAStatementThatGroupsEndsWhenItFails(t *testing.T) {
	r := newRig(t, Config{MaxJoinSize: 1 << 60, StatementTimeout: 300 * time.Millisecond}, nil)
	for statement, want := range map[string]int{
		// Grouped by the aggregate itself: go-mysql-server cannot.
		"SELECT bit_xor(@w) FROM " + manyRows + " GROUP BY 1":                     1105,
		"SELECT max(sleep(3600)) FROM " + manyRows + " GROUP BY t1.a":             3024,
		"SELECT count(*) FROM " + manyRows + " GROUP BY t1.a, sleep(3600)":        3024,
		"SELECT (SELECT max(sleep(3600)) FROM " + manyRows + " GROUP BY t1.a)":    3024,
		strings.Replace(endless, "count(*)", "t0.a, count(*)", 1) + " GROUP BY 1": 3024,
	} {
		c := r.connect("")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, err := texts(ctx, c, statement)
		if errorNumber(err) != want {
			t.Errorf("%.60s: %v, want error %d", statement, err, want)
		}
		if ctx.Err() == nil {
			one(t, c, int64(1), "SELECT 1")
		}
		cancel()
	}
	r.until("all bytes are given back", func() bool { return r.door.budget.Used() == 0 })
}

// TestGroupsAreMySQLs: what is one group, in which order they come, and what is made of each.
func TestGroupsAreMySQLs(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE g (i int, s varchar(20) COLLATE utf8mb4_0900_ai_ci, u bigint unsigned) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO g VALUES (3,'b',1),(1,'a',2),(NULL,'A',3),(3,'B',4),(1,NULL,5),(NULL,NULL,6)")
	for statement, want := range map[string][]string{
		"SELECT group_concat(i, s ORDER BY u) FROM g":                                    {"3b,1a,3B"},
		"SELECT group_concat(DISTINCT i, ':', u > 2 ORDER BY i, u SEPARATOR ' ') FROM g": {"1:0 1:1 3:0 3:1"},
		"SELECT group_concat(if(u = 1, '', s) ORDER BY u) FROM g":                        {",a,A,B"},
		"SELECT length(group_concat('')), group_concat(NULL, s) FROM g":                  {"5 NULL"},
		"SELECT group_concat(i ORDER BY u), group_concat(s ORDER BY u) FROM g":           {"3,1,3,1 b,a,A,B"},
		"SELECT hex(group_concat(if(u = 1, x'ff41', NULL), '')) FROM g":                  {"FF41"},
		"SELECT i, count(*), sum(u), group_concat(u) FROM g GROUP BY i": {"3 2 5 1,4",
			"1 2 7 2,5", "NULL 2 9 3,6"},
		"SELECT s, count(*) FROM g GROUP BY s": {"b 2", "a 2",
			"NULL 2"},
		"SELECT max(u), i + 1 AS n FROM g GROUP BY n ORDER BY n DESC": {"4 4", "5 2",
			"6 NULL"},
		"SELECT i, s, count(DISTINCT u) FROM g WHERE u < 4 GROUP BY i, s": {"3 b 1", "1 a 1",
			"NULL A 1"},
		"SELECT i, min(u) FROM g GROUP BY i HAVING avg(u) > 3 ORDER BY 2":               {"1 2", "NULL 3"},
		"SELECT any_value(s), i FROM g GROUP BY i LIMIT 1":                              {"b 3"},
		"SELECT count(*) FROM g WHERE u > 100 GROUP BY i":                               nil,
		"SELECT count(*) FROM g WHERE u > 100":                                          {"0"},
		"SELECT n, count(*) FROM (SELECT count(*) n FROM g GROUP BY s, i) x GROUP BY n": {"2 1", "1 4"},
		"SELECT a.u, (SELECT max(b.u) FROM g b WHERE b.i = a.i GROUP BY b.i) FROM g a": {"1 4", "2 5",
			"3 NULL", "4 4", "5 5", "6 NULL"},
		"SELECT DISTINCT count(*) FROM g GROUP BY i":                                    {"2"},
		"SELECT x.i, count(*) FROM g x JOIN g y ON x.i = y.i GROUP BY x.i ORDER BY x.i": {"1 4", "3 4"},
		"SELECT bit_xor(u) FROM g GROUP BY i":                                           {"5", "7", "5"},
		"SELECT count(*), length(group_concat(repeat('x', 10))) FROM " + manyRows + " GROUP BY t1.a": {"1000 1024",
			"9000 1024"},
	} {
		got, err := texts(t.Context(), c, statement)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", statement, got, err, want)
		}
	}
}

// TestGroupsAreCounted: each takes memory, and each of its aggregates.
func TestGroupsAreCounted(t *testing.T) {
	r := newRig(t, Config{MaxJoinSize: 1 << 60, StatementBytes: 2 << 20}, nil)
	c := r.connect("")
	groups := "WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i+1 FROM n WHERE i < 1000) SELECT max(i)%s FROM n " +
		"GROUP BY i"
	if got, err := texts(t.Context(), c, fmt.Sprintf(groups, "")); len(got) != 1000 || err != nil {
		t.Errorf("%d rows, %v", len(got), err)
	}
	var columns strings.Builder
	for i := range 60 {
		fmt.Fprintf(&columns, ", sum(i+%d)", i)
	}
	if _, err := texts(t.Context(), c, fmt.Sprintf(groups, columns.String())); errorNumber(err) != 3170 {
		t.Errorf("many aggregates: %v", err)
	}
	r.until("all bytes are given back", func() bool { return r.door.budget.Used() == 0 })
}

// texts are the rows of an answer, each with its values in a line.
func texts(ctx context.Context, c *sql.Conn, statement string) ([]string, error) {
	all, err := cellsOf(ctx, c, statement)
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "\t", " ")
	}
	return all, err
}

// cellsOf are the rows of an answer, each with a tab between two values.
func cellsOf(ctx context.Context, c *sql.Conn, statement string) (all []string, err error) {
	rows, err := c.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range into {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		line := make([]string, len(values))
		for i, v := range values {
			if line[i] = v.String; !v.Valid {
				line[i] = "NULL"
			}
		}
		all = append(all, strings.Join(line, "\t"))
	}
	return all, rows.Err()
}
