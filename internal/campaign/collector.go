package campaign

import "github.com/prometheus/client_golang/prometheus"

// Collector shows how many campaigns are remembered, by state. What each is at is not among the metrics: there is no
// bound to campaigns.
type Collector struct {
	registry *Registry
	total    *prometheus.Desc
}

// NewCollector makes a collector of a registry's campaigns.
func NewCollector(r *Registry) *Collector {
	total := prometheus.NewDesc("hikyaku_campaigns", "Campaigns that are remembered, by state.", []string{"state"}, nil)
	return &Collector{r, total}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) { to <- c.total }

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	totals := c.registry.Totals()
	for _, s := range States() {
		to <- prometheus.MustNewConstMetric(c.total, prometheus.GaugeValue, float64(totals[s]), string(s))
	}
}
