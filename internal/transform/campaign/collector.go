package campaign

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/push/allowance"
)

// Capper is met by transforms that bound how often a user is told something.
type Capper interface {
	// Cap may be called from any goroutine and at any time.
	Cap() allowance.Stats
}

// Collector is a prometheus.Collector of gates with a cap.
type Collector struct {
	gates                     func() map[string]Capper
	over, remembered, tooSoon *prometheus.Desc
}

// NewCollector makes a collector of the gates that there are, by their names.
func NewCollector(gates func() map[string]Capper) *Collector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"gate"}, nil)
	}
	return &Collector{
		gates: gates,
		over: desc("hikyaku_cap_capped_total",
			"Messages that were not sent, as their users have had as many as are allowed."),
		remembered: desc("hikyaku_cap_remembered", "Messages that count for their users now."),
		tooSoon: desc("hikyaku_cap_forgotten_total",
			"Messages that were forgotten while they counted: remember is too small."),
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	to <- c.over
	to <- c.remembered
	to <- c.tooSoon
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	gates := c.gates()
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		s := gates[name].Cap()
		to <- prometheus.MustNewConstMetric(c.over, prometheus.CounterValue, float64(s.Over), name)
		to <- prometheus.MustNewConstMetric(c.remembered, prometheus.GaugeValue, float64(s.Remembered), name)
		to <- prometheus.MustNewConstMetric(c.tooSoon, prometheus.CounterValue, float64(s.Forgotten), name)
	}
}
