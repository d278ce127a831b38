package batch_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/batch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gate is a handler whose groups stay until the test lets them go.
type gate struct {
	mu      sync.Mutex
	groups  [][]int
	release chan []error
	open    bool // groups go at once
}

func newGate() *gate { return &gate{release: make(chan []error)} }

func (h *gate) handle(_ context.Context, items []int) []error {
	h.mu.Lock()
	h.groups = append(h.groups, slices.Clone(items))
	open := h.open
	h.mu.Unlock()
	if open {
		return nil
	}
	return <-h.release
}

func (h *gate) seen() [][]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.groups)
}

// leave lets all groups from now on go at once, also the one that is there.
func (h *gate) leave() {
	h.mu.Lock()
	h.open = true
	h.mu.Unlock()
	close(h.release)
}

func wantGroups(t *testing.T, h *gate, want ...[]int) {
	t.Helper()
	got := h.seen()
	if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Fatalf("groups are %v, want %v", got, want)
	}
}

func post(t *testing.T, g *batch.Grouper[int], items ...int) {
	t.Helper()
	for _, i := range items {
		if err := g.Post(i); err != nil {
			t.Fatalf("Post(%d): %v", i, err)
		}
	}
}

func closeIt(t *testing.T, g *batch.Grouper[int]) {
	t.Helper()
	if err := g.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func itself(i int) int { return i }
