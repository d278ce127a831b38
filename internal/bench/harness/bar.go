package harness

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// bar shows how far a run is. Its units are the seconds that were estimated, so that the time that is left can be
// trusted although one experiment takes many times as long as another.
type bar struct {
	progress *measure.Progress
	done     time.Duration // of the experiments before this one
	now      Experiment
	steps    int
}

func (b *bar) begin(o Options, name string, es []Experiment) {
	total := time.Duration(0)
	for _, e := range es {
		total += e.Takes
	}
	b.progress = measure.NewProgress(measure.ProgressConfig{W: o.Progress, Terminal: o.Terminal, Label: "bench " + name,
		Total: seconds(total)})
}

// seconds is d in whole seconds, up: a quick run has few.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// next says that the experiment before is over and e begins.
func (b *bar) next(e Experiment) {
	b.done += b.now.Takes
	b.now, b.steps = e, 0
	b.show(b.done)
}

// step says that one more of the experiment's steps is done.
func (b *bar) step() {
	b.steps = min(b.steps+1, b.now.Steps)
	b.show(b.done + b.now.Takes*time.Duration(b.steps)/time.Duration(max(b.now.Steps, 1)))
}

func (b *bar) show(done time.Duration) { b.progress.Set(int64(done / time.Second)) }

func (b *bar) end() { b.progress.Clear() }
