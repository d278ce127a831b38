package door

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Figures are what a door has done so far, and how many connections it has.
type Figures struct {
	Connections      int64
	Requests, Errors uint64 // that have ended; Errors are those of Requests that were refused or failed
	Received, Sent   uint64 // bytes
}

// Figures reads the counters. Of calls that share a counter with others (see keptOutcomes) nothing is read.
func (t *Traffic) Figures() (f Figures) {
	if t == nil {
		return f
	}
	f.Connections = int64(value(t.connections))
	f.Received, f.Sent = uint64(value(t.received)), uint64(value(t.sent))
	known := t.counters.Load()
	if known == nil {
		return f
	}
	for o, c := range *known {
		n := uint64(value(c))
		f.Requests += n
		if !wentWell(o.code) {
			f.Errors += n
		}
	}
	return f
}

// wentWell tells whether a request that was answered with a code did what it asked for: "OK" of gRPC, "0" of MySQL, a
// status of HTTP below 400. Numbers of MySQL's errors have four digits.
func wentWell(code string) bool {
	return code == "OK" || code == "0" || len(code) == 3 && code[0] >= '1' && code[0] <= '3'
}

func value(m prometheus.Metric) float64 {
	var read dto.Metric
	if err := m.Write(&read); err != nil {
		return 0 // can not be: it is one of our own
	}
	if read.Counter != nil {
		return read.Counter.GetValue()
	}
	return read.Gauge.GetValue()
}
