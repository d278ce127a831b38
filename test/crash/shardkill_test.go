//go:build linux

package crash

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

const shardKills = 5

// shardBook is what a client was told of jobs that become dead letters in another shard.
type shardBook struct {
	mu     sync.Mutex
	made   int
	put    map[string]bool // its put was answered
	buried map[string]bool // that it is a dead letter was answered
}

func (b *shardBook) next() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made++
	return fmt.Sprint("job ", b.made)
}

func (b *shardBook) note(of map[string]bool, body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of[body] = true
}

// given is how many jobs are dead letters as far as is known.
func (b *shardBook) given() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.buried)
}

// TestDeadLettersOfAnotherShardAreThereOnceThroughKills puts jobs and gives them up while the server is killed again
// and again. Their dead letters are for queues of three shards.
func TestDeadLettersOfAnotherShardAreThereOnceThroughKills(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	data := filepath.Join(t.TempDir(), "data")
	config := preamble(data) + "shards: 3\nqueues:\n"
	jobs, graves := []string{"jobs1", "jobs2", "jobs3"}, []string{"graves1", "graves2", "graves3", "graves4"}
	for i, n := range jobs {
		config += fmt.Sprintf("  %s: { lease: 1s, dead_letter: %s }\n", n, graves[i])
	}
	book := &shardBook{put: map[string]bool{}, buried: map[string]bool{}}
	for round := range shardKills * *times {
		s := serve(t, config)
		ctx, stop := context.WithCancel(t.Context())
		var working sync.WaitGroup
		for _, n := range jobs {
			working.Go(func() { giveUp(ctx, s.client, n, book) })
		}
		if before := book.given(); round%2 == 0 { // on a slow machine too some rounds get so far
			until(t, func() string { return "a job is given up\n" + s.log() },
				func() bool { return book.given() > before })
		}
		<-time.After(between(random, 5*time.Millisecond, 150*time.Millisecond))
		s.kill()
		stop()
		working.Wait()
	}
	s := serve(t, config)
	defer s.kill()
	var seen map[string]int
	until(t, func() string { return fmt.Sprintf("each job is there once: %v\n%s", wrong(book, seen), s.log()) },
		func() bool {
			seen = map[string]int{}
			for _, n := range append(jobs, graves...) {
				look(t, s.client, n, seen)
			}
			return len(wrong(book, seen)) == 0
		})
	if len(book.buried) == 0 {
		t.Error("no job was given up: nothing was tried")
	}
	t.Logf("%d put, %d given up", len(book.put), len(book.buried))
}

// giveUp puts jobs into a queue and gives up what is there, until ctx ends or the server does.
func giveUp(ctx context.Context, c *httpdoor.Client, name string, book *shardBook) {
	for ctx.Err() == nil {
		body := book.next()
		if _, err := c.Put(ctx, queueName(name), httpdoor.Message{Body: &body}); err != nil {
			return
		}
		book.note(book.put, body)
		claims, err := c.Claim(ctx, queueName(name), httpdoor.ClaimRequest{Max: 3})
		if err != nil {
			return
		}
		for i := range claims {
			answers, err := c.Settle(ctx,
				httpdoor.Settlement{Token: claims[i].Token, As: httpdoor.Dead, Reason: "test"})
			if err != nil {
				return
			}
			if text, err := claims[i].Bytes(); err == nil && answers[0].OK {
				book.note(book.buried, string(text))
			}
		}
	}
}

// look counts what is in a queue.
func look(t *testing.T, c *httpdoor.Client, name string, seen map[string]int) {
	t.Helper()
	for after := uint64(0); ; {
		ps, err := c.Peek(t.Context(), queueName(name), httpdoor.PeekRequest{Max: httpdoor.MaxPeek, After: after})
		if err != nil || len(ps) == 0 {
			return // none was made of that name yet
		}
		for i := range ps {
			body, err := ps[i].Bytes()
			if err != nil {
				t.Fatal(err)
			}
			seen[string(body)]++
			after = ps[i].Sequence
		}
	}
}

// wrong are the first jobs that are lost or there twice.
func wrong(book *shardBook, seen map[string]int) (all []string) {
	for body := range book.put {
		if n := seen[body]; n != 1 && len(all) < 5 {
			all = append(all, fmt.Sprintf("%s is there %d times", body, n))
		}
	}
	for body, n := range seen {
		if n > 1 && len(all) < 5 {
			all = append(all, fmt.Sprintf("%s is there %d times", body, n))
		}
	}
	return all
}
