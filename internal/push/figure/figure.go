// Package figure shows the metrics of sinks that push, under the same names for all of them: [Collector] asks sinks
// for their [Figures] when somebody wants to see them, so that nothing is counted twice. What became of messages is
// the pipeline's to show, of these sinks as of others.
//
//	err := metrics.Register(figure.NewCollector(func() map[string]figure.Teller {
//		return map[string]figure.Teller{"phones": sink}
//	}))
package figure

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/push"
)

// Figures are the state and the counts of a sink at one moment. Counts are since its start.
type Figures struct {
	Refused map[string]uint64 // by the words of the far end and some of the sink's own; there are few
	Dead    int               // devices that are remembered as dead
	Resting int               // devices that are left alone for a while
	Client  push.Stats        // of all clients: Add
	Apps    map[string]App    // by the name of the app, project or push service; there are few
}

// App is what a sink knows of what it sends for.
type App struct {
	Paused   bool          // all of its pushes wait, since the far end refuses them or wants a rest
	TokenAge time.Duration // of the token that shows who sends; 0: there is none
}

// Add adds up what is shown of clients.
func (f *Figures) Add(s push.Stats) {
	c := &f.Client
	c.Connections += s.Connections + s.Leaving
	c.StreamsUsed += s.StreamsUsed
	c.StreamsLimit += s.StreamsLimit
	c.Waiting += s.Waiting
	c.Responses += s.Responses
	c.Unknown += s.Unknown
}

// Teller is met by sinks that push.
type Teller interface {
	// Figures may be called from any goroutine and at any time, before the start and after the end, too.
	Figures() Figures
}

// Collector is a prometheus.Collector of sinks.
type Collector struct {
	sinks func() map[string]Teller

	requests, refused, dead, resting, inFlight *prometheus.Desc
	waiting, connections, streams, paused, age *prometheus.Desc
}

// NewCollector makes a collector of the sinks that there are, by their names.
func NewCollector(sinks func() map[string]Teller) *Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"sink"}, labels...), nil)
	}
	return &Collector{
		sinks: sinks,
		requests: desc("hikyaku_push_requests_total",
			"Requests of a sink that pushes that were answered, or whose answer was lost."),
		refused: desc("hikyaku_push_refused_total",
			"Pushes that were not taken, by the far end's reason.", "reason"),
		dead:        desc("hikyaku_push_dead_devices", "Devices that a sink remembers as dead and sends nothing to."),
		resting:     desc("hikyaku_push_resting_devices", "Devices that a sink leaves alone for a while."),
		inFlight:    desc("hikyaku_push_in_flight", "Pushes of a sink that are with the far end."),
		waiting:     desc("hikyaku_push_waiting", "Pushes of a sink that wait for a stream of a connection."),
		connections: desc("hikyaku_push_connections", "Open connections of a sink that pushes."),
		streams: desc("hikyaku_push_streams",
			"Pushes that may be with the far end at once on the open connections."),
		paused: desc("hikyaku_push_paused",
			"1 while all pushes for an app, project or push service wait.", "app"),
		age: desc("hikyaku_push_token_age_seconds",
			"Age of the token that shows an app's far end who sends.", "app"),
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.requests, c.refused, c.dead, c.resting, c.inFlight, c.waiting, c.connections, c.streams, c.paused, c.age,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	sinks := c.sinks()
	for _, name := range slices.Sorted(maps.Keys(sinks)) {
		c.collect(to, name, sinks[name].Figures())
	}
}

func (c *Collector) collect(to chan<- prometheus.Metric, sink string, f Figures) {
	metric := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, v, append([]string{sink}, labels...)...)
	}
	gauge := func(d *prometheus.Desc, v int) { metric(d, prometheus.GaugeValue, float64(v)) }
	metric(c.requests, prometheus.CounterValue, float64(f.Client.Responses+f.Client.Unknown))
	for reason, n := range f.Refused {
		metric(c.refused, prometheus.CounterValue, float64(n), label(reason))
	}
	gauge(c.dead, f.Dead)
	gauge(c.resting, f.Resting)
	gauge(c.inFlight, f.Client.StreamsUsed)
	gauge(c.waiting, f.Client.Waiting)
	gauge(c.connections, f.Client.Connections)
	gauge(c.streams, f.Client.StreamsLimit)
	for name, app := range f.Apps {
		paused := 0.0
		if app.Paused {
			paused = 1
		}
		metric(c.paused, prometheus.GaugeValue, paused, label(name))
		if app.TokenAge > 0 {
			metric(c.age, prometheus.GaugeValue, app.TokenAge.Seconds(), label(name))
		}
	}
}

// label makes a text of a far end, or of a message, fit for a label.
func label(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
