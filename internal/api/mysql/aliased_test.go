package mysql

import "testing"

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
