package replica_test

import (
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
