package nats

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hikyaku/hikyaku/internal/component"
)

// listen takes what comes on the subject until ctx ends, and then what waits here.
func (s *Source) listen(ctx context.Context, out component.Out) error {
	sub, err := s.conn.QueueSubscribeSync(s.Subject, s.QueueGroup)
	if err != nil {
		return err
	}
	if err := sub.SetPendingLimits(s.Max, subjectMax); err != nil {
		return err
	}
	live, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(partTime, end)
		if sub.Drain() != nil { // there is no connection
			end()
		}
	})()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer end()
	serving.Go(func() { _ = s.courier.Serve(live) }) // it fails when the pipeline stops
	lost := 0
	for {
		m, err := sub.NextMsgWithContext(live)
		if errors.Is(err, nats.ErrSlowConsumer) {
			err = nil
			m = nil
		}
		if err != nil && ctx.Err() != nil {
			return ctx.Err() // all that waited was sent, or it took too long
		}
		if err != nil {
			return err
		}
		if now, err := sub.Dropped(); err == nil {
			for ; lost < now; lost++ {
				s.Add(dropped, "a message was dropped: the pipeline is full")
			}
		}
		if m == nil {
			continue
		}
		if err := s.courier.Deliver(live, out, s.message(m.Subject, m.Header, m.Data, time.Now())); err != nil {
			return err
		}
	}
}
