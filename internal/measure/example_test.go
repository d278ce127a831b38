package measure_test

import (
	"fmt"
	"os"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

func ExampleHistogram() {
	h := measure.NewHistogram()
	for i := range 100 {
		h.Record(time.Duration(i+1) * time.Millisecond)
	}
	fmt.Println(h.Count(), h.Min(), h.Mean(), h.Max())
	// Output: 100 1ms 50.5ms 100ms
}

func ExampleTable() {
	t := measure.NewTable(measure.Column{Name: "行列"}, measure.Column{Name: "件数", Align: measure.Right})
	t.Row("注文", measure.Count(12345))
	t.Row("mail", 7)
	_ = t.WriteText(os.Stdout)
	// Output:
	// 行列    件数
	// ----  ------
	// 注文  12,345
	// mail       7
}

func ExampleBenchReport() {
	r := measure.NewBenchReport("pace")
	r.Row("sleep", "idle").Set("mean_ms", 1.06)
	r.Row("hikyaku", "idle").Set("mean_ms", 0.002)
	_ = r.Table(nil).WriteText(os.Stdout)
	// Output:
	// case     work  mean_ms
	// -------  ----  -------
	// sleep    idle     1.06
	// hikyaku  idle  0.00200
}
