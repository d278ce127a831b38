package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	trace "github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TestTapsSeeWhatComesToAStepAndLeavesIt: of messages that come one by one and in slabs.
func TestTapsSeeWhatComesToAStepAndLeavesIt(t *testing.T) {
	for _, slab := range []int{0, 3} {
		taps := new(trace.Taps)
		open := map[string]*trace.Tap{}
		for _, step := range []string{"in", "shape", "out"} {
			tap, err := taps.Open(trace.Place{Name: step})
			if err != nil {
				t.Fatal(err)
			}
			defer tap.Close()
			open[step] = tap
		}
		src := feedOf("a", "b", "c")
		src.slab = slab
		shape := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			emit("", upper(m))
			return nil
		})
		mustRun(t, mustNew(t, &keeper{}, Options{Taps: taps},
			Node{Name: "in", Source: src},
			Node{Name: "shape", Inputs: []string{"in"}, Transform: shape},
			Node{Name: "out", Inputs: []string{"shape"}, Sink: &answer{}}))
		for step, want := range map[string]string{
			"in": "out a, out b, out c", "shape": "in a, in b, in c, out A, out B, out C",
			"out": "answered A delivered, answered B delivered, answered C delivered, in A, in B, in C",
		} {
			var got []string
			events, dropped := open[step].Take()
			for _, e := range events {
				got = append(got, strings.TrimSpace(fmt.Sprint(e.Kind, " ", string(e.Message.Body), " ", e.Text)))
			}
			slices.Sort(got)
			if strings.Join(got, ", ") != want || dropped != 0 {
				t.Errorf("slabs of %d: %s told %s, not %s", slab, step, strings.Join(got, ", "), want)
			}
		}
	}
}
