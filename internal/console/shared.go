package console

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/caller"
)

// alike are the pages, by name, that are the same for whoever has the same rights and language. Others have to do with
// what one browser watches, or are made seldom.
var alike = map[string]bool{"overview": true, "queues": true, "queue": true}

// shared are the live parts that open pages were last brought up to date with: many open pages of one kind cost about
// what one does.
type shared struct {
	mu   sync.Mutex
	made map[string]*making
}

// making is a live part that is made, or was.
type making struct {
	begun time.Time
	done  chan struct{}
	part  *part // when done; nil: it could not be made
}

// latest is a page's live part, made for this request or, not long ago, for another of the same user.
func (s *Console) latest(r *http.Request, p page) (*part, error) {
	key, ok := sharedKey(r, p)
	if !ok {
		return s.make(r, p)
	}
	for {
		m, mine := s.shared.enter(key, s.fresh())
		if mine {
			return s.forAll(key, m, r, p)
		}
		select {
		case <-m.done:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		if m.part != nil {
			return m.part, nil
		}
	}
}

// renew has open pages go on with what a page that was loaded shows, so that none falls back behind it.
func (s *Console) renew(r *http.Request, p page, begun time.Time, now part) {
	key, ok := sharedKey(r, p)
	if !ok {
		return
	}
	m := &making{begun: begun, done: make(chan struct{}), part: &now}
	close(m.done)
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	if s.shared.made[key] != nil { // else nobody has it open
		s.shared.made[key] = m
	}
}

// sharedKey names the live part that a request wants. ok is false where each request has its own.
func sharedKey(r *http.Request, p page) (key string, ok bool) {
	whose, known := whose(r)
	return strings.Join([]string{whose, language(r), r.URL.Path, withoutLive(r)}, "\x00"), known && alike[p.name]
}

// whose names the rights of a request: the user's, and without users those of the account of this machine that asks, or
// of who asks from elsewhere. ok is false when it is not known whose they are.
func whose(r *http.Request) (key string, ok bool) {
	if secret := r.Header.Get("Authorization"); secret != "" {
		return "user " + secret, true
	}
	end := caller.From(r.Context())
	if !end.Near() {
		return "elsewhere", true
	}
	uid, err := end.Account()
	return "account " + strconv.Itoa(int(uid)), err == nil
}

// forAll makes a live part that others wait for.
func (s *Console) forAll(key string, m *making, r *http.Request, p page) (*part, error) {
	defer func() {
		if m.part == nil {
			s.shared.forget(key, m) // who waits makes it
		}
		close(m.done)
	}()
	now, err := s.make(r, p)
	m.part = now
	return now, err
}

// fresh is how long a live part serves others.
func (s *Console) fresh() time.Duration {
	if s.config.Each > 0 {
		return s.config.Each / 2
	}
	return 500 * time.Millisecond
}

// over tells whether it was made, and began longer ago than that.
func (m *making) over(ago time.Duration) bool {
	select {
	case <-m.done:
		return time.Since(m.begun) > ago
	default:
		return false
	}
}

// enter returns what is made under a key or was made of late, or else begins it, which is then the caller's.
func (s *shared) enter(key string, fresh time.Duration) (m *making, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m = s.made[key]; m != nil && !m.over(fresh) {
		return m, false
	}
	for other, m := range s.made {
		if m.over(10 * fresh) { // its pages were closed
			delete(s.made, other)
		}
	}
	m = &making{begun: time.Now(), done: make(chan struct{})}
	s.made[key] = m
	return m, true
}

func (s *shared) forget(key string, m *making) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[key] == m {
		delete(s.made, key)
	}
}

// withoutLive is the query of a page without what its script adds.
func withoutLive(r *http.Request) string {
	q := r.URL.Query()
	q.Del("live")
	return q.Encode()
}
