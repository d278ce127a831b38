package cluster

import (
	"maps"

	"github.com/prometheus/client_golang/prometheus"
)

// Collector shows a node and its front as metrics. It implements prometheus.Collector.
type Collector struct {
	log   Replica
	front *Front
}

// NewCollector makes one.
func NewCollector(r Replica, f *Front) *Collector { return &Collector{r, f} }

var (
	termDesc = prometheus.NewDesc("hikyaku_cluster_term", "How often the shard has changed hands, as the log counts it.",
		nil, nil)
	ownerDesc = prometheus.NewDesc("hikyaku_cluster_owner", "1 for the node that owns the shard, as this one knows "+
		"it.", []string{"node"}, nil)
	takenDesc = prometheus.NewDesc("hikyaku_cluster_takeovers_total", "How often this node has begun to own the shard.",
		nil, nil)
	openDesc = prometheus.NewDesc("hikyaku_cluster_forwarded_connections", "Connections that came in at another "+
		"node, which passes them on to this one.", []string{"node"}, nil)
	passedDesc = prometheus.NewDesc("hikyaku_cluster_forwarded_connections_total", "Connections that came in at "+
		"another node, which has passed them on to this one.", []string{"node"}, nil)
	unownedDesc = prometheus.NewDesc("hikyaku_cluster_unowned_connections_total", "Connections that came in at this "+
		"node and were closed because nobody owned the shard, or its owner did not take them, for too long.", nil, nil)
	lagDesc = prometheus.NewDesc("hikyaku_cluster_lag_groups", "Groups of the log that a node does not have yet, as "+
		"the owner knows it.", []string{"node"}, nil)
	aliveDesc = prometheus.NewDesc("hikyaku_cluster_node_alive", "1 for a node that this one hears of, else 0.",
		[]string{"node"}, nil)
)

// Describe implements prometheus.Collector.
func (*Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{termDesc, ownerDesc, takenDesc, openDesc, passedDesc, unownedDesc, lagDesc,
		aliveDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	s := c.log.Status()
	gauge(termDesc, float64(s.Owner.Term))
	if s.Owner.Node != "" {
		gauge(ownerDesc, 1, s.Owner.Node)
	}
	counter(takenDesc, c.front.taken.Load())
	counter(unownedDesc, c.front.unowned.Load())
	c.front.mu.Lock()
	from := maps.Clone(c.front.arrivals)
	c.front.mu.Unlock()
	for node, a := range from {
		gauge(openDesc, float64(a.open), node)
		counter(passedDesc, a.all, node)
	}
	for _, m := range s.Members {
		alive := 0.0
		if m.Alive {
			alive = 1
		}
		gauge(aliveDesc, alive, m.Node)
		if m.Known {
			gauge(lagDesc, float64(m.Lag), m.Node)
		}
	}
}
