package pipeline

import "github.com/prometheus/client_golang/prometheus"

// Collector shows what became of the messages of a pipeline's sinks, and what its sources count: it is a
// prometheus.Collector that reads Stats when it is asked.
type Collector struct {
	pipeline interface{ Stats() []NodeStats }

	messages, retries, inFlight, receipts, events *prometheus.Desc
}

// NewCollector makes a collector of a Pipeline or a Runner, which need not run yet.
func NewCollector(p interface{ Stats() []NodeStats }) *Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"sink"}, labels...), nil)
	}
	return &Collector{
		pipeline: p,
		messages: desc("hikyaku_sink_messages_total",
			"Messages that a sink is done with, by what became of them.", "outcome"),
		retries: desc("hikyaku_sink_retries_total",
			"Requests of a sink of which a message or more have to be sent again."),
		receipts: desc("hikyaku_sink_receipts_total",
			"Receipts of a sink's messages, by whether their queue has them.", "outcome"),
		inFlight: desc("hikyaku_sink_in_flight",
			"Messages in a sink: under way, waiting, or sleeping until they are tried again."),
		events: prometheus.NewDesc("hikyaku_source_events_total",
			"What a source has counted beside messages, such as what was cut or refused.",
			[]string{"source", "event"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	to <- c.messages
	to <- c.retries
	to <- c.inFlight
	to <- c.receipts
	to <- c.events
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	for _, n := range c.pipeline.Stats() {
		if n.Kind == KindSource {
			for event, count := range n.Counts {
				to <- prometheus.MustNewConstMetric(c.events, prometheus.CounterValue, float64(count), n.Name, event)
			}
		}
		if n.Kind != KindSink {
			continue
		}
		for outcome, count := range map[string]uint64{
			"delivered": n.Delivered, "rejected": n.Rejected, "expired": n.Expired, "replaced": n.Replaced,
		} {
			to <- prometheus.MustNewConstMetric(c.messages, prometheus.CounterValue, float64(count), n.Name, outcome)
		}
		if n.HasReceipts {
			to <- prometheus.MustNewConstMetric(c.receipts, prometheus.CounterValue, float64(n.Receipts), n.Name, "put")
			to <- prometheus.MustNewConstMetric(c.receipts, prometheus.CounterValue, float64(n.ReceiptsDropped), n.Name,
				"dropped")
		}
		to <- prometheus.MustNewConstMetric(c.retries, prometheus.CounterValue, float64(n.Retries), n.Name)
		to <- prometheus.MustNewConstMetric(c.inFlight, prometheus.GaugeValue, float64(n.InFlight), n.Name)
	}
}
