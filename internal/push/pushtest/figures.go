package pushtest

import (
	"runtime"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/figure"
)

// Watched is a sink that shows figures.
type Watched interface {
	Sink
	figure.Teller
}

// StartWatched is Start of a sink whose figures somebody looks at all the time, from before its start until after its
// end.
func StartWatched[S Watched, C any](
	t testing.TB, made func(C, component.Env) (component.Sink, error), c C, env component.Env,
) S {
	t.Helper()
	sink, err := made(c, env)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := sink.(S)
	if !ok {
		t.Fatalf("made a %T", sink)
	}
	over := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				s.Figures()
				runtime.Gosched()
			}
		}
	})
	t.Cleanup(func() {
		close(over)
		looking.Wait()
	})
	CloseAfter(t, s) // before that
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}
