package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const workBeside = "beside"

// slowRead is how long each read of a record takes where puts are measured beside calls that read much.
const slowRead = time.Millisecond

// slowReads is a journal on a disk that reads slowly, and writes as the machine's does.
type slowReads struct{ journal.Journal }

func (j slowReads) Read(ctx context.Context, addrs []journal.Address, each func(int, journal.Record, error)) error {
	pause := time.NewTimer(time.Duration(len(addrs)) * slowRead)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return j.Journal.Read(ctx, addrs, each)
}

// long is the queue that the calls go through.
var long = queue.Name{Namespace: queue.DefaultNamespace, Name: "long"}

// besideCall is a call that goes through a long queue, again and again.
type besideCall struct {
	name string
	do   func(ctx context.Context, s *queue.Store, began time.Time) error
}

func besideCalls() []besideCall {
	nobody := mustParse("body = 'nobody'") // each body is read to find that out
	few := mustParse("n % 100000 = 99999")
	return []besideCall{
		{"peek", func(ctx context.Context, s *queue.Store, _ time.Time) error {
			_, err := s.Peek(ctx, long, queue.PeekRequest{Max: 1, Where: nobody})
			return err
		}},
		{"claim", func(ctx context.Context, s *queue.Store, _ time.Time) error {
			_, err := s.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: long, Where: nobody}}, Max: 1})
			return err
		}},
		{"replay", func(ctx context.Context, s *queue.Store, _ time.Time) error {
			_, err := s.Replay(ctx, long, queue.ReplayRequest{Where: nobody, To: harness.Measured})
			return err
		}},
		{"list", func(ctx context.Context, s *queue.Store, _ time.Time) error {
			_, err := s.Peek(ctx, long, queue.PeekRequest{Max: 100, NoBody: true, Where: few})
			return err
		}},
		{"seek", func(ctx context.Context, s *queue.Store, began time.Time) error {
			_, err := s.Seek(ctx, long, queue.SeekTo{Time: time.Now()})
			if err == nil {
				_, err = s.Seek(ctx, long, queue.SeekTo{Time: began})
			}
			return err
		}},
	}
}

// mustParse is for conditions that stand in the code.
func mustParse(text string) *condition.Expr {
	e, err := condition.Parse(text)
	if err != nil {
		panic(err)
	}
	return e
}

// beside measures a lone putter while one call after the other goes through another, long queue, on a disk that reads
// slowly.
func (s *session) beside(ctx context.Context, call besideCall) (err error) {
	began := time.Now().Add(-time.Second)
	r, err := harness.NewRig(ctx, s.Temp, queue.Definition{},
		harness.Setting{Wrap: func(j journal.Journal) journal.Journal { return slowReads{j} }})
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, r.Remove()) }()
	if _, err := r.Store.CreateQueue(ctx, long, queue.Definition{History: time.Hour}); err != nil {
		return err
	}
	n := int64(0)
	err = r.Fill(ctx, long, s.beyond, func() message.Message {
		m := message.Message{Body: harness.MakeBody(100)}
		m.Attributes.Set("n", message.Int(n))
		n++
		return m
	})
	if err != nil {
		return err
	}
	calling, stop := context.WithCancel(ctx)
	var caller sync.WaitGroup
	var failed error
	caller.Go(func() {
		for failed == nil && calling.Err() == nil {
			failed = call.do(calling, r.Store, began)
		}
	})
	defer func() {
		stop()
		caller.Wait()
		if failed != nil && !errors.Is(failed, context.Canceled) {
			err = errors.Join(err, fmt.Errorf("%s beside puts: %w", call.name, failed))
		}
	}()
	p := &putter{rig: r, writers: 1, group: 1, body: harness.MakeBody(harness.BodyBytes)}
	if _, err := p.Run(ctx, s.warmUp); err != nil {
		return err
	}
	limit, err := s.rawPeer(harness.CaseLimit, 1, p.log.bytesEach())
	if err != nil {
		return err
	}
	p.log = logged{}
	c, err := s.Alternate(ctx, s.Step, harness.ByRate, p, limit)
	if err != nil {
		return err
	}
	s.rows(c, about{
		work: workBeside, writers: 1, depth: s.beyond, call: call.name, log: &p.log,
		goals: []harness.Goal{harness.AtMost("p99_ms", 5)},
		peers: []peer{{name: harness.CaseLimit, perSync: limit.Carries}},
	})
	return nil
}
