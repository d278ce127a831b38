//go:build linux

package crash

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestStatementsThatKeepMuchNeedNoMoreThan300MB has many clients at once run statements that keep what they have read:
// each keeps less than it may, and is answered alone; all together would keep many times what there is.
func TestStatementsThatKeepMuchNeedNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	const clients = 16
	s := serveWithin(t, tight)
	db := tablesOf(t, s.address(t, "mysql"))
	for _, statement := range []string{"CREATE TABLE large (n int, body LONGTEXT NOT NULL) ENGINE=QUEUE",
		"CREATE TABLE small (n int) ENGINE=QUEUE"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 16 {
		if _, err := db.ExecContext(t.Context(), "INSERT INTO large VALUES (?, ?)", n, wide(1<<20)); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "INSERT INTO small VALUES "+strings.Repeat("(1),", 99)+"(?)",
			n); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range some(t, 2, []string{
		"SELECT CONCAT(body, %d, s.n) AS b FROM large, (SELECT DISTINCT n FROM small LIMIT 2) s ORDER BY b DESC",
		"SELECT CONCAT(body, %d) AS b, COUNT(*) FROM large GROUP BY b",
		"SELECT DISTINCT CONCAT(body, %d, s.n) FROM large, (SELECT DISTINCT n FROM small LIMIT 2) s",
		"SELECT CONCAT(body, %d) FROM large UNION SELECT CONCAT(body, n) FROM large",
		"SELECT COUNT(*) FROM large a JOIN large b ON CONCAT(a.body, %d) = CONCAT(b.body, b.n)",
		"SELECT MAX(c), %d FROM (SELECT a.n + b.n AS c FROM small a, (SELECT n FROM small LIMIT 100) b ORDER BY c) x",
		"SELECT CONCAT(body, %d), ROW_NUMBER() OVER (ORDER BY body) FROM large",
		"SELECT LENGTH(GROUP_CONCAT(CONCAT(body, %d))) FROM large",
	}...) {
		run := func(n int) error {
			rows, err := db.QueryContext(t.Context(), fmt.Sprintf(statement, n))
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
			}
			return rows.Err()
		}
		var all sync.WaitGroup
		var refused atomic.Int64
		for n := range clients {
			all.Go(func() {
				var why *mysql.MySQLError
				if err := run(n); errors.As(err, &why) && (why.Number == 1038 || why.Number == 1041) {
					refused.Add(1)
				} else if err != nil {
					t.Errorf("%s: %v", statement, err)
				}
			})
		}
		all.Wait()
		t.Logf("%s: %d of %d are refused", statement, refused.Load(), clients)
		if err := run(clients); err != nil {
			t.Errorf("%s, alone: %v", statement, err)
		}
		s.survived(t, tight)
	}
}
