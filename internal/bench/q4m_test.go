package bench_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func q4mSubject() subject {
	return subject{name: "q4m", run: bench.Q4M, with: bench.Options{Server: []string{os.Args[0], server}}}
}

// TestQ4MReportsEveryWorkBesideItsLimit runs the quick form once, without peers, and looks at everything it writes but
// the speeds.
func TestQ4MReportsEveryWorkBesideItsLimit(t *testing.T) {
	report := q4mSubject().reports(t, "take-ge", "take-lt", "insert", "rates", "compacting")
	var got []string
	for _, r := range report.Rows {
		got = append(got, fmt.Sprint(r.Get("case"), " ", r.Get("work"), " ", r.Get("depth"), " by ",
			r.Get("connections"), " ", or(r, "client")))
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
	checkRows(t, got, want)
	for i, r := range report.Rows {
		checkRow(t, i, r)
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
	checkAskedOf(t, i, r, asked)
	if ratio != "" {
		checkPositive(t, i, r, ratio)
		checkQuartiles(t, i, r, ratio)
	}
}

func TestQ4MWritesTablesForPeople(t *testing.T) {
	q4mSubject().writesTables(t, []string{"insert"}, []string{"Rows put through MySQL's protocol", "connections",
		"go-sql-driver/mysql", "light", "Note: hikyaku: "}, "Rows taken")
}

func TestQ4MEndsWithItsContextAndCleansUp(t *testing.T) {
	q4mSubject().endsWithItsContext(t, false)
}

func TestQ4MSaysWhyItCannotBegin(t *testing.T) {
	q4mSubject().saysWhyItCannotBegin(t, map[string]obstacle{
		"no command": {func(o *bench.Options) { o.Server = nil }, "no command"},
		"a command that ends": {func(o *bench.Options) { o.Server = []string{os.Args[0], server, "--nonsense"} },
			"nonsense"},
		"no address of MariaDB": {func(o *bench.Options) { o.MySQL = "nonsense" }, "address of MariaDB"},
		"no database":           {func(o *bench.Options) { o.MySQL = "root@tcp(127.0.0.1:1)/" }, "names no database"},
		"no MariaDB there":      {func(o *bench.Options) { o.MySQL = "root@tcp(127.0.0.1:1)/x" }, "MariaDB: connect"},
		"no PostgreSQL there": {func(o *bench.Options) { o.Postgres = "postgres://x@127.0.0.1:1/x" },
			"PostgreSQL: connect"},
	})
}
