package cluster

import (
	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// view shows the rows of the cluster bench.
func view() harness.View {
	return harness.View{Label: harness.CaseLabel, Sections: []harness.Section{
		{Title: "Durable puts on three nodes; the ratios for one writer are of the p50", Works: []string{workPut}},
		{Title: "Requests that another node passes on to the owner", Works: []string{workForward}},
		{Title: "From the putting at the owner until a claim that waits at another node has the message",
			Works: []string{workHandOff}},
		{Title: "The same of many that wait; memory of each", Works: []string{workCrowd}},
		{Title: "Longest time without an acknowledgement to a writer while the shard is moved",
			Works: []string{workMove}},
		{Title: "From the kill of the owner until a put or a claim at another node is answered",
			Works: []string{workTakeover}},
		{Title: "What was put and came out", Works: []string{workCheck}},
	}}
}
