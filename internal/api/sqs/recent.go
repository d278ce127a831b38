package sqs

import (
	"cmp"
	"encoding/base64"
	"maps"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// recent remembers when something was done to queues, for a minute or so. It ends with the process.
type recent struct {
	mu   sync.Mutex
	at   map[queue.Name]time.Time
	full int // at that many, the old ones are looked for
}

// note remembers that it was done now, and forgets what is older than keep.
func (r *recent) note(n queue.Name, now time.Time, keep time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		r.at = map[queue.Name]time.Time{}
	}
	if len(r.at) >= r.full {
		maps.DeleteFunc(r.at, func(_ queue.Name, at time.Time) bool { return now.Sub(at) >= keep })
		r.full = 2*len(r.at) + 16
	}
	r.at[n] = now
}

// when tells when it was done.
func (r *recent) when(n queue.Name, now time.Time) (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.at[n]
	return at, ok && !at.After(now)
}

// compareNames is the order in which the store lists queues.
func compareNames(a, b queue.Name) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// pageToken names the last queue of a page; the next one goes on behind it, whatever was made or deleted meanwhile.
func pageToken(last queue.Name) string {
	return base64.URLEncoding.EncodeToString([]byte(last.String()))
}

func parsePageToken(token string) (queue.Name, error) {
	text, err := base64.URLEncoding.DecodeString(token)
	if err == nil {
		var n queue.Name
		if n, err = queue.ParseName(string(text)); err == nil {
			return n, nil
		}
	}
	return queue.Name{}, wire.InvalidParameterValue("NextToken", shortened(token), "Invalid or expired next token.")
}
