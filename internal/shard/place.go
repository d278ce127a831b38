package shard

import (
	"maps"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// places say in which shard a name is. Most are where their text says; the others are remembered.
type places struct {
	shards int
	mu     sync.RWMutex
	moved  map[queue.Name]int // queues that are not where their text says
	topics map[queue.Name]bool
	held   map[queue.Name]int // queues that nobody makes now: where they are is being decided, so many times
}

func newPlaces(shards int) places {
	return places{shards: shards, moved: map[queue.Name]int{}, topics: map[queue.Name]bool{},
		held: map[queue.Name]int{}}
}

// said is where the text of a name says that it is: the same for a queue and for the usual name of its dead letters,
// and for theirs.
func (p *places) said(n queue.Name) int {
	var h xxhash.Digest // on the stack: every put and claim asks
	h.Reset()
	_, _ = h.WriteString(n.Namespace)
	_, _ = h.WriteString("\x00")
	_, _ = h.WriteString(family(n.Name))
	return int(h.Sum64() % uint64(p.shards))
}

// family is a name without what names of dead-letter queues end with.
func family(name string) string {
	for {
		shorter, some := strings.CutSuffix(name, queue.DeadEnding)
		if !some || shorter == "" {
			return name
		}
		name = shorter
	}
}

// topic is the shard of a topic.
func (p *places) topic(n queue.Name) int { return p.said(n) }

// setTopic says whether there is a topic.
func (p *places) setTopic(n queue.Name, there bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if there {
		p.topics[n] = true
	} else {
		delete(p.topics, n)
	}
}

// setTopics says which topics a shard has.
func (p *places) setTopics(shard int, names []queue.Name) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.topics, func(n queue.Name, _ bool) bool { return p.said(n) == shard })
	for _, n := range names {
		p.topics[n] = true
	}
}

// of is the shard of what a name means: of the topic or, where there is none or none is meant, of the queue.
func (p *places) of(n queue.Name, as queue.Meaning) int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if as == queue.TopicBefore && p.topics[n] {
		return p.said(n)
	}
	return p.find(n)
}

// queue is the shard of a queue, or where it is to be made.
func (p *places) queue(n queue.Name) int { return p.of(n, queue.AQueue) }

// find is queue with the lock held.
func (p *places) find(n queue.Name) int {
	if len(p.moved) == 0 {
		return p.said(n)
	}
	for at := n; ; { // dead letters are with their queue
		if shard, there := p.moved[at]; there {
			return shard
		}
		shorter, some := strings.CutSuffix(at.Name, queue.DeadEnding)
		if !some || shorter == "" {
			return p.said(n)
		}
		at.Name = shorter
	}
}

// makes tells whether a shard may make what a name means, if it is not there.
func (p *places) makes(shard int, n queue.Name, as queue.Meaning) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if as == queue.TopicBefore && p.topics[n] {
		return p.said(n) == shard
	}
	return p.held[n] == 0 && p.find(n) == shard
}

// hold lets nobody make queues of some names, until release is called: then where they are can change.
func (p *places) hold(names []queue.Name) (release func()) {
	add := func(one int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, n := range names {
			if p.held[n] += one; p.held[n] == 0 {
				delete(p.held, n)
			}
		}
	}
	add(1)
	return func() { add(-1) }
}

// set remembers that a queue is, or is about to be, in a shard.
func (p *places) set(n queue.Name, shard int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved[n] = shard
}

// forget forgets that a queue is in another shard than its text says.
func (p *places) forget(n queue.Name) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.moved, n)
}
