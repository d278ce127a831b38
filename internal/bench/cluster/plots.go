package cluster

import (
	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// view shows the rows of the cluster bench.
func view() harness.View {
	return harness.View{Label: harness.CaseLabel, Sections: []harness.Section{
		{Title: "Durable puts on three nodes; the ratios for one writer are of the p50", Works: []string{workPut}},
	}}
}
