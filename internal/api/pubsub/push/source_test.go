package push_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/push"
)

// state is what a store knows of a message.
type state uint8

const (
	waiting state = iota
	held
	done
)

type item struct {
	message push.Message
	state   state
	claim   int // the number of the claim that holds it
}

// store is a Source in memory, which keeps the rules that Source's documentation states and notes who does not.
type store struct {
	t        testing.TB
	deadline time.Duration // 0: messages show none

	mu       sync.Mutex
	items    []*item
	claims   int
	more     chan struct{}
	acked    []string
	nacked   []string
	returned []string
	extended []string
	failing  error // what Claim returns
	gone     bool  // Extend fails
	all      chan struct{}
}

func newStore(t testing.TB, deadline time.Duration) *store {
	return &store{t: t, deadline: deadline, more: make(chan struct{}, 1), all: make(chan struct{})}
}

// put adds messages without a key; their ids are the numbers from where the last ones ended.
func (s *store) put(n int) {
	for range n {
		s.add("")
	}
}

func (s *store) add(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprint(len(s.items) + 1)
	s.items = append(s.items, &item{message: push.Message{ID: id, Data: []byte("message " + id), OrderingKey: key}})
	s.wake()
	return id
}

func (s *store) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *store) Claim(ctx context.Context, max int) ([]push.Message, error) {
	for {
		s.mu.Lock()
		err, found := s.failing, s.take(max)
		s.mu.Unlock()
		if err != nil || len(found) > 0 {
			return found, err
		}
		select {
		case <-s.more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *store) take(max int) []push.Message {
	if s.failing != nil {
		return nil
	}
	s.claims++
	var found []push.Message
	blocked := map[string]bool{}
	for _, i := range s.items {
		key := i.message.OrderingKey
		if i.state == held && key != "" && i.claim != s.claims {
			blocked[key] = true
		}
		if i.state != waiting || blocked[key] || len(found) == max {
			continue
		}
		i.state, i.claim = held, s.claims
		i.message.Attempt++
		i.message.Claim = i
		if s.deadline > 0 {
			i.message.Deadline = time.Now().Add(s.deadline)
		}
		found = append(found, i.message)
	}
	return found
}

func (s *store) end(m push.Message, to state, list *[]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := m.Claim.(*item)
	*list = append(*list, m.ID)
	if i.state != held {
		return errors.New("it is not held")
	}
	i.state = to
	if to == waiting && m.OrderingKey != "" {
		behind := false
		for _, other := range s.items {
			if behind = behind || other == i; behind && other.message.OrderingKey == m.OrderingKey &&
				other.state == held {
				other.state = waiting
			}
		}
	}
	s.wake()
	if s.open() == 0 {
		select {
		case <-s.all:
		default:
			close(s.all)
		}
	}
	return nil
}

// open is how many messages are not done. The caller holds the lock.
func (s *store) open() int {
	n := 0
	for _, i := range s.items {
		if i.state != done {
			n++
		}
	}
	return n
}

func (s *store) Ack(_ context.Context, m push.Message) error  { return s.end(m, done, &s.acked) }
func (s *store) Nack(_ context.Context, m push.Message) error { return s.end(m, waiting, &s.nacked) }
func (s *store) Return(_ context.Context, m push.Message) error {
	return s.end(m, waiting, &s.returned)
}

func (s *store) Extend(_ context.Context, m push.Message) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extended = append(s.extended, m.ID)
	if s.gone {
		return time.Time{}, errors.New("somebody else has it")
	}
	return time.Now().Add(s.deadline), nil
}

// holding is how many messages are held.
func (s *store) holding() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, i := range s.items {
		if i.state == held {
			n++
		}
	}
	return n
}

// gaveBack is how many messages were given back after they had been sent.
func (s *store) gaveBack() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.nacked)
}
