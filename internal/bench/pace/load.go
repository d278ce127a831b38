package pace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Burn calculates until in ends. It is for processes of their own, two of which keep a machine busy for the pace bench.
func Burn(ctx context.Context, _ []string, in io.Reader, _ io.Writer) error {
	var over atomic.Bool
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, in)
		over.Store(true)
		ended <- err
	}()
	for x := uint64(1); !over.Load() && ctx.Err() == nil; {
		for range 1 << 16 {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return <-ended
}

// burners are how many processes keep the machine busy.
const burners = 2

// calculation is processes that do Burn.
type calculation []*burner

type burner struct {
	cmd *exec.Cmd
	in  io.Closer
}

// calculate starts the processes; a nil load: there is no command for them.
func (s *session) calculate(ctx context.Context, _ string) (load, error) {
	if len(s.Burn) == 0 {
		s.Report.Note(workBusy + " was not measured, because no command was given that keeps the machine busy")
		return nil, nil
	}
	var all calculation
	for range burners {
		cmd := exec.CommandContext(ctx, s.Burn[0], s.Burn[1:]...)
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			_, e := all.Close()
			return nil, errors.Join(fmt.Errorf("start a process that calculates: %w", err), e)
		}
		all = append(all, &burner{cmd, in})
	}
	return all, nil
}

func (c calculation) Close() (float64, error) {
	var errs []error
	for _, b := range c {
		errs = append(errs, b.in.Close(), b.cmd.Wait())
	}
	return 0, errors.Join(errs...)
}

// engineConfig delivers what comes to a durable queue as fast as it comes.
const engineConfig = `
queues:
  measured: { max_attempts: 0 }
sources:
  waiting: { type: queue, queue: measured }
sinks:
  out: { type: stdout, inputs: [waiting] }
`

// What comes to the engine's queue.
const (
	engineBytes   = 100
	engineGroup   = 100
	engineAhead   = 100 // groups that wait or are under way at most
	engineFeeders = 4
)

// engine is a store and a pipeline that work as fast as they can.
type engine struct {
	rig       *harness.Rig
	stop      context.CancelFunc
	ended     chan error // of the feeders and the pipeline
	workers   int
	delivered atomic.Int64
	room      chan struct{} // a token for each group that may come
	began     time.Time
}

// Message counts what is delivered; it is the pipeline's observer.
func (e *engine) Message(*message.Message, string, component.Outcome) {
	if e.delivered.Add(1)%engineGroup == 0 {
		e.room <- struct{}{} // there is room: it is the place of a group that came
	}
}

// deliver starts an engine in this process.
func (s *session) deliver(ctx context.Context, dir string) (_ load, err error) {
	f, err := config.Parse("engine.yaml", []byte(engineConfig), func(string) (string, bool) { return "", false })
	if err != nil {
		return nil, err
	}
	r, err := harness.NewRig(ctx, dir, queue.Definition{}, harness.Setting{})
	if err != nil {
		return nil, err
	}
	e := &engine{rig: r, ended: make(chan error, engineFeeders+1), room: make(chan struct{}, 2*engineAhead),
		began: time.Now()}
	built, err := f.Build(r.Store, component.Env{Stdout: io.Discard})
	if err != nil {
		return nil, errors.Join(err, r.Remove())
	}
	p, err := pipeline.New(built.Nodes, pipeline.Options{Store: r.Store, Observe: e})
	if err != nil {
		return nil, errors.Join(err, r.Remove())
	}
	ctx, e.stop = context.WithCancel(ctx)
	for range engineAhead {
		e.room <- struct{}{}
	}
	e.begin(func() error {
		_, err := p.Run(ctx)
		return err
	})
	for range engineFeeders {
		e.begin(func() error { return e.feed(ctx) })
	}
	return e, nil
}

// sparing is an engine that leaves a processor free.
type sparing struct {
	load
	before int // GOMAXPROCS
}

// deliverSparing starts an engine that leaves one processor to others, if there is more than one. It is what who plays
// beside an engine can do: GOMAXPROCS is a variable of the environment, too.
func (s *session) deliverSparing(ctx context.Context, dir string) (load, error) {
	before := runtime.GOMAXPROCS(0)
	if before == 1 {
		s.Report.Note(workSpared + " had no processor to spare")
	}
	runtime.GOMAXPROCS(max(1, before-1))
	e, err := s.deliver(ctx, dir)
	if err != nil {
		runtime.GOMAXPROCS(before)
		return nil, err
	}
	return &sparing{e, before}, nil
}

func (s *sparing) Close() (float64, error) {
	perSecond, err := s.load.Close()
	runtime.GOMAXPROCS(s.before)
	return perSecond, err
}

func (e *engine) begin(work func() error) {
	e.workers++
	go func() { e.ended <- work() }()
}

// feed puts groups for as long as there is room.
func (e *engine) feed(ctx context.Context) error {
	body := harness.MakeBody(engineBytes)
	group := make([]message.Message, engineGroup)
	for {
		select {
		case <-e.room:
		case <-ctx.Done():
			return ctx.Err()
		}
		for i := range group {
			group[i] = message.Message{Body: body}
		}
		if _, err := e.rig.Store.Put(ctx, harness.Measured, group); err != nil {
			return err
		}
	}
}

func (e *engine) Close() (float64, error) {
	perSecond := float64(e.delivered.Load()) / time.Since(e.began).Seconds()
	e.stop()
	var errs []error
	for range e.workers {
		if err := <-e.ended; !errors.Is(err, context.Canceled) {
			errs = append(errs, err)
		}
	}
	return perSecond, errors.Join(append(errs, e.rig.Remove())...)
}
