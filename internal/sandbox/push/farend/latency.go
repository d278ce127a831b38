package farend

import (
	"errors"
	"math"
	"math/rand/v2"
	"time"
)

// Latency is a distribution of waits. The zero Latency is no wait at all. Waits are kept to the next millisecond.
type Latency struct {
	Fixed  Duration `json:"fixed,omitempty"`  // added to what follows
	Median Duration `json:"median,omitempty"` // of a log-normal distribution
	// its spread: at 0.5 the 99th percentile is 3.2 medians, at 0.8 6.4, at 1.2 16
	Sigma float64  `json:"sigma,omitempty"`
	Most  Duration `json:"most,omitempty"` // bounds the whole; 0: a minute
}

const mostLatency = time.Minute

func (l Latency) check() error {
	if l.Fixed < 0 || l.Median < 0 || l.Sigma < 0 || l.Most < 0 {
		return errors.New("cannot be negative")
	}
	if l.Sigma > 10 {
		return errors.New("sigma above 10 is no distribution of waits")
	}
	return nil
}

// draw returns one wait.
func (l Latency) draw(r *rand.Rand) time.Duration {
	d := time.Duration(l.Fixed)
	if l.Median > 0 {
		x := float64(l.Median)
		if l.Sigma > 0 {
			x *= math.Exp(l.Sigma * r.NormFloat64())
		}
		d += time.Duration(min(x, float64(mostLatency)))
	}
	if l.Most > 0 {
		return min(d, time.Duration(l.Most))
	}
	return min(d, mostLatency)
}

// Quantile is the wait that the share q of all requests stays below, 0 < q < 1: what a measurement is compared with.
func (l Latency) Quantile(q float64) time.Duration {
	x := float64(l.Median) * math.Exp(l.Sigma*math.Sqrt2*math.Erfinv(2*q-1))
	most := time.Duration(l.Most)
	if most == 0 {
		most = mostLatency
	}
	return min(time.Duration(l.Fixed)+time.Duration(min(x, float64(mostLatency))), most)
}

// Mean is the expected wait, without regard to Most.
func (l Latency) Mean() time.Duration {
	return time.Duration(l.Fixed) + time.Duration(float64(l.Median)*math.Exp(l.Sigma*l.Sigma/2))
}
