package http

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Metrics are what /metrics shows, in a registry of their own: requests of this door, all queues, the journal, and the
// hops of every message. Other rooms feed Hop and may Register collectors. Methods may be called from any goroutine.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	returned prometheus.Counter
	hops     *prometheus.HistogramVec
	logins   *prometheus.CounterVec
	unkept   prometheus.Counter
	handler  http.Handler

	watch  sync.Once
	most   int
	mu     sync.RWMutex
	labels map[queue.Name]*hopSet // at most so many, and the one for the rest
	rest   *hopSet
}

// hopSet are the histograms of one queue.
type hopSet [message.HopCount]prometheus.Observer

// DefaultMetricQueues is how many queues have a label of their own.
const DefaultMetricQueues = 200

// restLabel is the queue label of all queues beyond the bound together.
const restLabel = "(others)"

// NewMetrics makes metrics that know no store yet: New, or Watch, gives them one. The first maxQueues queues have a
// label of their own (0: DefaultMetricQueues), all others share one: the number of time series is bounded, whatever
// names clients invent.
func NewMetrics(maxQueues int) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hikyaku_http_requests_total", Help: "Requests of the HTTP door that have ended. Code 499: the " +
				"client went away first.",
		}, []string{"operation", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hikyaku_http_request_seconds", Help: "How long requests took, with the time that claims waited.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 10),
		}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hikyaku_http_requests_in_flight", Help: "Requests that are being served.",
		}),
		returned: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hikyaku_http_claims_returned_total",
			Help: "Claims that were put back because their client was gone.",
		}),
		hops: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hikyaku_hop_seconds", Help: "How long messages took from the hop before to this one.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 11),
		}, []string{"queue", "hop"}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hikyaku_logins_failed_total", Help: "Logins that failed, by door. Reason slowed: refused unlooked " +
				"at, since too many had failed.",
		}, []string{"door", "reason"}),
		unkept: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hikyaku_audit_lost_total", Help: "Administrative acts that were done and are not in the audit.",
		}),
		most:   or(maxQueues, DefaultMetricQueues),
		labels: map[queue.Name]*hopSet{},
	}
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: metricReaders})
	m.registry.MustRegister(m.requests, m.seconds, m.inFlight, m.returned, m.hops, m.logins, m.unkept,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Watch lets the metrics show a store's queues and journal. Once is enough: a second call does nothing.
func (m *Metrics) Watch(store Store) {
	m.watch.Do(func() { m.registry.MustRegister(newStoreCollector(store, m.most)) })
}

// Settled notes the last hop of a message that is done: it is what queue.Options.Observe wants.
func (m *Metrics) Settled(n queue.Name, hops *message.Hops) {
	if d, ok := hops.Since(message.Settled); ok {
		m.Hop(n, message.Settled, d)
	}
}

// AuditLost notes that an act is not in the audit.
func (m *Metrics) AuditLost() { m.unkept.Inc() }

// LoginFailed notes that a login failed. Doors and reasons are few and known.
func (m *Metrics) LoginFailed(door, reason string) { m.logins.WithLabelValues(door, reason).Inc() }

// Register adds collectors of another room. It fails when one of their names is taken.
func (m *Metrics) Register(cs ...prometheus.Collector) error {
	for _, c := range cs {
		if err := m.registry.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// Hop notes that a message of the queue took d from the hop before to this one. Pipelines call it for every message. n
// is a full name, with its namespace resolved.
func (m *Metrics) Hop(n queue.Name, hop message.Hop, d time.Duration) {
	if int(hop) >= message.HopCount {
		return
	}
	m.set(n)[hop].Observe(d.Seconds())
}

func (m *Metrics) set(n queue.Name) *hopSet {
	m.mu.RLock()
	known := m.labels[n]
	m.mu.RUnlock()
	if known != nil {
		return known
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.labels[n]; s != nil {
		return s
	}
	if len(m.labels) >= m.most {
		if m.rest == nil {
			m.rest = m.newSet(restLabel)
		}
		return m.rest
	}
	s := m.newSet(n.String())
	m.labels[n] = s
	return s
}

func (m *Metrics) newSet(label string) *hopSet {
	var s hopSet
	for h := range message.HopCount {
		s[h] = m.hops.WithLabelValues(label, message.Hop(h).String())
	}
	return &s
}

// claimed notes the hop of a claim that this door hands out.
func (m *Metrics) claimed(c *queue.Claim, now time.Time) {
	hops := c.Message.Hops
	if hops[message.Claimed] == 0 {
		hops.Mark(message.Claimed, now)
	}
	if d, ok := hops.Since(message.Claimed); ok {
		m.Hop(c.Queue, message.Claimed, d)
	}
}

// request counts a request; the function it returns is called at its end.
func (m *Metrics) request(operation string) func(status int, took time.Duration) {
	m.inFlight.Inc()
	return func(status int, took time.Duration) {
		m.inFlight.Dec()
		m.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
		m.seconds.WithLabelValues(operation).Observe(took.Seconds())
	}
}

// metricReaders is how many requests are shown the metrics at once: each holds a copy of all of them until it is
// written. More are refused with 503.
const metricReaders = 4

// Handler serves the metrics to Prometheus. It is the same one each time, so that it counts all who read.
func (m *Metrics) Handler() http.Handler { return m.handler }

// metrics serves everything about all queues: with users, to those who are granted admin on everything.
func metrics(c *call) error {
	if err := c.overAll("see the metrics of all queues"); err != nil {
		return err
	}
	c.d.metrics.Handler().ServeHTTP(c.w, c.r)
	return nil
}
