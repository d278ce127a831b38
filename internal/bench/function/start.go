package function

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/loader"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// cold starts instances, in turns with programs that are started by hand: without anything of ours, beside an endpoint
// that knows no more than when it is asked, and where there is strace, under its eyes.
func (s *session) cold(ctx context.Context) error {
	loaders := filepath.Join(s.Temp, "loaders")
	if err := os.MkdirAll(loaders, 0o755); err != nil {
		return fmt.Errorf("make a folder for loaders: %w", err)
	}
	if err := loader.Write(loaders); err != nil {
		return err
	}
	found := make([]*starts, len(s.runtimes))
	for i, l := range s.runtimes {
		found[i] = &starts{runtime: l, bare: newBegun(), isolated: newBegun(), hand: measure.NewHistogram(),
			traced: measure.NewHistogram()}
		d := l.definition("echo")
		var err error
		if found[i].start, err = loader.Find(loader.Want{Runtime: d.Runtime, Handler: d.Handler, Dir: d.Code.Folder,
			MemoryMB: d.MemoryMB, Temp: s.Temp, Loaders: loaders}); err != nil {
			return err
		}
	}
	strace, _ := exec.LookPath("strace") // without it there is one way less to measure
	if strace == "" {
		s.Report.Note("the starts were not traced: strace is not on this machine's PATH")
	}
	// Each side is the first one in turn: what lies in the system's cache favours none.
	for n := range s.starts {
		for _, f := range found {
			sides := []func() error{
				func() error { return s.with(func(p *functionPool) error { return s.once(ctx, p, f, f.bare) }) },
				func() error {
					return s.withIsolated(function.Possible, func(p *functionPool) error {
						a := p.Machine().Isolation
						f.missing = a.String()
						return s.once(ctx, p, f, f.isolated)
					})
				},
				func() error { return f.byHand(ctx, s.Temp) },
			}
			if strace != "" {
				sides = append(sides, func() error { return f.byStrace(ctx, strace, s.Temp) })
			}
			for turn := range sides {
				if err := sides[(n+turn)%len(sides)](); err != nil {
					return err
				}
			}
		}
		s.Step()
	}
	for _, f := range found {
		s.startRow(f)
	}
	return nil
}

// starts is what a runtime found out.
type starts struct {
	runtime        *functionRuntime
	start          loader.Start
	bare, isolated begun
	missing        string // of the isolation
	hand, traced   *measure.Histogram
}

// begun are the instances that were started: how long their callers waited, and how long they took to be ready.
type begun struct{ waited, init *measure.Histogram }

func newBegun() begun { return begun{measure.NewHistogram(), measure.NewHistogram()} }

// afterDeployment is how long a function rests before it is called: the room for its first instance is made meanwhile.
const afterDeployment = 50 * time.Millisecond

// once starts an instance for a call.
func (s *session) once(ctx context.Context, p *functionPool, f *starts, to begun) error {
	if _, err := p.Deploy(f.runtime.definition("echo")); err != nil {
		return err
	}
	if err := s.rest(ctx, afterDeployment); err != nil {
		return err
	}
	c, err := p.call(ctx, "echo", "{}")
	if err != nil {
		return err
	}
	to.waited.Record(c.Waited)
	to.init.Record(c.Usage.Init)
	return nil
}

// byHand starts the same program beside an endpoint of the bench's own, until it asks for an event.
func (f *starts) byHand(ctx context.Context, dir string) error {
	began, asked, err := f.alone(ctx, dir, f.start.Path, f.start.Args, 0)
	if err != nil {
		return fmt.Errorf("start %s by hand: %w", f.runtime.name, err)
	}
	f.hand.Record(asked.Sub(began))
	return nil
}

