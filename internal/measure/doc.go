// Package measure is for measuring and for showing what was measured: histograms of durations, tables that align in
// a terminal, also in Japanese, plots as SVG, a progress bar, numbers as people write them, and the report of a bench.
//
// It measures nothing by itself and decides nothing: no clock runs here but the progress bar's, and what a number means
// is the caller's business.
//
//	h := measure.NewHistogram()
//	for range n {
//		began := time.Now()
//		work()
//		h.Record(time.Since(began))
//	}
//	report := measure.NewBenchReport("queue")
//	report.Row("hikyaku", "put").Set("writers", 8).Times(h).Rate(n, elapsed)
//	report.Table(nil).WriteText(os.Stdout)
package measure
