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

// BenchmarkSink writes rows of 10 floats in batches of several sizes; BenchmarkOneTransaction does so with a prepared insert in one big transaction. An
// operation is a row.
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
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "x.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
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
	insert, err := tx.Prepare("insert into t values (" + strings.TrimSuffix(strings.Repeat("?,", benchColumns), ",") + ")")
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
