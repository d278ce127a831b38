package otlp

import "github.com/prometheus/client_golang/prometheus"

var spansTotal = prometheus.NewDesc("hikyaku_trace_spans_total",
	"Spans by what became of them: sent to the collector; lost, since it was away or slow; or forgotten, since "+
		"too many traced messages were in readers' hands.", []string{"outcome"}, nil)

// Describe and Collect let an Exporter be a collector of Prometheus.
func (e *Exporter) Describe(to chan<- *prometheus.Desc) { to <- spansTotal }

// Collect tells the totals.
func (e *Exporter) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(spansTotal, prometheus.CounterValue, float64(e.sent.Load()), "sent")
	to <- prometheus.MustNewConstMetric(spansTotal, prometheus.CounterValue, float64(e.lost.Load()), "lost")
	to <- prometheus.MustNewConstMetric(spansTotal, prometheus.CounterValue, float64(e.spans.Lost()), "forgotten")
}
