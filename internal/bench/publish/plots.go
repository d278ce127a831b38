package publish

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// view shows the rows of the publish bench.
func view() harness.View {
	return harness.View{Label: publishLabel, Pictures: publishPictures(), Sections: []harness.Section{
		{Title: "One message at a time", Works: []string{workLone}, Hides: []string{"per_s"}},
		{Title: "Bursts: the time of the last message", Works: []string{workBurst}, Hides: []string{"per_s"}},
		{Title: "Streams: the time of each message", Works: []string{workPoisson}},
		{Title: "Flat out", Works: []string{workFlatOut}, Hides: []string{"n", "p50_ms", "p99_ms", "max_ms", "rtt_ms"}},
		{Title: "Received and acknowledged", Works: []string{workStream},
			Hides: []string{"n", "p50_ms", "p99_ms", "max_ms", "rtt_ms"}},
	}}
}

// publishPictures show the rows of the publish bench.
func publishPictures() []harness.Picture {
	return []harness.Picture{
		{File: "publish-lone.svg", Plot: measure.Plot{Title: "Time to publish one message, p50", YLabel: "ms",
			YLog: true},
			Works: []string{workLone}, Draw: drawLone, Bare: true},
		{File: "publish-burst.svg", Plot: measure.Plot{
			Title: "Time until the last message of a burst is published, p50", XLabel: "messages", YLabel: "ms",
			XLog: true, YLog: true,
		}, Works: []string{workBurst}, Draw: drawBurst, Bare: true},
		{File: "publish-poisson.svg", Plot: measure.Plot{
			Title: "Time to publish a message of a stream, p50, on loopback", XLabel: "messages/s", YLabel: "ms",
			XLog: true, YLog: true,
		}, Works: []string{workPoisson}, Draw: drawStream, Bare: true},
		{File: "publish-requests.svg", Plot: measure.Plot{
			Title: "Messages a request of a stream, by round trip", XLabel: "messages/s", YLabel: "messages",
			XLog: true, YLog: true,
		}, Works: []string{workPoisson}, Draw: drawRequests, Bare: true},
		{File: "publish-flat-out.svg", Plot: measure.Plot{Title: "Messages of 1,000 bytes published a second",
			YLabel: "messages/s"}, Works: []string{workFlatOut}, Draw: drawFlatOut, Bare: false},
	}
}

// publishLabel names a row in a caption.
func publishLabel(r *measure.Row) string {
	return fmt.Sprintf("%v, server %v", r.Get("work"), r.Get("server"))
}

func drawLone(p *measure.Plot, r *measure.Row) {
	name := fmt.Sprintf("%v, %v publisher, %v ms", r.Get("server"), r.Get("publisher"), r.Get("rtt_ms"))
	harness.AddPoint(p, fmt.Sprint(r.Get("case")), measure.Marks, harness.Place(p, name), harness.Number(r, "p50_ms"))
}

func drawBurst(p *measure.Plot, r *measure.Row) {
	style := measure.LineMarks
	if r.Get("case") == caseRaw {
		style = measure.Dashes
	}
	name := fmt.Sprintf("%v, %v ms", r.Get("case"), r.Get("rtt_ms"))
	if r.Get("server") == serverDurable {
		name = fmt.Sprintf("%v, durable", r.Get("case"))
	}
	harness.AddPoint(p, name, style, harness.Number(r, "burst"), harness.Number(r, "p50_ms"))
}

func drawStream(p *measure.Plot, r *measure.Row) {
	if harness.Number(r, "rtt_ms") == 0 && r.Get("server") == serverInstant {
		harness.AddPoint(p, streamName(r), measure.LineMarks, harness.Number(r, "rate"), harness.Number(r, "p50_ms"))
	}
}

func drawRequests(p *measure.Plot, r *measure.Row) {
	if r.Get("case") == harness.CaseOurs && r.Get("server") == serverInstant {
		harness.AddPoint(p, fmt.Sprintf("%v ms", r.Get("rtt_ms")), measure.LineMarks, harness.Number(r, "rate"),
			harness.Number(r, "per_request"))
	}
}

func streamName(r *measure.Row) string {
	if set, _ := r.Get("setting").(string); set != "" {
		return fmt.Sprintf("%v: %s", r.Get("case"), set)
	}
	return fmt.Sprint(r.Get("case"))
}

func drawFlatOut(p *measure.Plot, r *measure.Row) {
	harness.AddPoint(p, fmt.Sprint(r.Get("case")), measure.Marks, harness.Place(p, fmt.Sprint(r.Get("server"))),
		harness.Number(r, "per_s"))
}
