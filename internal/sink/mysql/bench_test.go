//go:build linux

package mysql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// BenchmarkWrite writes blocks of rows of an id and nine floats on one session.
func BenchmarkWrite(b *testing.B) {
	var columns []string
	for i := range 9 {
		columns = append(columns, fmt.Sprintf("c%d double", i))
	}
	for _, way := range []string{"insert", "load", "once", "upsert"} {
		for _, height := range []int{1, 64, 1000, 8192} {
			b.Run(fmt.Sprintf("%s/%d", way, height), func(b *testing.B) {
				url := database(b)
				tell(b, url, "CREATE TABLE t (id bigint PRIMARY KEY, "+strings.Join(columns, ", ")+")")
				_, s := open(b, url, way == "load")
				table := described(b, s, "t")
				block := &rows.Block{Table: table, Mode: map[string]rows.Mode{"once": rows.Once, "upsert": rows.Upsert}[way], Columns: table.Columns}
				n := int64(0)
				b.ReportAllocs()
				for b.Loop() {
					block.Values = block.Values[:0]
					for range height {
						n++
						block.Values = append(block.Values, rows.IntOf(n))
						for j := range 9 {
							block.Values = append(block.Values, rows.FloatOf(float64(n)*1.1+float64(j)))
						}
					}
					if err := s.Write(b.Context(), block); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
