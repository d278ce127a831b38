package q4m_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/q4m"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func q4mSubject() benchtest.Subject {
	return benchtest.Subject{Name: "q4m", Run: q4m.Run, With: harness.Options{Server: benchtest.Self()}}
}

// TestQ4MReportsEveryWorkBesideItsLimit runs the quick form once, without peers, and looks at everything it writes but
// the speeds.
func TestQ4MReportsEveryWorkBesideItsLimit(t *testing.T) {
	report := q4mSubject().Reports(t, "take-ge", "take-lt", "insert", "rates", "compacting")
	var got []string
	for _, r := range report.Rows {
		got = append(got, fmt.Sprint(r.Get("case"), " ", r.Get("work"), " ", r.Get("depth"), " by ",
			r.Get("connections"), " ", benchtest.Or(r, "client")))
	}
	want := []string{
		"hikyaku take-ge 300 by 1 go-sql-driver/mysql", "limit take-ge 300 by 1 go-sql-driver/mysql",
		"hikyaku take-ge 300 by 4 light",
		"hikyaku take-ge 2000 by 1 go-sql-driver/mysql", "hikyaku take-ge 300 by 1 go-sql-driver/mysql",
		"hikyaku take-ge 2000 by 4 light", "hikyaku take-ge 300 by 4 light",
		"hikyaku take-lt 250 by 1 go-sql-driver/mysql", "limit take-lt 250 by 1 go-sql-driver/mysql",
		"hikyaku take-lt 300 by 4 light",
		"hikyaku take-lt 2000 by 1 go-sql-driver/mysql", "hikyaku take-lt 300 by 1 go-sql-driver/mysql",
		"hikyaku take-lt 2000 by 4 light", "hikyaku take-lt 300 by 4 light",
		"hikyaku insert 220 by 1 go-sql-driver/mysql", "limit insert 220 by 1 go-sql-driver/mysql",
		"hikyaku insert 300 by 4 light",
		"hikyaku insert 2000 by 1 go-sql-driver/mysql", "hikyaku insert 300 by 1 go-sql-driver/mysql",
		"hikyaku insert 2000 by 4 light", "hikyaku insert 300 by 4 light",
		"hikyaku insert-compacting 0 by 1 light", "limit insert-compacting 0 by 1 ",
		"hikyaku insert-compacting 0 by 4 light", "limit insert-compacting 0 by 4 ",
	}
	benchtest.CheckRows(t, got, want)
	for i, r := range report.Rows {
		benchtest.CheckRow(t, i, r)
		checkQ4MRow(t, i, r)
	}
	if len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "fdatasync") {
		t.Errorf("the notes do not tell what makes the server durable: %q", report.Notes)
	}
}

// checkQ4MRow looks whether a row is compared with what it should be, and asked for what it can be asked for without
// peers.
func checkQ4MRow(t *testing.T, i int, r *measure.Row) {
	t.Helper()
	asked, ratio := "", ""
	depth, _ := r.Number("depth")
	connections, _ := r.Number("connections")
	switch work := r.Get("work"); {
	case r.Get("case") != "hikyaku":
	case work == "insert-compacting":
		asked, ratio = "p99.9 to disk <= 5", "ratio_p999"
	case depth == 2000:
		ratio = "ratio_depth"
		if work != "insert" {
			asked = "cost to few <= 1.3"
		}
	case connections == 1 && work != "insert" && r.Get("ratio_p50") != nil:
		asked, ratio = "p50 to limit <= 1.25", "ratio_p50"
	}
	benchtest.CheckAskedOf(t, i, r, asked)
	if ratio != "" {
		benchtest.CheckPositive(t, i, r, ratio)
		benchtest.CheckQuartiles(t, i, r, ratio)
	}
}

func TestQ4MWritesTablesForPeople(t *testing.T) {
	q4mSubject().WritesTables(t, []string{"insert"}, []string{"Rows put through MySQL's protocol", "connections",
		"go-sql-driver/mysql", "light", "Note: hikyaku: "}, "Rows taken")
}

func TestQ4MEndsWithItsContextAndCleansUp(t *testing.T) {
	q4mSubject().EndsWithItsContext(t, false)
}

func TestQ4MSaysWhyItCannotBegin(t *testing.T) {
	q4mSubject().SaysWhyItCannotBegin(t, map[string]benchtest.Obstacle{
		"no command": {Put: func(o *harness.Options) { o.Server = nil }, Says: "no command"},
		"a command that ends": {Put: func(o *harness.Options) { o.Server = append(benchtest.Self(), "--nonsense") },
			Says: "nonsense"},
		"no address of MariaDB": {Put: func(o *harness.Options) { o.MySQL = "nonsense" }, Says: "address of MariaDB"},
		"no database": {Put: func(o *harness.Options) { o.MySQL = "root@tcp(127.0.0.1:1)/" },
			Says: "names no database"},
		"no MariaDB there": {Put: func(o *harness.Options) { o.MySQL = "root@tcp(127.0.0.1:1)/x" },
			Says: "MariaDB: connect"},
		"no PostgreSQL there": {Put: func(o *harness.Options) { o.Postgres = "postgres://x@127.0.0.1:1/x" },
			Says: "PostgreSQL: connect"},
	})
}
