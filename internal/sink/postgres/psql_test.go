//go:build linux

package postgres

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// BenchmarkBesidePSQL writes the same rows by psql's COPY, as one transaction, and by sessions of ours, as one
// transaction a block.
func BenchmarkBesidePSQL(b *testing.B) {
	const total, height = 200_000, 1000
	var csv bytes.Buffer
	for n := range total {
		fmt.Fprintf(&csv, "%d", n)
		for j := range 9 {
			fmt.Fprintf(&csv, ",%v", float64(n)*1.1+float64(j))
		}
		csv.WriteByte('\n')
	}
	for _, key := range []string{"", " PRIMARY KEY"} {
		url := database(b)
		tell(b, url, "CREATE TABLE t (id int8"+key+", "+columns(9)+")")
		b.Run("psql"+key, func(b *testing.B) {
			for b.Loop() {
				tell(b, url, "TRUNCATE t")
				cmd := exec.CommandContext(b.Context(), "psql", "-q", "-v", "ON_ERROR_STOP=1", "-d",
					server.PostgresURL("postgres"),
					"-c", "SET search_path="+url[strings.LastIndexByte(url, '=')+1:], "-c",
					"COPY t FROM STDIN (FORMAT csv)")
				cmd.Stdin = bytes.NewReader(csv.Bytes())
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v %s", err, out)
				}
			}
			b.ReportMetric(float64(total*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
		for _, workers := range []int{1, 2, 4} {
			for _, mode := range []rows.Mode{rows.Insert, rows.Once} {
				if mode == rows.Once && key == "" {
					continue
				}
				b.Run(fmt.Sprintf("%v%s/%d", mode, key, workers), func(b *testing.B) {
					d, _ := open(b, url)
					for b.Loop() {
						tell(b, url, "TRUNCATE t")
						blocks := make(chan int, total/height)
						for n := 0; n < total; n += height {
							blocks <- n
						}
						close(blocks)
						var done sync.WaitGroup
						for range workers {
							done.Go(func() {
								s, err := d.Open(b.Context())
								if err != nil {
									b.Error(err)
									return
								}
								defer s.Close()
								table := described(b, s, "t")
								block := &rows.Block{Table: table, Mode: mode, Columns: table.Columns}
								for first := range blocks {
									block.Values = block.Values[:0]
									for n := first; n < first+height; n++ {
										block.Values = append(block.Values, rows.IntOf(int64(n)))
										for j := range 9 {
											block.Values = append(block.Values, rows.FloatOf(float64(n)*1.1+float64(j)))
										}
									}
									if err := s.Write(b.Context(), block); err != nil {
										b.Error(err)
									}
								}
							})
						}
						done.Wait()
					}
					b.ReportMetric(float64(total*b.N)/b.Elapsed().Seconds(), "rows/s")
				})
			}
		}
	}
}