// byStrace is byHand under strace, which says when the program was begun and when it sent its question.
func (f *starts) byStrace(ctx context.Context, strace, dir string) error {
	file := filepath.Join(dir, "strace")
	args := append(straceArgs(strace, file), f.start.Path)
	if _, _, err := f.alone(ctx, dir, strace, append(args, f.start.Args[1:]...), untilKilled); err != nil {
		return fmt.Errorf("trace the start of %s: %w", f.runtime.name, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("trace the start of %s: %w", f.runtime.name, err)
	}
	took, err := traced(text)
	if err != nil {
		return fmt.Errorf("trace the start of %s: %w", f.runtime.name, err)
	}
	f.traced.Record(took)
	return nil
}

// untilKilled is how long a runtime that is watched has to end by itself.
const untilKilled = 2 * time.Second

// alone runs a program as a runtime until it asks for an event, and kills it after a while, if it has not ended.
func (f *starts) alone(ctx context.Context, dir, path string, args []string, after time.Duration) (began,
	asked time.Time, err error) {
	stub, err := openRuntimeStub()
	if err != nil {
		return began, asked, err
	}
	defer stub.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	d := f.runtime.definition("echo")
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Dir, cmd.WaitDelay = args, d.Code.Folder, time.Second
	harness.OwnGroup(cmd) // so that what strace watches is killed with it
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "LANG=en_US.UTF-8", "TZ=:UTC",
		"_HANDLER=" + d.Handler, "LAMBDA_TASK_ROOT=" + d.Code.Folder,
		"AWS_LAMBDA_RUNTIME_API=" + stub.addr(), "AWS_LAMBDA_FUNCTION_NAME=echo", "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=3538",
		"AWS_REGION=us-east-1", "AWS_LAMBDA_LOG_GROUP_NAME=group", "AWS_LAMBDA_LOG_STREAM_NAME=stream",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
	}, f.start.Env...)
	began = time.Now()
	if err := cmd.Start(); err != nil {
		return began, asked, err
	}
	select {
	case asked = <-stub.asked:
	case <-ctx.Done():
		err = fmt.Errorf("it did not ask for an event: %w", context.Cause(ctx))
	}
	stub.Close() // a runtime that nobody answers ends, and strace writes to the end
	killed := time.AfterFunc(after, cancel)
	defer killed.Stop()
	var exit *exec.ExitError
	if e := cmd.Wait(); e != nil && !errors.As(e, &exit) && !errors.Is(e, context.Canceled) &&
		!errors.Is(e, exec.ErrWaitDelay) {
		err = errors.Join(err, e)
	}
	return began, asked, err
}

func (s *session) startRow(f *starts) {
	how := "as users have it"
	if f.missing != "" {
		how = "partly: without " + f.missing
	}
	s.startRowOf(f, f.isolated, how, "the program itself takes what it takes by hand, and goes into a room that was "+
		"made before; the rest is its control group, folder, view and endpoint")
	s.startRowOf(f, f.bare, "none", "the program itself takes what it takes by hand; the rest is its control group, "+
		"folder, view and endpoint")
}

func (s *session) startRowOf(f *starts, b begun, isolation, because string) {
	waited, init, hand := b.waited.Quantile(0.5), b.init.Quantile(0.5), f.hand.Quantile(0.5)
	r := s.Report.Row(f.runtime.name, workCold).Set("isolation", isolation).Times(b.waited).Set("init_ms",
		measure.Milliseconds(init)).Set("hand_ms", measure.Milliseconds(hand))
	if f.traced.Count() > 0 {
		r.Set("traced_ms", measure.Milliseconds(f.traced.Quantile(0.5)))
	}
	r.Set("over_ms", harness.Hundredths(measure.Milliseconds(waited-hand))).Set("ratio_hand",
		harness.Hundredths(init.Seconds()/hand.Seconds()))
	r.Set("because", because)
	harness.Judge(r, s.Quick, harness.AtMost("over_ms", 5), harness.AtMost("ratio_hand", 1.05),
		harness.AtLeast("ratio_hand", 0.95))
}
