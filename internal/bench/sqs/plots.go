package sqs

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// view shows the rows of the SQS bench.
func view() harness.View {
	return harness.View{Label: sqsLabel, Pictures: sqsPictures(), Sections: []harness.Section{
		{Title: "Messages sent through SQS's protocol", Works: []string{workSend, workSendTen}},
		{Title: "Messages received and deleted through SQS's protocol", Works: []string{workReceive, workReceiveTen}},
		{Title: "From the sending to one of those that wait, through SQS's protocol", Works: []string{workHandOff},
			Hides: []string{"per_s", "backlog"}},
	}}
}

// sqsPictures show the rows of the SQS bench.
func sqsPictures() []harness.Picture {
	works := []string{workSend, workReceive, workSendTen, workReceiveTen}
	return []harness.Picture{
		{File: "sqs-rates.svg", Plot: measure.Plot{Title: "Messages of 1,000 bytes a second, standard queue",
			XLabel: "clients",
			YLabel: "messages/s", XLog: true, YLog: true}, Works: works, Draw: drawSQSRate, Bare: true},
		{File: "sqs-fifo.svg", Plot: measure.Plot{Title: "Messages of 1,000 bytes a second, FIFO queue, by groups",
			YLabel: "messages/s", YLog: true}, Works: works, Draw: drawSQSGroups, Bare: true},
		{File: "sqs-backlog.svg",
			Plot: measure.Plot{Title: "Messages of 1,000 bytes received and deleted a second, by what " +
				"waits already", YLabel: "messages/s", YLog: true}, Works: works, Draw: drawSQSBacklog, Bare: true},
		{File: "sqs-hand-off.svg", Plot: measure.Plot{Title: "From the sending until one that waits has the message",
			YLabel: "ms",
			YLog:   true}, Works: []string{workHandOff}, Draw: drawSQSHandOff, Bare: false},
	}
}

// drawSQSRate shows what there is of queues with nothing in them.
func drawSQSRate(p *measure.Plot, r *measure.Row) {
	if harness.Number(r, "groups") == 0 && harness.Number(r, "backlog") == 0 {
		harness.AddPoint(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("work")), measure.LineMarks,
			harness.Number(r, "clients"),
			harness.Number(r, "per_s"))
	}
}

func drawSQSGroups(p *measure.Plot, r *measure.Row) {
	if harness.Number(r, "groups") > 0 && harness.Number(r, "backlog") == 0 && r.Get("stuck") == nil {
		harness.AddPoint(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("work")), measure.LineMarks,
			harness.Place(p, measure.Count(int64(harness.Number(r, "groups")))+" groups"), harness.Number(r, "per_s"))
	}
}

func drawSQSBacklog(p *measure.Plot, r *measure.Row) {
	if work := r.Get("work"); work != workReceive && work != workReceiveTen || harness.Number(r, "backlog") == 0 {
		return
	}
	name := fmt.Sprintf("%v, %s", r.Get("queue"), measure.Count(int64(harness.Number(r, "backlog"))))
	if r.Get("stuck") != nil {
		name += ", stuck"
	}
	harness.AddPoint(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("work")), measure.Marks, harness.Place(p, name),
		harness.Number(r, "per_s"))
}

func drawSQSHandOff(p *measure.Plot, r *measure.Row) {
	for _, v := range []struct{ name, value string }{{"put p50", "put_p50_ms"}, {"p50", "p50_ms"},
		{"put p99", "put_p99_ms"}, {"p99", "p99_ms"}} {
		harness.AddPoint(p, fmt.Sprint(r.Get("case")), measure.Marks, harness.Place(p, v.name),
			harness.Number(r, v.value))
	}
}

// sqsLabel names a row in a caption.
func sqsLabel(r *measure.Row) string {
	return fmt.Sprintf("%v, %v waiting", r.Get("case"), r.Get("waiters"))
}
