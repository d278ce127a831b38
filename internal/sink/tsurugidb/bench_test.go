//go:build unix

package tsurugidb

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// serveFor makes this test binary a server in a process of its own, so that a benchmark sees the CPU of the client
// alone.
const serveFor = "TSURUGIDB_SERVE_TABLE"

func TestMain(m *testing.M) {
	if table := os.Getenv(serveFor); table != "" {
		serveTable(table)
		return
	}
	os.Exit(m.Run())
}

// serveTable serves until its standard input ends, and says where.
func serveTable(definition string) {
	server, err := tsurugitest.New(tsurugitest.Config{})
	if err != nil {
		os.Exit(1)
	}
	defer server.Close()
	os.Stdout.WriteString(server.Endpoint() + "\n")
	var b [1]byte
	_, _ = os.Stdin.Read(b[:]) // the end of the benchmark
}

// otherProcess starts a server in another process.
func otherProcess(b *testing.B) (endpoint string) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveFor+"=yes")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line := make([]byte, 100)
	n, err := out.Read(line)
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(line[:n]))
}

// BenchmarkWrite writes blocks of 1,000 rows to a server in another process: cpu-µs/row is what this process spends on
// a row.
func BenchmarkWrite(b *testing.B) {
	for _, columns := range []int{1, 10, 100, 1000} {
		b.Run(strconv.Itoa(columns)+"columns", func(b *testing.B) {
			endpoint := otherProcess(b)
			d := newDriver(endpoint, tsurugi.OCC)
			s := open(b, d)
			table := &rows.Table{Name: rows.Name{"t"}}
			for c := range columns {
				table.Columns = append(table.Columns, rows.Column{Name: "value" + strconv.Itoa(c+1), Kind: rows.Float,
					Nullable: true})
			}
			if err := s.Create(b.Context(), table); err != nil {
				b.Fatal(err)
			}
			table = describeTable(b, s, "t")
			const n = 1_000
			block := &rows.Block{Table: table, Columns: table.Columns}
			for i := range n * columns {
				block.Values = append(block.Values, rows.FloatOf(float64(i)/7))
			}
			before, written := cpu(b), 0
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Write(b.Context(), block); err != nil {
					b.Fatal(err)
				}
				written += n
			}
			spent := cpu(b) - before
			b.ReportMetric(float64(spent.Microseconds())/float64(written), "cpu-µs/row")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(written), "µs/row")
		})
	}
}

// cpu is what this process has spent so far.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSend is BenchmarkWrite from messages on: with what it costs to find fields in JSON and to make values of
// them.
func BenchmarkSend(b *testing.B) {
	endpoint := otherProcess(b)
	s, err := New(Config{Endpoint: endpoint, Config: rows.Config{Table: []string{"readings"}, Create: doubleColumns}},
		component.Env{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.(component.Starter).Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	const n = 1_000
	batch := make([]*message.Message, n)
	for i := range batch {
		body := []byte{'{'}
		for c := range 10 {
			if c > 0 {
				body = append(body, ',')
			}
			body = fmt.Appendf(body, `"value%d":%.6f`, c+1, float64(i*c)/7)
		}
		batch[i] = &message.Message{ID: message.NewID(), Body: append(body, '}')}
	}
	before, written := cpu(b), 0
	b.ReportAllocs()
	for b.Loop() {
		outcomes, err := s.Send(b.Context(), batch)
		if err != nil || outcomes[0].Verdict != component.Delivered {
			b.Fatal(err, outcomes[0].Reason)
		}
		written += n
	}
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(written), "cpu-µs/row")
}

// doubleColumns are ten columns of numbers, as the setting create takes them.
const doubleColumns = "value1 double, value2 double, value3 double, value4 double, value5 double, value6 double, " +
	"value7 double, value8 double, value9 double, value10 double"
