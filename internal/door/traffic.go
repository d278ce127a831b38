package door

import (
	"context"
	"maps"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Traffic counts what goes through one door, under the same names for every door; it is a prometheus.Collector. Its
// methods may be called from any goroutine. A nil Traffic counts nothing.
type Traffic struct {
	requests    *prometheus.CounterVec
	counters    atomic.Pointer[map[outcome]prometheus.Counter] // of requests, each as it was first needed
	connections prometheus.Gauge
	received    prometheus.Counter
	sent        prometheus.Counter
	waiting     *prometheus.GaugeVec
	unshaken    prometheus.Counter
	seats       *doorSeats                   // nil: as many connections as come
	from        func() (net.Listener, error) // nil: the door opens its address itself
}

// From has the door's connections come from a listener that open makes, instead of from an address that the door opens.
// It is called before the door opens.
func (t *Traffic) From(open func() (net.Listener, error)) { t.from = open }

// Open opens a door's address, unless From has said where its connections come from.
func (t *Traffic) Open(ctx context.Context, lc *net.ListenConfig, addr string) (net.Listener, error) {
	if t != nil && t.from != nil {
		return t.from()
	}
	return lc.Listen(ctx, "tcp", addr)
}

// Share has the door's connections take seats, which several doors share. It is called before the door opens.
func (t *Traffic) Share(s *Seats) { t.seats = s.ofDoor() }

// outcome is a call and what it was answered with.
type outcome struct{ call, code string }

// keptOutcomes bounds the counters that are found without the vector, which hashes and locks for each request.
const keptOutcomes = 1024

// What is waited for.
const (
	ForMessages = "messages"
	ForRoom     = "room" // in the account of bytes
)

// NewTraffic makes the counters of a door, which is named as in the configuration.
func NewTraffic(door string) *Traffic {
	of := prometheus.Labels{"door": door}
	bytes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hikyaku_door_bytes_total", Help: "Bytes that clients of a door sent and got, as they were on the wire.",
		ConstLabels: of,
	}, []string{"direction"})
	return &Traffic{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hikyaku_door_requests_total", Help: "Requests of a door that have ended, by call and by what they " +
				"were answered with.", ConstLabels: of,
		}, []string{"call", "code"}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{Name: "hikyaku_door_connections",
			Help: "Connections of a door that are open.", ConstLabels: of}),
		received: bytes.WithLabelValues("received"),
		sent:     bytes.WithLabelValues("sent"),
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "hikyaku_door_waiting", Help: "Requests and streams of a door that wait, by what for.",
			ConstLabels: of,
		}, []string{"for"}),
		unshaken: prometheus.NewCounter(prometheus.CounterOpts{Name: "hikyaku_door_tls_handshakes_failed_total",
			Help:        "Connections of a door that ended before TLS had shaken hands: the log says nothing of them.",
			ConstLabels: of}),
	}
}

// Describe implements prometheus.Collector.
func (t *Traffic) Describe(to chan<- *prometheus.Desc) {
	for _, c := range t.all() {
		c.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (t *Traffic) Collect(to chan<- prometheus.Metric) {
	for _, c := range t.all() {
		c.Collect(to)
	}
}

func (t *Traffic) all() []prometheus.Collector {
	return []prometheus.Collector{t.requests, t.connections, t.received, t.sent, t.waiting, t.unshaken}
}

// Ended counts a request. Calls and codes are few and known: never what a client made up.
func (t *Traffic) Ended(call, code string) {
	if t == nil {
		return
	}
	if known := t.counters.Load(); known != nil {
		if c, ok := (*known)[outcome{call, code}]; ok {
			c.Inc()
			return
		}
	}
	t.first(outcome{call, code}).Inc()
}

// first finds the counter of an outcome that is not kept yet, and keeps it.
func (t *Traffic) first(o outcome) prometheus.Counter {
	c := t.requests.WithLabelValues(o.call, o.code)
	for {
		known := t.counters.Load()
		more := map[outcome]prometheus.Counter{}
		if known != nil {
			if len(*known) >= keptOutcomes {
				return c
			}
			maps.Copy(more, *known)
		}
		more[outcome{strings.Clone(o.call), strings.Clone(o.code)}] = c // they may be parts of a request
		if t.counters.CompareAndSwap(known, &more) {
			return c
		}
	}
}

// HandshakeFailed counts a connection that ended before TLS had shaken hands. Whoever connects could fill the log.
func (t *Traffic) HandshakeFailed() {
	if t != nil {
		t.unshaken.Inc()
	}
}

// Waiting is the gauge of those who wait for something. nil: nobody counts.
func (t *Traffic) Waiting(what string) prometheus.Gauge {
	if t == nil {
		return nil
	}
	return t.waiting.WithLabelValues(what)
}

// Listen is l, whose connections and bytes are counted.
func (t *Traffic) Listen(l net.Listener) net.Listener {
	if t == nil {
		return l
	}
	return &countedListener{Listener: l, t: t, closed: make(chan struct{})}
}

type countedListener struct {
	net.Listener
	t      *Traffic
	once   sync.Once
	closed chan struct{}
}

// Accept implements net.Listener.
func (l *countedListener) Accept() (net.Conn, error) {
	leave, ok := l.t.seats.take(l.closed)
	if !ok {
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		leave()
		return nil, err
	}
	l.t.connections.Inc()
	return &countedConn{Conn: c, t: l.t, leave: sync.OnceFunc(func() {
		l.t.connections.Dec()
		leave()
	})}, nil
}

// Close implements net.Listener.
func (l *countedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type countedConn struct {
	net.Conn
	t     *Traffic
	leave func()
}

// NetConn is the connection below.
func (c *countedConn) NetConn() net.Conn { return c.Conn }

// Read implements net.Conn.
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.t.received.Add(float64(n))
	return n, err
}

// Write implements net.Conn.
func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.t.sent.Add(float64(n))
	return n, err
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
