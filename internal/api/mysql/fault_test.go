package mysql

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	gms "github.com/dolthub/go-mysql-server/sql"
	driver "github.com/go-sql-driver/mysql"
)

// TestASelectWithOtherColumnsIsRefusedByItsNumber, on whichever side of a UNION it stands, as text and prepared;
// the connection keeps its row.
func TestASelectWithOtherColumnsIsRefusedByItsNumber(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(1)
	c := r.connect("")
	one(t, c, int64(1), "SELECT queue_wait('jobs', 5)")
	for _, statement := range []string{
		"SELECT 1, 2 UNION SELECT 1",
		"SELECT 1 UNION SELECT 1, 2",
		"(SELECT 1, 2, 3) EXCEPT (SELECT 1)",
		"SELECT 1, 2 INTERSECT SELECT 1",
		"SELECT *, 1 FROM jobs UNION SELECT 1",
		"SELECT 1 FROM (SELECT 1, 2 UNION ALL SELECT 3) t",
		"EXPLAIN SELECT 1, 2 UNION SELECT 1",
		"PREPARE p FROM 'SELECT 1, 2 UNION SELECT 1'",
	} {
		_, asText := c.ExecContext(t.Context(), statement)
		failsWith(t, asText, 1222, "21000", statement)
	}
	for _, statement := range []string{"SELECT 1, ? UNION SELECT 1", "SELECT ? UNION SELECT 1, 2"} {
		_, prepared := c.PrepareContext(t.Context(), statement)
		failsWith(t, prepared, 1222, "21000", statement)
	}
	one(t, c, int64(1), "SELECT queue_end()")
	one(t, c, int64(0), "SELECT count(*) FROM jobs")
}

// TestMistakesOfStatementsHaveTheirNumbers: what programs and people get wrong has MySQL's number, not 1105.
func TestMistakesOfStatementsHaveTheirNumbers(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(1)
	c := r.connect("")
	for _, m := range []struct {
		statement string
		number    uint16
		state     string
	}{
		{"SELECT COUNT(v, v) FROM jobs", 1582, "42000"},
		{"SELECT IF(1)", 1582, "42000"},
		{"SELECT CONCAT()", 1582, "42000"},
		{"SELECT *", 1096, "HY000"},
		{"SELECT * FROM jobs JOIN jobs", 1066, "42000"},
		{"VALUES ROW(1, 2), ROW(3)", 1136, "21S01"},
		{"SELECT * FROM (SELECT 1, 2) t(x)", 1353, "HY000"},
		{"WITH c(x, y) AS (SELECT 1) SELECT * FROM c", 1353, "HY000"},
		{"WITH RECURSIVE c AS (SELECT 1 FROM c) SELECT * FROM c", 3573, "HY000"},
		{"SELECT v FROM jobs GROUP BY NULL", 1055, "42000"},
		{"SELECT max(count(*)) FROM jobs", 1111, "HY000"},
		{"EXECUTE nothing", 1243, "HY000"},
		{"DEALLOCATE PREPARE nothing", 1243, "HY000"},
		{"SELECT DEFAULT(v) FROM jobs", 1235, "42000"},
	} {
		_, err := c.ExecContext(t.Context(), m.statement)
		failsWith(t, err, m.number, m.state, m.statement)
	}
	exec(t, c, "PREPARE p FROM 'SELECT ? + ?'")
	_, err := c.ExecContext(t.Context(), "EXECUTE p")
	failsWith(t, err, 1210, "HY000", "EXECUTE without its values")
	one(t, c, int64(1), "SELECT 1")
}

// TestAPanicOfThePlannerLeavesTheConnection, with the row that it owns, its variables and its prepared statements.
func TestAPanicOfThePlannerLeavesTheConnection(t *testing.T) {
	r := newRig(t, Config{}, nil)
	var reports atomic.Int64
	r.door.report = func(err error) {
		reports.Add(1)
		if !strings.Contains(err.Error(), "boom") {
			t.Error("reported:", err)
		}
	}
	r.door.functions["bad_plan"] = gms.FunctionN{
		Name: "bad_plan",
		Fn:   func(*gms.Context, ...gms.Expression) (gms.Expression, error) { panic("boom") },
	}
	r.makeJobs(2)
	c := r.connect("")
	kept, err := c.PrepareContext(t.Context(), "SELECT @kept + ?")
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	exec(t, c, "SET @kept = 4")
	one(t, c, int64(1), "SELECT queue_wait('jobs', 5)")
	for _, statement := range []string{
		"SELECT bad_plan()",
		"INSERT INTO jobs VALUES (bad_plan())",
		"SELECT 1 FROM jobs WHERE v IN (SELECT bad_plan())",
		"DELETE FROM jobs WHERE v = bad_plan()",
	} {
		_, asText := c.ExecContext(t.Context(), statement)
		failsWith(t, asText, 1105, "HY000", statement)
		_, prepared := c.PrepareContext(t.Context(), statement+" -- ?")
		failsWith(t, prepared, 1105, "HY000", statement)
	}
	if n := reports.Load(); n != 8 {
		t.Errorf("%d panics were reported, want 8", n)
	}
	var sum float64
	if err := kept.QueryRowContext(t.Context(), 3).Scan(&sum); err != nil || sum != 7 {
		t.Errorf("the prepared statement and the variable: %v, %v", sum, err)
	}
	one(t, c, int64(1), "SELECT queue_end()")
}

// badRow panics when it is evaluated.
type badRow struct{ *call }

func (badRow) Eval(*gms.Context, gms.Row) (any, error) { panic("boom") }

func (b badRow) WithChildren(*gms.Context, ...gms.Expression) (gms.Expression, error) { return b, nil }

// failsWith looks at the number and SQLSTATE of an error.
func failsWith(t *testing.T, err error, number uint16, state, what string) {
	t.Helper()
	var known *driver.MySQLError
	if !errors.As(err, &known) || known.Number != number || string(known.SQLState[:]) != state {
		t.Errorf("%s: %v, want error %d (%s)", what, err, number, state)
	}
}
