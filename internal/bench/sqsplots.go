package bench

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// sqsView shows the rows of the SQS bench.
func sqsView() view {
	return view{label: sqsLabel, pictures: sqsPictures(), sections: []section{
		{"Messages sent through SQS's protocol", []string{workSend, workSendTen}, nil},
		{"Messages received and deleted through SQS's protocol", []string{workReceive, workReceiveTen}, nil},
		{"From the sending to one of those that wait, through SQS's protocol", []string{workHandOff},
			[]string{"per_s", "backlog"}},
	}}
}

// sqsPictures show the rows of the SQS bench.
func sqsPictures() []picture {
	works := []string{workSend, workReceive, workSendTen, workReceiveTen}
	return []picture{
		{"sqs-rates.svg", measure.Plot{Title: "Messages of 1,000 bytes a second, standard queue", XLabel: "clients",
			YLabel: "messages/s", XLog: true, YLog: true}, works, drawSQSRate, true},
		{"sqs-fifo.svg", measure.Plot{Title: "Messages of 1,000 bytes a second, FIFO queue, by groups",
			YLabel: "messages/s", YLog: true}, works, drawSQSGroups, true},
		{"sqs-backlog.svg", measure.Plot{Title: "Messages of 1,000 bytes received and deleted a second, by what " +
			"waits already", YLabel: "messages/s", YLog: true}, works, drawSQSBacklog, true},
		{"sqs-hand-off.svg", measure.Plot{Title: "From the sending until one that waits has the message", YLabel: "ms",
			YLog: true}, []string{workHandOff}, drawSQSHandOff, false},
	}
}

// drawSQSRate shows what there is of queues with nothing in them.
func drawSQSRate(p *measure.Plot, r *measure.Row) {
	if number(r, "groups") == 0 && number(r, "backlog") == 0 {
		addPoint(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("work")), measure.LineMarks, number(r, "clients"),
			number(r, "per_s"))
	}
}

func drawSQSGroups(p *measure.Plot, r *measure.Row) {
	if number(r, "groups") > 0 && number(r, "backlog") == 0 && r.Get("stuck") == nil {
		addPoint(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("work")), measure.LineMarks,
			place(p, measure.Count(int64(number(r, "groups")))+" groups"), number(r, "per_s"))
	}
}

func drawSQSBacklog(p *measure.Plot, r *measure.Row) {
	if work := r.Get("work"); work != workReceive && work != workReceiveTen || number(r, "backlog") == 0 {
		return
	}
	name := fmt.Sprintf("%v, %s", r.Get("queue"), measure.Count(int64(number(r, "backlog"))))
	if r.Get("stuck") != nil {
		name += ", stuck"
	}
	addPoint(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("work")), measure.Marks, place(p, name), number(r, "per_s"))
}

func drawSQSHandOff(p *measure.Plot, r *measure.Row) {
	for _, v := range []struct{ name, value string }{{"put p50", "put_p50_ms"}, {"p50", "p50_ms"},
		{"put p99", "put_p99_ms"}, {"p99", "p99_ms"}} {
		addPoint(p, fmt.Sprint(r.Get("case")), measure.Marks, place(p, v.name), number(r, v.value))
	}
}

// sqsLabel names a row in a caption.
func sqsLabel(r *measure.Row) string {
	return fmt.Sprintf("%v, %v waiting", r.Get("case"), r.Get("waiters"))
}
