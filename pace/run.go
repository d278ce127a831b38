package pace

import (
	"context"
	"sync/atomic"
)

// Run is a job that is being played. Its methods may be called by any goroutine, also when it has ended.
type Run struct {
	footing  Footing
	command  func(command byte) // must not block for long; nothing comes after a stop
	progress func() Progress
	stopped  atomic.Bool
	done     chan struct{}

	// Set before done is closed.
	report Report
	err    error
}

// Footing says what the run stands on.
func (r *Run) Footing() Footing { return r.footing }

// Progress is how far the run is; of one in a process of its own, how far it was a tenth of a second ago at most.
func (r *Run) Progress() Progress { return r.progress() }

// Pause lets no more frames be played. What follows Resume is as much later as the pause was long.
func (r *Run) Pause() { r.command(commandPause) }

// Resume goes on after a pause.
func (r *Run) Resume() { r.command(commandResume) }

// Stop ends the run at once: no frame begins after the one that is being played, and the player stops. It does not wait
// for that; Wait does.
func (r *Run) Stop() {
	r.stopped.Store(true)
	r.command(commandStop)
}

// Done is closed when the run has ended and the player has stopped.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait returns when the run has ended and the player has stopped. A run that was stopped has no error for it, but
// Report.Stopped; one that was ended by its context has the context's error. The report says what was played, also
// beside an error.
func (r *Run) Wait() (Report, error) {
	<-r.done
	return r.report, r.err
}

// end makes the outcome known.
func (r *Run) end(ctx context.Context, report Report, err error) {
	if err == nil && report.Stopped && !r.stopped.Load() {
		err = context.Cause(ctx)
	}
	r.report, r.err = report, err
	close(r.done)
}
