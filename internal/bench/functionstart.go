package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/loader"
	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// cold starts instances, in turns with programs that are started by hand.
func (s *functionSession) cold(ctx context.Context) error {
	loaders := filepath.Join(s.dir, "loaders")
	if err := os.MkdirAll(loaders, 0o755); err != nil {
		return fmt.Errorf("make a folder for loaders: %w", err)
	}
	if err := loader.Write(loaders); err != nil {
		return err
	}
	found := make([]*starts, len(s.runtimes))
	for i, l := range s.runtimes {
		found[i] = &starts{runtime: l, waited: measure.NewHistogram(), init: measure.NewHistogram(), hand: measure.NewHistogram()}
	}
	// The pool is asked first, then the hand, then the other way round: what lies in the system's cache favours neither.
	for n := range s.starts {
		for _, f := range found {
			sides := []func() error{
				func() error { return s.with(func(p *functionPool) error { return f.once(ctx, p) }) },
				func() error { return f.byHand(ctx, s.dir, loaders) },
			}
			if n%2 == 1 {
				sides[0], sides[1] = sides[1], sides[0]
			}
			for _, side := range sides {
				if err := side(); err != nil {
					return err
				}
			}
		}
		s.step()
	}
	for _, f := range found {
		s.startRow(f)
	}
	return nil
}

// starts is what a runtime found out.
type starts struct {
	runtime            *functionRuntime
	waited, init, hand *measure.Histogram
}

// once starts an instance for a call.
func (f *starts) once(ctx context.Context, p *functionPool) error {
	if _, err := p.Deploy(f.runtime.definition("echo")); err != nil {
		return err
	}
	c, err := p.call(ctx, "echo", "{}")
	if err != nil {
		return err
	}
	f.waited.Record(c.Waited)
	f.init.Record(c.Usage.Init)
	return nil
}

// byHand starts the same program with an endpoint of the Runtime API, until it asks for an event.
func (f *starts) byHand(ctx context.Context, dir, loaders string) (err error) {
	d := f.runtime.definition("echo")
	start, err := loader.Find(loader.Want{Runtime: d.Runtime, Handler: d.Handler, Dir: d.Code.Folder, MemoryMB: d.MemoryMB, Temp: dir, Loaders: loaders})
	if err != nil {
		return err
	}
	h := &byHand{asked: make(chan struct{})}
	server, err := runtimeapi.Listen(runtimeapi.Config{Handler: h})
	if err != nil {
		return err
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, start.Path)
	cmd.Args, cmd.Dir = start.Args, d.Code.Folder
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "LANG=en_US.UTF-8", "TZ=:UTC", "_HANDLER=" + d.Handler, "LAMBDA_TASK_ROOT=" + d.Code.Folder,
		"AWS_LAMBDA_RUNTIME_API=" + server.Addr(), "AWS_LAMBDA_FUNCTION_NAME=echo", "AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=3538",
		"AWS_REGION=us-east-1", "AWS_LAMBDA_LOG_GROUP_NAME=group", "AWS_LAMBDA_LOG_STREAM_NAME=stream", "AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
	}, start.Env...)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s by hand: %w", f.runtime.name, err)
	}
	select {
	case <-h.asked:
		f.hand.Record(h.at.Sub(began))
	case <-ctx.Done():
		err = fmt.Errorf("%s, started by hand, did not ask for an event: %w", f.runtime.name, context.Cause(ctx))
	}
	cancel()
	var exit *exec.ExitError
	if e := cmd.Wait(); e != nil && !errors.As(e, &exit) && !errors.Is(e, context.Canceled) {
		err = errors.Join(err, e)
	}
	return err
}

// byHand waits until a runtime asks for its first event.
type byHand struct {
	asked chan struct{}
	at    time.Time // when asked is closed
}

func (h *byHand) Asked() {
	if h.at.IsZero() {
		h.at = time.Now()
		close(h.asked)
	}
}
func (*byHand) Answered(*runtimeapi.Invocation, runtimeapi.Answer) {}
func (*byHand) InitFailed(string, []byte)                          {}
func (*byHand) ExtensionFailed(string, string)                     {}

func (s *functionSession) startRow(f *starts) {
	waited, init, hand := f.waited.Quantile(0.5), f.init.Quantile(0.5), f.hand.Quantile(0.5)
	r := s.report.Row(f.runtime.name, workCold).Times(f.waited).Set("init_ms", measure.Milliseconds(init)).Set("hand_ms", measure.Milliseconds(hand)).
		Set("over_ms", hundredths(measure.Milliseconds(waited-hand))).Set("ratio_hand", hundredths(init.Seconds()/hand.Seconds()))
	r.Set("because", "the program itself takes what it takes by hand; the rest is its control group, folder and endpoint")
	judge(r, s.Quick, atMost("over_ms", 5), atMost("ratio_hand", 1.05), atLeast("ratio_hand", 0.95))
}
