package webhook

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	headerID     = "Hikyaku-Message-Id"
	maxBody      = 64 << 20
	keptRequests = 1000 // requests that Requests can tell of
	trickleBytes = 1 << 20
)

// Request is one request as the Receiver got it.
type Request struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte
	Time   time.Time
	Did    Kind
}

// Counts are totals since the Receiver was made, or told to forget.
type Counts struct {
	Requests  int `json:"requests"`
	Delivered int `json:"delivered"` // requests that were counted as delivered
	Messages  int `json:"messages"`  // distinct ids among them
	Doubles   int `json:"doubles"`   // deliveries of an id beyond its first
}

// Receiver counts messages and behaves as it is told. Its methods may be called from any goroutine.
type Receiver struct {
	mu     sync.Mutex
	always Behaviour
	script []Behaviour
	counts Counts
	ids    map[string]int
	recent []Request
	over   chan struct{} // closed: those that hang let go
	closed bool
}

// NewReceiver makes a Receiver that accepts everything.
func NewReceiver() *Receiver {
	r := &Receiver{ids: map[string]int{}, over: make(chan struct{})}
	r.always.Do = Accept
	return r
}

// Always says what every request gets that the script says nothing of.
func (r *Receiver) Always(b Behaviour) error {
	if err := b.check(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.always = b
	return nil
}

// Script says what the next requests get, one each, in order of arrival. It is added to what is left of an earlier
// script.
func (r *Receiver) Script(bs ...Behaviour) error {
	for i := range bs {
		if err := bs[i].check(); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.script = append(r.script, bs...)
	return nil
}

// Counts returns the totals.
func (r *Receiver) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// Count is how often the message of that id was delivered.
func (r *Receiver) Count(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[id]
}

// Requests returns the latest requests, at most 1000, oldest first, whatever became of them.
func (r *Receiver) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Request(nil), r.recent...)
}

// Forget begins to count anew. What the Receiver was told to do stays.
func (r *Receiver) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts, r.recent = Counts{}, nil
	clear(r.ids)
}

// Release lets every request go that hangs, and every later one that would.
func (r *Receiver) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		close(r.over)
	}
}

// ServeHTTP behaves.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if rest, ok := strings.CutPrefix(req.URL.Path, "/-/"); ok {
		r.control(w, req, rest)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		return // the client went away, or sent more than anybody should
	}
	b, ok, err := asked(req.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !ok {
		b = r.next()
	}
	r.note(req, body, b.Do)
	r.behave(w, req, b, func() { r.deliver(req.Header.Get(headerID), body) })
}

func (r *Receiver) next() Behaviour {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.script) == 0 {
		return r.always
	}
	b := r.script[0]
	r.script = r.script[1:]
	return b
}

func (r *Receiver) note(req *http.Request, body []byte, did Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Requests++
	if len(r.recent) == keptRequests {
		r.recent = append(r.recent[:0], r.recent[1:]...)
	}
	r.recent = append(r.recent, Request{
		Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(),
		Body: body, Time: time.Now(), Did: did,
	})
}

// deliver counts what a request brought: the message that its header names, or those of a batch by their "id" members.
func (r *Receiver) deliver(id string, body []byte) {
	ids := []string{id}
	if id == "" {
		ids = batchIDs(bytes.TrimSpace(body))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Delivered++
	for _, id := range ids {
		if id == "" {
			continue
		}
		r.ids[id]++
		if r.ids[id] == 1 {
			r.counts.Messages++
		} else {
			r.counts.Doubles++
		}
	}
}
