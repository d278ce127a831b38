package main

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// newBuildInfo shows which hikyaku this is.
func newBuildInfo() prometheus.Collector {
	b := thisBuild()
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "hikyaku_build_info", Help: "Which hikyaku this is; always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "goversion": b.Go, "tags": b.Tags}})
	g.Set(1)
	return g
}

var volumeBytes = prometheus.NewDesc("hikyaku_data_dir_bytes",
	"The file system in which data_dir is: its size, and what is free of it.", []string{"kind"}, nil)

// volumePatience is how long a file system may take to say how large it is. One that is gone may never do.
const volumePatience = time.Second

// volumeCollector asks the file system of a folder when Prometheus does.
type volumeCollector struct {
	dir    string
	look   func(dir string) (file.Volume, error)
	mu     sync.Mutex
	asking chan volumeAnswer // nil: nobody asks
}

type volumeAnswer struct {
	file.Volume
	err error
}

// Describe implements prometheus.Collector.
func (c *volumeCollector) Describe(out chan<- *prometheus.Desc) { out <- volumeBytes }

// Collect implements prometheus.Collector. However often it is called, one goroutine asks at a time.
func (c *volumeCollector) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asking == nil {
		asking := make(chan volumeAnswer, 1)
		c.asking = asking
		go func() {
			v, err := c.look(c.dir)
			asking <- volumeAnswer{v, err}
		}()
	}
	select {
	case v := <-c.asking:
		c.asking = nil
		if v.err != nil || v.Bytes == 0 {
			return // not known
		}
		out <- prometheus.MustNewConstMetric(volumeBytes, prometheus.GaugeValue, float64(v.Bytes), "all")
		out <- prometheus.MustNewConstMetric(volumeBytes, prometheus.GaugeValue, float64(v.Free), "free")
	case <-time.After(volumePatience):
	}
}
