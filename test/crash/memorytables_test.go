//go:build linux

package crash

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestShowingManyTablesNeedsNoMoreThan300MB has several clients at once ask for all that is known of many tables with
// many columns, and name tables by megabytes.
func TestShowingManyTablesNeedsNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	const tables, columns, clients = 200, 200, 8
	s := serveWithin(t, tight)
	db := tablesOf(t, s.address(t, "mysql"))
	var list strings.Builder
	list.WriteString("c0 int")
	for n := 1; n < columns; n++ {
		fmt.Fprintf(&list, ", column_with_a_name_that_is_not_short_%d varchar(100) default 'nothing'", n)
	}
	for n := range tables {
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf("CREATE TABLE t%d (%s)", n, list.String())); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range some(t, 4, []string{
		"SELECT * FROM information_schema.columns WHERE table_schema = 'test'",
		"SELECT * FROM information_schema.columns ORDER BY column_name, table_name",
		"SHOW TABLE STATUS", "SHOW FULL TABLES", "SHOW CREATE TABLE t7", "SELECT * FROM information_schema.statistics",
		"SELECT * FROM information_schema.tables", "SELECT * FROM `" + strings.Repeat("t", 8<<20) + "`",
	}...) {
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				rows, err := db.QueryContext(t.Context(), statement)
				n := 0
				if err == nil {
					for rows.Next() {
						n++
					}
					err = rows.Err()
					rows.Close()
				}
				var refused *mysql.MySQLError
				if err != nil && !errors.As(err, &refused) {
					t.Errorf("%.60s: %d rows, then %v", statement, n, err)
				}
			})
		}
		all.Wait()
		s.survived(t, tight)
	}
}
