package replica_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestWhoGivesTheLogAwayKnowsWhoHasIt(t *testing.T) {
	all := three(t)
	startAll(t, all)
	owner, _ := ownerOf(t, all)
	for range 6 {
		if err := owner.r.Transfer(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if now := owner.r.Status().Owner.Node; now == owner.name || now == "" {
			t.Fatalf("node %s has given the log away and says that %q has it", owner.name, now)
		}
		owner, _ = ownerOf(t, all)
	}
}

// A drained node would give the log away again at once, perhaps to another drained one, and so on.
func TestTheLogIsGivenToNoDrainedNode(t *testing.T) {
	all := three(t)
	startAll(t, all)
	owner, _ := ownerOf(t, all)
	var others []*node
	for _, n := range all {
		if n != owner {
			others = append(others, n)
		}
	}
	drained, last := others[0], others[1]
	if err := drained.r.Drain(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the owner refuses to give the log to a drained node", func() bool {
		err := owner.r.Transfer(t.Context(), drained.name)
		if err == nil {
			t.Fatal("the log was given to a drained node")
		}
		return strings.Contains(err.Error(), "drained") // before, it may not have been heard of
	})
	if err := owner.r.Drain(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	now, j := ownerOf(t, all)
	if now != last {
		t.Fatalf("node %s owns the log, not %s", now.name, last.name)
	}
	term := last.r.Owner().Term
	if err := last.r.Drain(t.Context(), true); err == nil || !strings.Contains(err.Error(), "drained") {
		t.Errorf("the last node that may own the log was drained: %v", err)
	}
	if s := last.r.Status(); s.Draining || s.Owner.Node != last.name || s.Owner.Term != term {
		t.Errorf("%+v", s)
	}
	put(t, j, 1)
}

func TestTheNextOwnerHasACheckpointOfWhenTheLogWasGivenAway(t *testing.T) {
	all := three(t)
	startAll(t, all)
	for round := range 5 {
		owner, j := ownerOf(t, all)
		put(t, j, uint64(round))
		end := j.End()
		owner.r.BeforeTransfer(func(ctx context.Context) error {
			return j.SaveCheckpoint(ctx, end, func(w io.Writer) error {
				_, err := fmt.Fprint(w, "of round ", round)
				return err
			})
		})
		if err := owner.r.Transfer(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		next, k := ownerOf(t, all)
		if next == owner {
			t.Fatalf("node %s has the log still", owner.name)
		}
		at, r, _, err := k.LoadCheckpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || at != end || string(b) != fmt.Sprint("of round ", round) {
			t.Errorf("the next owner begins with %q at %d, the log ended at %d: %v", b, at, end, err)
		}
		if err := errors.Join(r.Close(), k.Close(), j.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// A checkpoint only spares time.
func TestALogIsGivenAwayWithoutACheckpoint(t *testing.T) {
	all := three(t)
	startAll(t, all)
	owner, _ := ownerOf(t, all)
	owner.r.BeforeTransfer(func(context.Context) error { return errors.New("no room for a checkpoint") })
	if err := owner.r.Transfer(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if next, _ := ownerOf(t, all); next == owner {
		t.Errorf("node %s has the log still", owner.name)
	}
}
