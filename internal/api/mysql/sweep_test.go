package mysql

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// sweepers are expressions of every kind of value, as literals and as columns of the table that the sweep makes.
var sweepers = map[string][]string{
	"": {"NULL", "3", "-2.5", "1.5e0", "'text'", "x'ff8041'", "TIMESTAMP'2024-02-03 04:05:06'", "TIME'01:02:03'",
		`CAST('{"a": [1, 2]}' AS JSON)`, "'$.a'", "''", `'{"a":1}'`, "18446744073709551615"},
	" FROM k": {"n", "i", "d", "f", "s", "b", "at", "j", "ti", "u"},
}

// TestNoFunctionAnswersWithAnUnknownErrorOrAPanic calls every function that there is with arguments of every kind:
// MySQL has an answer or a number for each. The rig fails the test at a panic.
func TestNoFunctionAnswersWithAnUnknownErrorOrAPanic(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE k (n int, i bigint, d decimal(10,2), f double, s varchar(40), b varbinary(40), "+
		"at datetime, ti time, j json, u bigint unsigned) ENGINE=QUEUE")
	exec(t, c, `INSERT INTO k VALUES (NULL, 3, 2.50, 1.5, 'text', x'ff8041', '2024-02-03 04:05:06', '01:02:03',
		'{"a": [1, 2]}', 18446744073709551615)`)
	names := map[string]bool{}
	for _, f := range function.BuiltIns {
		names[f.FunctionName()] = true
	}
	for _, f := range sqlFunctions() {
		names[f.FunctionName()] = true
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { // these wait, or belong to the seat
		return name == "sleep" || name == "get_lock" || strings.HasPrefix(name, "queue_")
	})
	random := rand.New(rand.NewPCG(7, 7))
	for _, name := range share(t, 8, slices.Sorted(maps.Keys(names))...) {
		for from, values := range sweepers {
			swept(t, c, "SELECT "+name+"()"+from)
			for _, v := range values {
				swept(t, c, "SELECT "+name+"("+v+")"+from)
			}
			for count := 2; count <= 4; count++ {
				for range 5 {
					args := make([]string, count)
					for i := range args {
						args[i] = values[random.IntN(len(values))]
					}
					swept(t, c, "SELECT "+name+"("+strings.Join(args, ", ")+")"+from)
				}
			}
		}
	}
}

// swept wants a statement to be answered, or to end with a number that says what is wrong.
func swept(t *testing.T, c *sql.Conn, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rows, err := c.QueryContext(ctx, statement)
	if err == nil {
		for rows.Next() {
		}
		err = errors.Join(rows.Err(), rows.Close())
	}
	var known *driver.MySQLError
	switch {
	case err == nil:
	case !errors.As(err, &known):
		t.Fatalf("%s: %v", statement, err)
	case known.Number == erUnknown:
		t.Errorf("%s: %v", statement, err)
	}
}
