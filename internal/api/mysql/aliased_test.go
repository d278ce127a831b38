package mysql

import (
	"strings"
	"testing"
)

// TestRowsAreDeletedFromATableByAnotherName, as the Go ORM bun has it.
func TestRowsAreDeletedFromATableByAnotherName(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE f (n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO f VALUES (1), (2), (3), (4)")
	for _, statement := range []string{"DELETE FROM f AS j WHERE j.n = 1", "DELETE FROM `f` `j` WHERE (`j`.`n` = 2)",
		"DELETE FROM test.f j WHERE j.n = ?"} {
		var args []any
		if statement[len(statement)-1] == '?' {
			args = []any{3}
		}
		if n := exec(t, c, statement, args...); n != 1 {
			t.Errorf("%s: %d rows", statement, n)
		}
	}
	one(t, c, int64(4), "SELECT n FROM f")
}

// TestTheFirstRowsAreDeletedFromATableByAnotherName: with an order and a limit, as MySQL 8.0.16 and later have it.
// Several tables have neither, as with MySQL.
func TestTheFirstRowsAreDeletedFromATableByAnotherName(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE f (n int, a int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO f VALUES (1, 9), (2, 8), (3, 7), (4, 6), (5, 5), (6, 4)")
	for _, statement := range []string{
		"DELETE FROM f AS j WHERE j.n < 5 ORDER BY j.n DESC LIMIT 1", "DELETE FROM `f` `a` ORDER BY `a`.a LIMIT 1",
		"DELETE FROM test.f j WHERE j.n = ? LIMIT 1", "DELETE FROM f j WHERE n IN (SELECT 1) ORDER BY j.n",
	} {
		var args []any
		if strings.Contains(statement, "?") {
			args = []any{2}
		}
		if n := exec(t, c, statement, args...); n != 1 {
			t.Errorf("%s: %d rows", statement, n)
		}
	}
	one(t, c, int64(35), "SELECT 10 * min(n) + max(n) FROM f")
	for _, statement := range []string{
		"DELETE j FROM f AS j ORDER BY n LIMIT 1", "DELETE f FROM f LIMIT 1", "DELETE FROM j USING f AS j LIMIT 1",
	} {
		_, err := c.ExecContext(t.Context(), statement)
		failsWith(t, err, 1064, "42000", statement)
	}
}
