package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/shard"
)

var (
	relayCarried = prometheus.NewDesc("hikyaku_relay_messages_total",
		"Messages that were carried from one shard to another.", nil, nil)
	relayWaiting = prometheus.NewDesc("hikyaku_relay_waiting",
		"Messages on their way from one shard to another.", nil, nil)
	relayOldest = prometheus.NewDesc("hikyaku_relay_oldest_seconds",
		"Age of the oldest message on its way from one shard to another; 0 when there is none.", nil, nil)
)

// relayCollector asks the relay when Prometheus does.
type relayCollector struct{ router *shard.Router }

// Describe implements prometheus.Collector.
func (c relayCollector) Describe(out chan<- *prometheus.Desc) {
	out <- relayCarried
	out <- relayWaiting
	out <- relayOldest
}

// Collect implements prometheus.Collector.
func (c relayCollector) Collect(out chan<- prometheus.Metric) {
	st, err := c.router.Relay(context.Background())
	if err != nil {
		out <- prometheus.NewInvalidMetric(relayWaiting, err)
		return
	}
	age := 0.0
	if !st.Oldest.IsZero() {
		age = max(0, time.Since(st.Oldest).Seconds())
	}
	out <- prometheus.MustNewConstMetric(relayCarried, prometheus.CounterValue, float64(st.Carried))
	out <- prometheus.MustNewConstMetric(relayWaiting, prometheus.GaugeValue, float64(st.Waiting))
	out <- prometheus.MustNewConstMetric(relayOldest, prometheus.GaugeValue, age)
}
