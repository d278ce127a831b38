package publisher

import (
	"compress/flate"
	"sync"
)

const (
	probeBytes = 16 << 10 // of a request are probed
	probeEvery = 64       // requests
	worth      = 10       // percent have to be saved
)

// press decides whether requests are worth compressing. It compresses the beginning of one now and then; the requests
// of one topic are usually alike. A nil press compresses nothing.
type press struct {
	least int // bytes above which a request is considered

	mu     sync.Mutex
	asked  int
	answer bool
	probe  *flate.Writer
	length counter
}

// counter is a writer that counts.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// pays tells whether to compress a request.
func (p *press) pays(request []byte) bool {
	if p == nil || len(request) <= p.least {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked%probeEvery == 0 {
		p.answer = p.smaller(request[:min(len(request), probeBytes)])
	}
	p.asked++
	return p.answer
}

// smaller tells whether enough is saved.
func (p *press) smaller(sample []byte) bool {
	p.length = 0
	if p.probe == nil {
		w, err := flate.NewWriter(&p.length, flate.BestSpeed)
		if err != nil {
			return false
		}
		p.probe = w
	} else {
		p.probe.Reset(&p.length)
	}
	if _, err := p.probe.Write(sample); err != nil {
		return false
	}
	if err := p.probe.Close(); err != nil {
		return false
	}
	return int(p.length) <= len(sample)*(100-worth)/100
}
