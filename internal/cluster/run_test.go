package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/link"
)

// owned is a log that this node owns at once.
type owned struct{}

func (owned) Own(context.Context) (journal.Journal, uint64, error) { return nil, 1, nil }
func (owned) Owner() Owner                                         { return Owner{Node: "a", Term: 1} }
func (owned) Changed() <-chan struct{}                             { return nil }

func TestANodeThatIsStoppedWhileItOpensItsHouseHasNotFailed(t *testing.T) {
	l, err := link.Listen(t.Context(), link.Options{Listen: "127.0.0.1:0", Cluster: "test", Node: "a",
		Secret: strings.Repeat("secret", 6)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f := NewFront(FrontOptions{Node: "a", Link: l})
	defer f.Close()
	ctx, stop := context.WithCancel(t.Context())
	err = Run(ctx, owned{}, f, func(ctx context.Context, _ journal.Journal, _ uint64) error {
		stop()
		return fmt.Errorf("start from the journal: %w", ctx.Err())
	})
	if err != nil {
		t.Error(err)
	}
}
