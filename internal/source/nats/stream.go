package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// errPolicy: acknowledgements of single messages are what the source lives on.
var errPolicy = errors.New("its acknowledgements are not explicit: make another consumer, with ack policy explicit")

// take takes messages by the consumer until ctx ends. Nothing that the server says ends it: streams may be away while
// servers start, and an operator may make one that is missing.
func (s *Source) take(ctx context.Context, out component.Out) error {
	kept, end := context.WithCancel(context.WithoutCancel(ctx))
	var keeping sync.WaitGroup
	defer keeping.Wait()
	defer end()
	js, err := jetstream.New(s.conn)
	if err != nil {
		return err
	}
	for began := false; ; {
		consumer, origin, err := s.open(ctx, js)
		if err == nil {
			if !began {
				began = true
				keeping.Go(func() { s.keep(kept, consumer.CachedInfo().Config.AckWait/3) })
			}
			err = s.fetch(ctx, consumer, origin, out)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, errPolicy) || errors.Is(err, errOut) {
			return err
		}
		if s.conn.IsConnected() { // else Waits tells
			s.Add(failed, fmt.Sprintf("stream %s, consumer %s: %v", s.Stream, s.Consumer, err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rest):
		}
	}
}

// open finds the consumer, or makes it. origin names it and its stream: one that was made anew counts from 1 again.
func (s *Source) open(ctx context.Context, js jetstream.JetStream) (c jetstream.Consumer, origin string, err error) {
	stream, err := js.Stream(ctx, s.Stream)
	if err != nil {
		return nil, "", err
	}
	c, err = stream.Consumer(ctx, s.Consumer)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		c, err = stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: s.Consumer, FilterSubject: s.Subject, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait,
			MaxAckPending: s.Max, DeliverPolicy: jetstream.DeliverAllPolicy,
		})
	}
	if err != nil {
		return nil, "", err
	}
	if c.CachedInfo().Config.AckPolicy != jetstream.AckExplicitPolicy {
		return nil, "", fmt.Errorf("consumer %s of stream %s: %w", s.Consumer, s.Stream, errPolicy)
	}
	made := stream.CachedInfo().Created.UnixNano()
	return c, fmt.Sprintf("nats %s/%s %d", s.Stream, s.Consumer, made), nil
}

// errOut: the pipeline takes no more.
var errOut = errors.New("the pipeline takes no more")

// fetch asks for messages and sends them, as they come, until something fails.
func (s *Source) fetch(ctx context.Context, c jetstream.Consumer, origin string, out component.Out) error {
	for {
		err := s.room(ctx)
		if err == nil {
			err = s.fetchSome(ctx, c, origin, out)
		}
		if err != nil {
			return err
		}
	}
}

// fetchSome asks once.
func (s *Source) fetchSome(ctx context.Context, c jetstream.Consumer, origin string, out component.Out) error {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.unask = cancel
	s.mu.Unlock()
	most := min(fetchMax, s.Max)
	bytes := max(fetchBytes, int(s.conn.MaxPayload())+64<<10) // one that is larger than the bound would never come
	batch, err := c.Fetch(most, jetstream.FetchContext(asking), jetstream.FetchMaxBytes(bytes))
	if err != nil {
		return err
	}
	// All that has come is kept from coming again, also while the pipeline is full.
	waiting := make(chan jetstream.Msg, most)
	go func() { // it ends with the batch, and so before the loop below
		defer close(waiting)
		for m := range batch.Messages() {
			s.hold(m)
			waiting <- m // there is room for the whole batch
		}
	}()
	var stopped error
	for m := range waiting {
		if stopped == nil {
			stopped = s.send(ctx, m, origin, out)
		}
		if stopped != nil {
			cancel()
			s.release(m)
			s.giveBack(m, 0)
		}
	}
	if stopped != nil {
		return fmt.Errorf("%w: %w", errOut, stopped)
	}
	return batch.Error()
}

// room waits until fewer messages are under way than the source may have: a consumer of others' may allow more.
func (s *Source) room(ctx context.Context) error {
	for {
		s.mu.Lock()
		full := len(s.held) >= s.Max
		s.mu.Unlock()
		if !full {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.freed:
		}
	}
}

// send sends one message.
func (s *Source) send(ctx context.Context, m jetstream.Msg, origin string, out component.Out) error {
	at, err := m.Metadata()
	if err != nil {
		return err
	}
	made := s.message(m.Subject(), m.Headers(), m.Data(), at.Timestamp)
	made.Origin = message.Origin{Source: origin, Offset: at.Sequence.Stream}
	return out.Send(ctx, component.Delivery{Message: made, Attempt: int(at.NumDelivered),
		Settle: func(o component.Outcome) { s.settle(m, o) }})
}

// settle tells the server. While there is no connection the client keeps what is to be told, as far as it has room;
// what is not told comes again.
func (s *Source) settle(m jetstream.Msg, o component.Outcome) {
	s.release(m)
	if o.Verdict == component.Delivered {
		_ = m.Ack()
		return
	}
	s.giveBack(m, o.After)
}

// giveBack has the server hand a message out again, after a while: one that it handed out at once could go to a request
// of ours that it does not know to be over, and would then come again only when nobody has acknowledged it in time.
func (s *Source) giveBack(m jetstream.Msg, after time.Duration) { _ = m.NakWithDelay(max(after, rest)) }

func (s *Source) hold(m jetstream.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[m] = struct{}{}
}

func (s *Source) release(m jetstream.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, m)
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// keep tells the server, before its patience ends, that work on what is under way goes on.
func (s *Source) keep(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(max(every, 100*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.mu.Lock()
		held := make([]jetstream.Msg, 0, len(s.held))
		for m := range s.held {
			held = append(held, m)
		}
		s.mu.Unlock()
		for _, m := range held {
			if err := m.InProgress(); errors.Is(err, nats.ErrConnectionClosed) {
				return
			}
		}
	}
}
