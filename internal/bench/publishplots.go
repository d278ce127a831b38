package bench

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// publishView shows the rows of the publish bench.
func publishView() view {
	return view{label: publishLabel, pictures: publishPictures(), sections: []section{
		{"One message at a time", []string{workLone}, []string{"per_s"}},
		{"Bursts: the time of the last message", []string{workBurst}, []string{"per_s", "server"}},
		{"Streams: the time of each message", []string{workPoisson}, []string{"server"}},
		{"Flat out", []string{workFlatOut}, []string{"n", "p50_ms", "p99_ms", "max_ms", "rtt_ms"}},
		{"Received and acknowledged", []string{workStream}, []string{"n", "p50_ms", "p99_ms", "max_ms", "rtt_ms"}},
	}}
}

// publishPictures show the rows of the publish bench.
func publishPictures() []picture {
	return []picture{
		{"publish-lone.svg", measure.Plot{Title: "Time to publish one message, p50", YLabel: "ms", YLog: true},
			[]string{workLone}, drawLone, true},
		{"publish-burst.svg", measure.Plot{
			Title: "Time until the last message of a burst is published, p50", XLabel: "messages", YLabel: "ms",
			XLog: true, YLog: true,
		}, []string{workBurst}, drawBurst, true},
		{"publish-poisson.svg", measure.Plot{
			Title: "Time to publish a message of a stream, p50, on loopback", XLabel: "messages/s", YLabel: "ms",
			XLog: true, YLog: true,
		}, []string{workPoisson}, drawStream, true},
		{"publish-requests.svg", measure.Plot{
			Title: "Messages a request of a stream, by round trip", XLabel: "messages/s", YLabel: "messages",
			XLog: true, YLog: true,
		}, []string{workPoisson}, drawRequests, true},
		{"publish-flat-out.svg", measure.Plot{Title: "Messages of 1,000 bytes published a second",
			YLabel: "messages/s"}, []string{workFlatOut}, drawFlatOut, false},
	}
}

// publishLabel names a row in a caption.
func publishLabel(r *measure.Row) string {
	return fmt.Sprintf("%v, server %v", r.Get("work"), r.Get("server"))
}

func drawLone(p *measure.Plot, r *measure.Row) {
	name := fmt.Sprintf("%v, %v publisher, %v ms", r.Get("server"), r.Get("publisher"), r.Get("rtt_ms"))
	addPoint(p, fmt.Sprint(r.Get("case")), measure.Marks, place(p, name), number(r, "p50_ms"))
}

func drawBurst(p *measure.Plot, r *measure.Row) {
	style := measure.LineMarks
	if r.Get("case") == caseRaw {
		style = measure.Dashes
	}
	addPoint(p, fmt.Sprintf("%v, %v ms", r.Get("case"), r.Get("rtt_ms")), style, number(r, "burst"),
		number(r, "p50_ms"))
}

func drawStream(p *measure.Plot, r *measure.Row) {
	if number(r, "rtt_ms") == 0 {
		addPoint(p, streamName(r), measure.LineMarks, number(r, "rate"), number(r, "p50_ms"))
	}
}

func drawRequests(p *measure.Plot, r *measure.Row) {
	if r.Get("case") == caseOurs {
		addPoint(p, fmt.Sprintf("%v ms", r.Get("rtt_ms")), measure.LineMarks, number(r, "rate"),
			number(r, "per_request"))
	}
}

func streamName(r *measure.Row) string {
	if set, _ := r.Get("setting").(string); set != "" {
		return fmt.Sprintf("%v: %s", r.Get("case"), set)
	}
	return fmt.Sprint(r.Get("case"))
}

func drawFlatOut(p *measure.Plot, r *measure.Row) {
	addPoint(p, fmt.Sprint(r.Get("case")), measure.Marks, place(p, fmt.Sprint(r.Get("server"))), number(r, "per_s"))
}
