package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/machine"
)

// newBuildInfo shows which hikyaku this is.
func newBuildInfo() prometheus.Collector {
	b := thisBuild()
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "hikyaku_build_info", Help: "Which hikyaku this is; always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "goversion": b.Go, "tags": b.Tags}})
	g.Set(1)
	return g
}

var roomBytes = prometheus.NewDesc("hikyaku_data_dir_bytes",
	"The file system in which data_dir is: its size, and what is free of it.", []string{"kind"}, nil)

// roomPatience is how long a disk may take to say how large it is. One that is gone may never do.
const roomPatience = time.Second

// roomCollector asks the disk of data_dir when Prometheus does.
type roomCollector struct{ disk *machine.Disk }

// Describe implements prometheus.Collector.
func (c roomCollector) Describe(out chan<- *prometheus.Desc) { out <- roomBytes }

// Collect implements prometheus.Collector.
func (c roomCollector) Collect(out chan<- prometheus.Metric) {
	r, known := c.disk.Room(roomPatience)
	if !known {
		return
	}
	out <- prometheus.MustNewConstMetric(roomBytes, prometheus.GaugeValue, float64(r.All), "all")
	out <- prometheus.MustNewConstMetric(roomBytes, prometheus.GaugeValue, float64(r.Free), "free")
}
