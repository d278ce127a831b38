package publish

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// shooter publishes so many messages in a row and waits for all results: a call.
type shooter struct {
	line *pubsubLine
	hire hire // nil: one unary call
	// one publisher for all calls, else each has its own, made before it is timed and stopped after that, as in the
	// field report
	kept bool
	n    int
	log  *harness.RawWriter // what is written and synced after the call; nil: nothing

	man    postman
	bodies [][]byte
	due    []receipt
}

func (w *shooter) Work(ctx context.Context, t harness.Turn) (s harness.Sample, err error) {
	err = w.line.kept.During(func() error {
		for range t.Calls {
			d, err := w.shoot(ctx)
			if err != nil {
				return err
			}
			s.N += int64(w.n)
			s.Elapsed += d
			s.Calls = append(s.Calls, d)
		}
		return nil
	})
	return s, err
}

func (w *shooter) shoot(ctx context.Context) (time.Duration, error) {
	if w.bodies == nil {
		for range w.n {
			w.bodies = append(w.bodies, []byte("test 0"))
		}
	}
	if w.hire == nil {
		began := time.Now()
		_, err := w.line.publishRaw(ctx, w.bodies)
		if err == nil && w.log != nil {
			if err = w.log.Log.Write(w.log.Piece); err == nil {
				err = w.log.Log.Sync()
			}
		}
		return time.Since(began), err
	}
	if w.man == nil {
		w.man = w.hire(w.line)
	}
	if !w.kept {
		defer func() {
			w.man.stop()
			w.man = nil
		}()
	}
	w.due = w.due[:0]
	began := time.Now()
	for _, b := range w.bodies {
		w.due = append(w.due, w.man.publish(ctx, b))
	}
	for _, r := range w.due {
		if _, err := r.Get(ctx); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

func (w *shooter) Close() error {
	if w.man != nil {
		w.man.stop()
	}
	return w.line.Close()
}

// sprinkler publishes messages that come by chance, so many a second. A call is a message, from Publish to its result.
type sprinkler struct {
	line    *pubsubLine
	man     postman
	setting string // of Google's
	rate    int
	clock   *alarm
	dice    *rand.Rand
}

// afoot is a message on its way.
type afoot struct {
	receipt receipt
	began   time.Time
}

func (w *sprinkler) Work(ctx context.Context, t harness.Turn) (s harness.Sample, err error) {
	way := make(chan afoot, 1<<16)
	err = w.line.kept.During(func() error {
		return harness.Crowd(ctx, 2, func(ctx context.Context, i int) error {
			if i == 0 {
				defer close(way)
				return w.sprinkle(ctx, t.Time, way)
			}
			for a := range way {
				if _, err := a.receipt.Get(ctx); err != nil {
					return err
				}
				s.Calls = append(s.Calls, time.Since(a.began))
			}
			return nil
		})
	})
	s.N, s.Elapsed = int64(len(s.Calls)), t.Time
	return s, err
}

func (w *sprinkler) sprinkle(ctx context.Context, d time.Duration, way chan<- afoot) error {
	body := harness.MakeBody(100)
	gap := float64(time.Second) / float64(w.rate)
	began := time.Now()
	for at := time.Duration(0); ; {
		at += time.Duration(w.dice.ExpFloat64() * gap)
		if at > d {
			return nil
		}
		if err := w.clock.until(began.Add(at)); err != nil {
			return err
		}
		now := time.Now()
		select {
		case way <- afoot{w.man.publish(ctx, body), now}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *sprinkler) Close() error {
	w.man.stop()
	if err := w.clock.Close(); err != nil {
		return err
	}
	return w.line.Close()
}

// torrent publishes as much as it can, from one goroutine, and then waits for all results. A slice has but one call.
type torrent struct {
	line  *pubsubLine
	hire  hire                            // nil: unary calls of as many messages as fit, some at once
	after func(ctx context.Context) error // lets the server forget
}

// rawAtOnce is how many unary calls are made at once: while one is answered, others are on their way.
const rawAtOnce = 4

func (w *torrent) Work(ctx context.Context, t harness.Turn) (s harness.Sample, err error) {
	runtime.GC() // what others left is not this one's
	body := harness.MakeBody(harness.BodyBytes)
	err = w.line.kept.During(func() error {
		began := time.Now()
		defer func() { s.Elapsed = time.Since(began) }()
		if w.hire == nil {
			return w.raw(ctx, t.Calls, body)
		}
		return w.pour(ctx, t.Calls, body)
	})
	s.N = int64(t.Calls)
	s.Calls = append(s.Calls, s.Elapsed)
	if err != nil {
		return s, err
	}
	return s, w.after(ctx)
}

func (w *torrent) pour(ctx context.Context, n int, body []byte) error {
	man := w.hire(w.line)
	defer man.stop()
	due := make([]receipt, 0, n)
	for range n {
		due = append(due, man.publish(ctx, body))
	}
	for _, r := range due {
		if _, err := r.Get(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *torrent) raw(ctx context.Context, n int, body []byte) error {
	bodies := make([][]byte, mostMessages)
	for i := range bodies {
		bodies[i] = body
	}
	return harness.Crowd(ctx, rawAtOnce, func(ctx context.Context, i int) error {
		for left := n*(i+1)/rawAtOnce - n*i/rawAtOnce; left > 0; left -= mostMessages {
			if _, err := w.line.publishRaw(ctx, bodies[:min(left, mostMessages)]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *torrent) Close() error { return w.line.Close() }
