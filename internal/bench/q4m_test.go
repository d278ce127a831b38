package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func q4mOptions(dir string) bench.Options {
	return bench.Options{Quick: true, Dir: dir, Server: []string{os.Args[0], server}}
}

// TestQ4MReportsEveryWorkBesideItsLimit runs the quick form once, without peers, and looks at everything it writes but the speeds.
func TestQ4MReportsEveryWorkBesideItsLimit(t *testing.T) {
	var out, progress bytes.Buffer
	dir, plots := t.TempDir(), filepath.Join(t.TempDir(), "plots")
	o := q4mOptions(dir)
	o.JSON, o.Plots, o.Out, o.Progress, o.Terminal = true, plots, &out, &progress, true
	if err := bench.Q4M(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var report measure.BenchReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v in:\n%s", err, out.Bytes())
	}
	if report.Bench != "q4m" || report.Machine.CPUs == 0 {
		t.Errorf("the report is of bench %q on %+v", report.Bench, report.Machine)
	}
	var got []string
	for _, r := range report.Rows {
		got = append(got, fmt.Sprint(r.Get("case"), " ", r.Get("work"), " ", r.Get("depth"), " by ", r.Get("connections"), " ", or(r, "client")))
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
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i, r := range report.Rows {
		checkRow(t, i, r)
		checkQ4MRow(t, i, r)
	}
	left(t, dir)
	for _, name := range []string{"take-ge", "take-lt", "insert", "rates", "compacting"} {
		b, err := os.ReadFile(filepath.Join(plots, "q4m-"+name+".svg"))
		if err != nil || !bytes.HasPrefix(bytes.TrimSpace(b), []byte("<")) {
			t.Errorf("plot %s: %v, %d bytes", name, err, len(b))
		}
	}
	if !strings.Contains(progress.String(), "bench q4m") {
		t.Errorf("the progress bar shows %q", progress.String())
	}
	if len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "fdatasync") {
		t.Errorf("the notes do not tell what makes the server durable: %q", report.Notes)
	}
}

// checkQ4MRow looks whether a row is compared with what it should be, and asked for what it can be asked for without peers.
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
	if got, _ := r.Get("asked").(string); got != asked {
		t.Errorf("row %d: asked %q, want %q", i, got, asked)
	}
	if met := r.Get("met"); met != nil {
		t.Errorf("row %d: a quick run judges: %v", i, met)
	}
	if ratio != "" {
		checkPositive(t, i, r, ratio)
		checkQuartiles(t, i, r, ratio)
	}
}

func TestQ4MWritesTablesForPeople(t *testing.T) {
	var out bytes.Buffer
	o := q4mOptions(t.TempDir())
	o.Only, o.Out = []string{"insert"}, &out
	if err := bench.Q4M(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Rows put through MySQL's protocol", "connections", "go-sql-driver/mysql", "light", "Note: hikyaku: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "Rows taken") {
		t.Errorf("more was measured than was asked for:\n%s", out.String())
	}
}

func TestQ4MEndsWithItsContextAndCleansUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	o := q4mOptions(dir)
	o.Quick, o.Progress, o.Terminal = false, cancelAfter{cancel}, true
	if err := bench.Q4M(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it ran: %v", err)
	}
	left(t, dir)
}

func TestQ4MSaysWhyItCannotBegin(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *bench.Options)
		says   string
	}{
		"no such work":            {func(o *bench.Options) { o.Only = []string{"give"} }, `no work "give"`},
		"no command":              {func(o *bench.Options) { o.Server = nil }, "no command"},
		"a command that ends":     {func(o *bench.Options) { o.Server = []string{os.Args[0], server, "--nonsense"} }, "nonsense"},
		"no address of MariaDB":   {func(o *bench.Options) { o.MySQL = "nonsense" }, "address of MariaDB"},
		"no database":             {func(o *bench.Options) { o.MySQL = "root@tcp(127.0.0.1:1)/" }, "names no database"},
		"no MariaDB there":        {func(o *bench.Options) { o.MySQL = "root@tcp(127.0.0.1:1)/x" }, "MariaDB: connect"},
		"no PostgreSQL there":     {func(o *bench.Options) { o.Postgres = "postgres://x@127.0.0.1:1/x" }, "PostgreSQL: connect"},
		"no folder for the files": {func(o *bench.Options) { o.Dir = filepath.Join(o.Dir, "missing") }, "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := q4mOptions(dir)
			c.change(&o)
			err := bench.Q4M(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "bench q4m: ") {
				t.Errorf("%v, want something about %q", err, c.says)
			}
			left(t, dir)
		})
	}
}
