package bench

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"
)

// shooter publishes so many messages in a row and waits for all results: a call.
type shooter struct {
	line *pubsubLine
	hire hire // nil: one unary call
	// one publisher for all calls, else each has its own, made before it is timed and stopped after that, as in the
	// field report
	kept bool
	n    int
	log  *rawWriter // what is written and synced after the call; nil: nothing
	sync *kept      // nil: nobody says that it is durable

	man    postman
	bodies [][]byte
	due    []receipt
}

func (w *shooter) work(ctx context.Context, t turn) (s sample, err error) {
	err = w.sync.during(func() error {
		for range t.calls {
			d, err := w.shoot(ctx)
			if err != nil {
				return err
			}
			s.n += int64(w.n)
			s.elapsed += d
			s.calls = append(s.calls, d)
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
			if err = w.log.log.write(w.log.piece); err == nil {
				err = w.log.log.sync()
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

func (w *shooter) close() error {
	if w.man != nil {
		w.man.stop()
	}
	return w.line.close()
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

func (w *sprinkler) work(ctx context.Context, t turn) (s sample, err error) {
	way := make(chan afoot, 1<<16)
	err = crowd(ctx, 2, func(ctx context.Context, i int) error {
		if i == 0 {
			defer close(way)
			return w.sprinkle(ctx, t.time, way)
		}
		for a := range way {
			if _, err := a.receipt.Get(ctx); err != nil {
				return err
			}
			s.calls = append(s.calls, time.Since(a.began))
		}
		return nil
	})
	s.n, s.elapsed = int64(len(s.calls)), t.time
	return s, err
}

func (w *sprinkler) sprinkle(ctx context.Context, d time.Duration, way chan<- afoot) error {
	body := makeBody(100)
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

func (w *sprinkler) close() error {
	w.man.stop()
	if err := w.clock.close(); err != nil {
		return err
	}
	return w.line.close()
}

// torrent publishes as much as it can, from one goroutine, and then waits for all results. A slice has but one call.
type torrent struct {
	line  *pubsubLine
	hire  hire                            // nil: unary calls of as many messages as fit, some at once
	after func(ctx context.Context) error // lets the server forget
	kept  *kept                           // nil: nobody says that it is durable
}

// rawAtOnce is how many unary calls are made at once: while one is answered, others are on their way.
const rawAtOnce = 4

func (w *torrent) work(ctx context.Context, t turn) (s sample, err error) {
	runtime.GC() // what others left is not this one's
	body := makeBody(bodyBytes)
	err = w.kept.during(func() error {
		began := time.Now()
		defer func() { s.elapsed = time.Since(began) }()
		if w.hire == nil {
			return w.raw(ctx, t.calls, body)
		}
		return w.pour(ctx, t.calls, body)
	})
	s.n = int64(t.calls)
	s.calls = append(s.calls, s.elapsed)
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
	return crowd(ctx, rawAtOnce, func(ctx context.Context, i int) error {
		for left := n*(i+1)/rawAtOnce - n*i/rawAtOnce; left > 0; left -= mostMessages {
			if _, err := w.line.publishRaw(ctx, bodies[:min(left, mostMessages)]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *torrent) close() error { return w.line.close() }
