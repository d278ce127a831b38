//go:build linux

package crash

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestWhatConnectionsKeepNeedsNoMoreThan300MB has connections of the MySQL door keep what they can between their
// statements, as many times as would end the program otherwise.
func TestWhatConnectionsKeepNeedsNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	type kind struct {
		what  string
		times int
		keep  func(c *sql.Conn, n int) error
	}
	for _, kept := range some(t, 1, []kind{
		{"prepared statements", 400, func(c *sql.Conn, n int) error {
			_, err := c.PrepareContext(t.Context(), fmt.Sprintf("SELECT '%s%d', ?", long, n))
			return err
		}},
		{"user variables", 600, func(c *sql.Conn, n int) error {
			_, err := c.ExecContext(t.Context(), fmt.Sprintf("SET @v%d = '%s'", n, long))
			return err
		}},
		{"idle connections", 4_000, nil},
	}...) {
		t.Run(kept.what, func(t *testing.T) {
			t.Parallel()
			s := serveWithin(t, tight)
			db, refused := tablesOf(t, s.address(t, "mysql")), 0
			db.SetMaxOpenConns(0) // as many as are asked for
			for n := range kept.times {
				c, err := db.Conn(t.Context()) // is closed with db
				if err == nil && kept.keep != nil {
					err = kept.keep(c, n%8)
				}
				var why *mysql.MySQLError
				if errors.As(err, &why) && (why.Number == 1040 || why.Number == 1041) {
					refused++
				} else if err != nil {
					t.Fatalf("the %d. time: %v", n+1, err)
				}
			}
			t.Logf("%d of %d were refused", refused, kept.times)
			if refused == 0 {
				t.Error("nothing was refused")
			}
			s.survived(t, tight)
		})
	}
}
