package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
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
var long = named("long")

// besideCall is a call that could go through much, again and again: through a long queue of depth messages, and what
// prepare makes. room is what all messages may have together, 0 for the default.
type besideCall struct {
	name    string
	room    int64
	prepare func(ctx context.Context, s *queue.Store, depth int) error
	do      func(ctx context.Context, s *queue.Store, began time.Time) error
}

// notesRoom is a room of many notes.
const notesRoom = "bench"

func besideCalls() []besideCall {
	nobody := mustParse("body = 'nobody'") // each body is read to find that out
	few := mustParse("n % 100000 = 99999")
	return []besideCall{
		{name: "peek", do: func(ctx context.Context, s *queue.Store, _ time.Time) error {
			_, err := s.Peek(ctx, long, queue.PeekRequest{Max: 1, Where: nobody})
			return err
		}},
		{name: "claim", do: func(ctx context.Context, s *queue.Store, _ time.Time) error {
			_, err := s.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: long, Where: nobody}}, Max: 1})
			return err
		}},
		{name: "replay", do: func(ctx context.Context, s *queue.Store, _ time.Time) error {
			_, err := s.Replay(ctx, long, queue.ReplayRequest{Where: nobody, To: harness.Measured})
			return err
		}},
		{name: "list", do: func(ctx context.Context, s *queue.Store, _ time.Time) error {
			_, err := s.Peek(ctx, long, queue.PeekRequest{Max: 100, NoBody: true, Where: few})
			return err
		}},
		{name: "seek", do: func(ctx context.Context, s *queue.Store, began time.Time) error {
			_, err := s.Seek(ctx, long, queue.SeekTo{Time: time.Now()})
			if err == nil {
				_, err = s.Seek(ctx, long, queue.SeekTo{Time: began})
			}
			return err
		}},
		{name: "snapshot", prepare: manySnapshots, do: func(ctx context.Context, s *queue.Store, _ time.Time) error {
			one := named("one")
			_, err := s.TakeSnapshot(ctx, one, long, queue.SnapshotOptions{})
			if err == nil {
				err = s.DeleteSnapshot(ctx, one)
			}
			return err
		}},
		{name: "notes", prepare: manyNotes, do: func(ctx context.Context, s *queue.Store, _ time.Time) error {
			_, err := s.Notes(ctx, notesRoom)
			return err
		}},
		{name: "refused put", room: fullBytes, prepare: manyQueues,
			do: func(ctx context.Context, s *queue.Store, _ time.Time) error {
				_, err := s.Put(ctx, long, []message.Message{{Body: refusedBody()}})
				switch {
				case errors.Is(err, queue.ErrQueueFull):
					return nil
				case err == nil:
					return errors.New("what is larger than the room was taken")
				}
				return err
			}},
	}
}

// What is refused where all messages may have fullBytes: it leaves room for the puts that are measured.
const fullBytes = 64 << 20

// refusedBody is made by who asks for it first: each hikyaku has this package, and is no bench.
var refusedBody = sync.OnceValue(func() []byte { return make([]byte, fullBytes-64<<10) })

func named(name string) queue.Name { return queue.Name{Namespace: queue.DefaultNamespace, Name: name} }

// many calls for each number below n, 64 at once, so that they share syncs. It returns all errors.
func many(ctx context.Context, n int, call func(ctx context.Context, i int) error) error {
	const atOnce = 64
	var callers sync.WaitGroup
	errs := make([]error, atOnce)
	for c := range errs {
		callers.Go(func() {
			for i := c; i < n && errs[c] == nil; i += atOnce {
				errs[c] = call(ctx, i)
			}
		})
	}
	callers.Wait()
	return errors.Join(errs...)
}

// manySnapshots takes snapshots of the long queue: 4,998 where there are 150,000 messages, so that there may be one
// more.
func manySnapshots(ctx context.Context, s *queue.Store, depth int) error {
	return many(ctx, min(depth/30, 4998), func(ctx context.Context, i int) error {
		_, err := s.TakeSnapshot(ctx, named("s"+strconv.Itoa(i)), long, queue.SnapshotOptions{})
		return err
	})
}

// manyNotes keeps two notes of 100 bytes for three messages.
func manyNotes(ctx context.Context, s *queue.Store, depth int) error {
	const each = 1000
	return many(ctx, depth*2/3/each, func(ctx context.Context, i int) error {
		notes := make([]queue.Note, each)
		for n := range notes {
			notes[n] = queue.Note{Room: notesRoom, Key: strconv.Itoa(i*each + n), Value: make([]byte, 100)}
		}
		return s.KeepNotes(ctx, notes...)
	})
}

// manyQueues makes a queue with a message for each eight messages.
func manyQueues(ctx context.Context, s *queue.Store, depth int) error {
	return many(ctx, depth/8, func(ctx context.Context, i int) error {
		n := named("q" + strconv.Itoa(i))
		if _, err := s.CreateQueue(ctx, n, queue.Definition{}); err != nil {
			return err
		}
		_, err := s.Put(ctx, n, []message.Message{{}})
		return err
	})
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
		harness.Setting{Bytes: call.room, Wrap: func(j journal.Journal) journal.Journal { return slowReads{j} }})
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
	if call.prepare != nil {
		if err := call.prepare(ctx, r.Store, s.beyond); err != nil {
			return err
		}
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
