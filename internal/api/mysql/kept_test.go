package mysql

import (
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	gms "github.com/dolthub/go-mysql-server/sql"
	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// TestWhatConnectionsKeepIsBoundedTogether lets connections keep as much as they can, one kind at a time, until the
// door refuses more: all of them together stay within their share, others still work, and nothing is left when they are
// gone.
func TestWhatConnectionsKeepIsBoundedTogether(t *testing.T) {
	long := strings.Repeat("x", 1<<19)
	kinds := map[string]func(c *sql.Conn, i int) error{
		"prepared statements": func(c *sql.Conn, i int) error {
			_, err := c.PrepareContext(t.Context(), fmt.Sprintf("SELECT ?, '%s%d'", long, i))
			return err
		},
		"prepared statements with many values": func(c *sql.Conn, i int) error {
			_, err := c.PrepareContext(t.Context(), fmt.Sprintf("SELECT 1 IN (%d%s)", i, strings.Repeat(",?", 9_000)))
			return err
		},
		"short prepared statements": func(c *sql.Conn, i int) error {
			_, err := c.PrepareContext(t.Context(), fmt.Sprintf("SELECT ?, '%s%d'", long[:8_000], i))
			return err
		},
		"statements of PREPARE": func(c *sql.Conn, i int) error {
			_, err := c.ExecContext(t.Context(),
				fmt.Sprintf("PREPARE s%d FROM 'SELECT ?, \"%s\"'", i, long[:50_000]))
			return err
		},
		"user variables": func(c *sql.Conn, i int) error {
			_, err := c.ExecContext(t.Context(), fmt.Sprintf("SET @a%d = '%s'", i%12, long))
			return err
		},
		"system variables": func(c *sql.Conn, i int) error {
			names := []string{"debug_sync", "optimizer_trace", "lc_messages", "lc_time_names"}
			_, err := c.ExecContext(t.Context(), fmt.Sprintf("SET SESSION %s = '%s'", names[i%len(names)], long))
			return err
		},
	}
	for what, keep := range kinds {
		t.Run(what, func(t *testing.T) {
			busy := door.NewBusy(96 << 20)
			s, stop := openStore(t, t.TempDir())
			defer stop()
			r := newRigWithin(t, Config{}, nil, s, busy)
			r.makeJobs(0)
			other := r.connect("")
			var refused *driver.MySQLError
			var all []*sql.Conn
			for refused == nil {
				if len(all) == 100 {
					t.Fatal("nothing was refused")
				}
				c := r.connect("")
				all = append(all, c)
				for i := range 40 {
					if err := keep(c, i); err != nil && !errors.As(err, &refused) {
						t.Fatal(err)
					} else if err != nil {
						break
					}
				}
			}
			if refused.Number != erOutOfResources {
				t.Errorf("refused with %v", refused)
			}
			k := r.door.keeping
			if k.Used() > k.Limit() || k.Used() < k.Limit()/2 {
				t.Errorf("%d bytes are kept of %d", k.Used(), k.Limit())
			}
			if n := exec(t, other, "INSERT INTO jobs VALUES (1)"); n != 1 {
				t.Errorf("%d rows", n)
			}
			for _, c := range append(all, other) {
				c.Raw(func(any) error { return sqldriver.ErrBadConn }) //nolint:errcheck // it closes the connection
				c.Close()
			}
			waittest.Until(t, "everything to be given back", func() bool { return busy.Used() == 0 })
		})
	}
}

// TestPreparedStatementsThatAreClosedLeaveNothing prepares one statement after another, and runs some, as programs do
// that write values into them.
func TestPreparedStatementsThatAreClosedLeaveNothing(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	for i := range 300 {
		st, err := c.PrepareContext(t.Context(), fmt.Sprintf("SELECT %d + ?", i))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var n int
			if err := st.QueryRowContext(t.Context(), 1).Scan(&n); err != nil || n != i+1 {
				t.Fatalf("%d: %d, %v", i, n, err)
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		exec(t, c, fmt.Sprintf("PREPARE s FROM 'SELECT %d'", i))
		exec(t, c, "EXECUTE s")
		exec(t, c, "DEALLOCATE PREPARE s")
	}
	exec(t, c, "DO 1") // the last closing has no answer
	err := r.door.sessions.Iter(func(one gms.Session) (bool, error) {
		s := one.(*session)
		if s.kept.taken != 0 || len(s.kept.trees)+len(s.kept.prepared)+len(s.kept.named) != 0 || s.parsed.text != "" {
			t.Errorf("%+v", s.kept)
		}
		for i := range 300 {
			if _, ok := s.GetPreparedQuery(fmt.Sprintf("SELECT %d + ?", i)); ok {
				t.Fatalf("statement %d is still there", i)
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
