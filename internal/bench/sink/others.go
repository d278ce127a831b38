package sink

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// The ways besides ours: what a courier does in the place of its sink.
const (
	// a sink that a field report measured: one awaited INSERT text an event, in the batch's transaction
	caseSeedWay = "insert-each"
	caseBare    = "bare"    // what the database's own means take in at best
	wayNothing  = "nothing" // everything is delivered at once: what leads to the sink is left
)

// otherSink is what stands in the place of a configured sink.
func (f *sinkFlags) otherSink(was component.Sink) (component.Sink, error) {
	if err := was.Close(); err != nil {
		return nil, err
	}
	switch f.way {
	case wayNothing:
		return nothingSink{}, nil
	case caseSeedWay:
		return &seedSink{to: f.to, address: f.address, insert: "INSERT INTO " + f.table + " VALUES (", most: f.atOnce},
			nil
	default:
		return nil, fmt.Errorf("there is no way %q", f.way)
	}
}

type nothingSink struct{}

// Send implements component.Sink.
func (nothingSink) Send(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
	return component.All(len(batch), component.OK(time.Now())), nil
}

// Close implements component.Sink.
func (nothingSink) Close() error { return nil }

// seedSink inserts lines as the field report's sink did. Its lines are numbers with commas, which are SQL as they are:
// it is spared the work of making it.
type seedSink struct {
	to, address, insert string
	most                int // connections, which are the batches at once

	mu   sync.Mutex
	idle []sinkDesk
}

// Limits implements component.Limits.
func (s *seedSink) Limits() component.SinkLimits { return component.SinkLimits{Concurrency: s.most} }

// Send implements component.Sink.
func (s *seedSink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	desk, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(batch))
	for i, m := range batch {
		texts[i] = s.insert + string(m.Body) + ")"
	}
	if err := desk.transact(ctx, texts); err != nil {
		return nil, errors.Join(err, desk.Close())
	}
	s.mu.Lock()
	s.idle = append(s.idle, desk)
	s.mu.Unlock()
	return component.All(len(batch), component.OK(time.Now())), nil
}

func (s *seedSink) take(ctx context.Context) (sinkDesk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		desk := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return desk, nil
	}
	return openDesk(ctx, s.to, s.address)
}

// Close implements component.Sink.
func (s *seedSink) Close() error {
	var errs []error
	for _, desk := range s.idle {
		errs = append(errs, desk.Close())
	}
	return errors.Join(errs...)
}

// atOnce is how many requests a setting means, where it is a number.
func atOnce(inFlight string) int {
	n, err := strconv.Atoi(inFlight)
	if err != nil {
		return 0
	}
	return n
}
