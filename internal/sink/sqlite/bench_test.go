package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

const benchColumns = 10

// BenchmarkSink writes rows of 10 floats in batches of several sizes; BenchmarkOneTransaction does so with a prepared
// insert in one big transaction. An operation is a row.
func BenchmarkSink(b *testing.B) {
	for _, size := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := mustOpen(b, filepath.Join(b.TempDir(), "x.db"), rows.Config{Create: benchTable()})
			batch := make([]*message.Message, size)
			r := rand.New(rand.NewPCG(1, 2))
			for i := range batch {
				var fields []string
				for c := range benchColumns {
					fields = append(fields, fmt.Sprintf(`"c%d":%v`, c, r.Float64()))
				}
				batch[i] = &message.Message{Body: []byte("{" + strings.Join(fields, ",") + "}")}
			}
			b.ReportAllocs()
			b.ResetTimer()
			var work sync.WaitGroup
			var next atomic.Int64
			for range s.Limits().Concurrency { // as the pipeline does
				work.Go(func() {
					for {
						n := int(next.Add(int64(size))) - size
						if n >= b.N {
							return
						}
						outcomes, err := s.Send(context.Background(), batch[:min(size, b.N-n)])
						if err != nil || outcomes[0].Verdict != component.Delivered {
							b.Error(err, outcomes[0].Reason)
							return
						}
					}
				})
			}
			work.Wait()
		})
	}
}

func benchTable() string {
	var columns []string
	for c := range benchColumns {
		columns = append(columns, fmt.Sprintf("c%d real", c))
	}
	return strings.Join(columns, ", ")
}

func BenchmarkOneTransaction(b *testing.B) {
	db, err := sql.Open("sqlite",
		"file:"+filepath.Join(b.TempDir(), "x.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	run(b, db, "create table t ("+benchTable()+")")
	args := make([]any, benchColumns)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range args {
		args[i] = r.Float64()
	}
	b.ResetTimer()
	tx, err := db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	insert, err := tx.Prepare("insert into t values (" + strings.TrimSuffix(strings.Repeat("?,", benchColumns), ",") +
		")")
	if err != nil {
		b.Fatal(err)
	}
	for range b.N {
		if _, err := insert.Exec(args...); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFind updates and deletes rows of an id and nine floats in a table of a hundred thousand, a thousand at a
// time, beside their insert.
func BenchmarkFind(b *testing.B) {
	const height, most = 1000, 100_000
	for _, mode := range []string{"insert", "update", "delete"} {
		b.Run(mode, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "x.db")
			insert := mustOpen(b, file,
				rows.Config{Create: "id integer primary key, " + strings.ReplaceAll(benchTable(), ", c9 real", "")})
			s := insert
			if mode != "insert" {
				s = mustOpen(b, file, rows.Config{Mode: mode})
			}
			write := func(s component.Sink, from int) {
				batch := make([]*message.Message, height)
				for i := range batch {
					var fields strings.Builder
					fmt.Fprintf(&fields, `{"id":%d`, from+i)
					for c := range benchColumns - 1 {
						fmt.Fprintf(&fields, `,"c%d":%d.5`, c, from+i+c)
					}
					batch[i] = &message.Message{Body: []byte(fields.String() + "}")}
				}
				b.StartTimer()
				outcomes, err := s.Send(context.Background(), batch)
				if err != nil || outcomes[0].Verdict != component.Delivered {
					b.Fatal(err, outcomes[0].Reason)
				}
				b.StopTimer()
			}
			for from := 0; from < most; from += height {
				write(insert, from)
			}
			b.ResetTimer()
			for n := range b.N {
				from := n * height % most
				if mode == "insert" {
					from = most + n*height
				} else if n*height >= most && mode == "delete" {
					b.Fatal("every row is deleted: -benchtime=90x")
				}
				write(s, from)
			}
			b.ReportMetric(float64(b.N*height)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
