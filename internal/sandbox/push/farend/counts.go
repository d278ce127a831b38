package farend

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2/hpack"
)

// Counts are totals since the far end was started, or told to forget.
type Counts struct {
	Requests int64            `json:"requests"` // whole requests that arrived
	Accepted int64            `json:"accepted"` // messages processed
	Messages int              `json:"messages"` // distinct ids among them
	Doubles  int              `json:"doubles"`  // processed again: beyond an id's first
	Devices  int              `json:"devices"`  // distinct devices among them
	Refused  map[string]int64 `json:"refused"`  // answers by reason
	// messages processed whose answers were taken away: a client may send them again
	Lost int64 `json:"lost"`
	// messages dropped unprocessed: after a GOAWAY, a reset, in silence
	Unprocessed int64 `json:"unprocessed"`
	Cancelled   int64 `json:"cancelled"`   // streams that the client reset
	OverLimit   int64 `json:"over_limit"`  // streams beyond the limit, after the client had acknowledged it
	Connections int64 `json:"connections"` // that were let in
	TurnedAway  int64 `json:"turned_away"` // that came too soon after others
	Broken      int64 `json:"broken"`      // that failed in the TLS handshake or broke the rules of HTTP/2
	// those that are broken, by why
	BrokenBy    map[string]int64 `json:"broken_by,omitempty"`
	Open        int64            `json:"open"`      // connections at present
	MostOpen    int64            `json:"most_open"` // connections at once
	MostStreams int64            `json:"most_streams"`
	GoAways     int64            `json:"goaways"`
	Resets      int64            `json:"resets"` // connections that were reset
	Pings       int64            `json:"pings"`  // that clients sent
}

// Seen is a request as it was seen, for tests that look closer.
type Seen struct {
	Path   string
	From   string // address and port of the client: which connection it came through
	Fields []hpack.HeaderField
	Body   []byte
	Status int // of its answer
	Reason string
	Time   time.Time
}

// Get returns the first field of that name, "" when there is none.
func (s Seen) Get(name string) string {
	for _, f := range s.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// ledger counts.
type ledger struct {
	seed maphash.Seed
	keep int

	requests, accepted, lost, unprocessed, cancelled, overLimit atomic.Int64
	connections, turnedAway, broken, open, mostOpen             atomic.Int64
	mostStreams, goAways, resets, pings                         atomic.Int64

	mu      sync.Mutex
	ids     tally
	devices tally
	refused map[string]int64
	broke   map[string]int64 // connections by why they broke; there are few reasons
	seen    []Seen           // a ring of the latest
	next    int
}

func newLedger(keep int) *ledger {
	return &ledger{seed: maphash.MakeSeed(), keep: keep, refused: map[string]int64{},
		broke: map[string]int64{}}
}

// hash of a text that is counted; 0 for "".
func (l *ledger) hash(text string) uint64 {
	if text == "" {
		return 0
	}
	return maphash.String(l.seed, text)
}

// processed counts a message.
func (l *ledger) processed(id, device uint64) {
	l.accepted.Add(1)
	l.mu.Lock()
	if id != 0 {
		l.ids.add(id)
	}
	if device != 0 {
		l.devices.add(device)
	}
	l.mu.Unlock()
}

func (l *ledger) refuse(reason string) {
	l.mu.Lock()
	l.refused[reason]++
	l.mu.Unlock()
}

// breaks counts a connection that broke.
func (l *ledger) breaks(reason string) {
	l.broken.Add(1)
	l.mu.Lock()
	l.broke[reason]++
	l.mu.Unlock()
}

// note keeps a copy of a request.
func (l *ledger) note(r *Request, a *Answer) {
	s := Seen{
		Path: r.Path, From: r.From, Fields: slices.Clone(r.Fields), Body: slices.Clone(r.Body),
		Status: a.Status, Reason: a.Reason, Time: time.Now(),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.seen) < l.keep {
		l.seen = append(l.seen, s)
		return
	}
	l.seen[l.next] = s
	l.next = (l.next + 1) % l.keep
}

// rise makes v at least n.
func rise(v *atomic.Int64, n int64) {
	for {
		old := v.Load()
		if old >= n || v.CompareAndSwap(old, n) {
			return
		}
	}
}

func (l *ledger) counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Counts{
		Requests: l.requests.Load(), Accepted: l.accepted.Load(), Messages: l.ids.n, Doubles: l.ids.doubles,
		Devices: l.devices.n,
		Refused: maps.Clone(l.refused), Lost: l.lost.Load(), Unprocessed: l.unprocessed.Load(),
		Cancelled: l.cancelled.Load(),
		OverLimit: l.overLimit.Load(), Connections: l.connections.Load(), TurnedAway: l.turnedAway.Load(),
		Broken: l.broken.Load(), BrokenBy: maps.Clone(l.broke),
		Open: l.open.Load(), MostOpen: l.mostOpen.Load(), MostStreams: l.mostStreams.Load(),
		GoAways: l.goAways.Load(),
		Resets:  l.resets.Load(), Pings: l.pings.Load(),
	}
}

// forget begins anew. Connections that are open stay counted as open.
func (l *ledger) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids, l.devices, l.seen, l.next = tally{}, tally{}, nil, 0
	clear(l.refused)
	clear(l.broke)
	for _, v := range []*atomic.Int64{&l.requests, &l.accepted, &l.lost, &l.unprocessed, &l.cancelled, &l.overLimit,
		&l.connections,
		&l.turnedAway, &l.broken, &l.mostStreams, &l.goAways, &l.resets, &l.pings} {
		v.Store(0)
	}
	l.mostOpen.Store(l.open.Load())
}
