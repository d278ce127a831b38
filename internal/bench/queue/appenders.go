package queue

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// sharedLog is a raw log that several append to. Whoever finds no sync under way writes and syncs for all who came
// meanwhile.
type sharedLog struct {
	log *harness.RawLog

	mu      sync.Mutex
	done    sync.Cond // a round has ended
	pending []byte    // of the next round
	written []byte    // of the last one, for the next but one
	round   int64     // that pending belongs to
	synced  int64     // rounds before this one are durable
	busy    bool      // the round before pending's is being made durable
	err     error     // nothing is durable any more
}

func newSharedLog(log *harness.RawLog) *sharedLog {
	l := &sharedLog{log: log}
	l.done.L = &l.mu
	return l
}

// append returns when the piece is durable.
func (l *sharedLog) append(piece []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, piece...)
	for mine := l.round; l.synced <= mine && l.err == nil; {
		if l.busy {
			l.done.Wait()
			continue
		}
		l.commit()
	}
	return l.err
}

// commit makes the pending round durable. mu is held, but not meanwhile.
func (l *sharedLog) commit() {
	pieces := l.pending
	l.pending, l.written = l.written[:0], nil
	l.round++
	l.busy = true
	l.mu.Unlock()
	err := l.log.Write(pieces)
	if err == nil {
		err = l.log.Sync()
	}
	l.mu.Lock()
	l.busy = false
	l.written = pieces
	l.synced = l.round
	l.err = err
	l.done.Broadcast()
}

// appenders do to a raw log what traffic does to a store's, and nothing else: as many writers, who wait for each piece,
// and readers, who write what it takes to claim and settle what the writers wrote, and wait as well. Calls are the
// writers'.
type appenders struct {
	log     *sharedLog
	writers int
	put     int // bytes of one message's put
	settle  int // bytes of its claim and settlement
}

func (a *appenders) Run(ctx context.Context, d time.Duration) (s harness.Sample, err error) {
	calls := make([][]time.Duration, a.writers)
	var writing, unsettled atomic.Int64
	writing.Store(int64(a.writers))
	more := make(chan struct{}, harness.TrafficReaders) // there may be something to settle, or nothing ever again
	began := time.Now()
	err = harness.Crowd(ctx, a.writers+harness.TrafficReaders, func(ctx context.Context, i int) (err error) {
		if i >= a.writers {
			return a.read(&writing, &unsettled, more)
		}
		piece := harness.MakeBody(a.put)
		for last := began; err == nil && last.Sub(began) < d; {
			if err = ctx.Err(); err == nil {
				err = a.log.append(piece)
			}
			now := time.Now()
			calls[i] = append(calls[i], now.Sub(last))
			last = now
			unsettled.Add(1)
			wake(more)
		}
		if writing.Add(-1) == 0 {
			s.Elapsed = time.Since(began)
			close(more)
		}
		return err
	})
	if err != nil {
		return harness.Sample{}, err
	}
	for _, c := range calls {
		s.Calls = append(s.Calls, c...)
		s.N += int64(len(c))
	}
	return s, nil
}

// read settles what there is, so much at a time as traffic's readers, until the writers have ended and nothing is left.
func (a *appenders) read(writing, unsettled *atomic.Int64, more chan struct{}) error {
	piece := harness.MakeBody(a.settle * harness.TrafficGroup)
	for {
		last := writing.Load() == 0
		n := take(unsettled, harness.TrafficGroup)
		if n > 0 {
			if err := a.log.append(piece[:n*int64(a.settle)]); err != nil {
				return err
			}
			continue
		}
		if last {
			return nil
		}
		<-more
	}
}

// take lowers a count by at most so many, and tells by how many.
func take(count *atomic.Int64, most int64) int64 {
	for {
		n := count.Load()
		if n == 0 {
			return 0
		}
		if got := min(n, most); count.CompareAndSwap(n, n-got) {
			return got
		}
	}
}

func wake(one chan struct{}) {
	select {
	case one <- struct{}{}:
	default:
	}
}
