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
				block := &rows.Block{Table: table,
					Mode: map[string]rows.Mode{"once": rows.Once, "upsert": rows.Upsert}[way], Columns: table.Columns}
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

// BenchmarkFind updates and deletes rows of an id and nine floats in a table of a hundred thousand, a thousand at a
// time, beside their insert.
func BenchmarkFind(b *testing.B) {
	const height, most = 1000, 100_000
	var columns []string
	for i := range 9 {
		columns = append(columns, fmt.Sprintf(", c%d double", i))
	}
	for _, mode := range []rows.Mode{rows.Insert, rows.Update, rows.Delete} {
		b.Run(mode.String(), func(b *testing.B) {
			url := database(b)
			tell(b, url, "CREATE TABLE t (id bigint PRIMARY KEY"+strings.Join(columns, "")+")")
			_, s := openFor(b, url, mode.String(), false)
			table := described(b, s, "t")
			block := func(mode rows.Mode, from int) *rows.Block {
				made := &rows.Block{Table: table, Mode: mode, Columns: table.Columns, Sole: true}
				if mode != rows.Insert {
					made.Key = table.Columns[:1]
				}
				if mode == rows.Delete {
					made.Columns = table.Columns[:1]
				}
				for k := from; k < from+height; k++ {
					made.Values = append(made.Values, rows.IntOf(int64(k)))
					for j := 1; j < len(made.Columns); j++ {
						made.Values = append(made.Values, rows.FloatOf(float64(k)*1.1+float64(j)+float64(mode)))
					}
				}
				return made
			}
			write := func(k *rows.Block) {
				if err := s.Write(b.Context(), k); err != nil {
					b.Fatal(err)
				}
			}
			for from := 0; from < most; from += height {
				write(block(rows.Insert, from))
			}
			n := 0
			for b.Loop() {
				b.StopTimer()
				from := n * height % most
				if mode == rows.Insert {
					from = most + n*height
				} else if n*height >= most && mode == rows.Delete {
					write(block(rows.Insert, from))
				}
				now := block(mode, from)
				n++
				b.StartTimer()
				write(now)
			}
			b.ReportMetric(float64(n*height)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
