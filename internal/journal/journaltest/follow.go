package journaltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// follower follows a log until its context or the log ends.
type follower struct {
	groups chan scanned
	end    chan error // why it ended
}

func follow(ctx context.Context, j journal.Journal, from journal.Position) *follower {
	f := &follower{make(chan scanned, 1000), make(chan error, 1)}
	go func() {
		for g, err := range j.Follow(ctx, from) {
			if err != nil {
				f.end <- err
				break
			}
			f.groups <- copyGroup(g)
		}
		close(f.groups)
		close(f.end)
	}()
	return f
}

// take takes the next groups, so many.
func (f *follower) take(t *testing.T, n int) (groups []scanned) {
	t.Helper()
	for range n {
		g, more := <-f.groups
		if !more {
			t.Fatalf("after %d of %d groups: %v", len(groups), n, <-f.end)
		}
		groups = append(groups, g)
	}
	return groups
}

// mustEnd fails unless there is nothing more, for that reason.
func (f *follower) mustEnd(t *testing.T, want error) {
	t.Helper()
	for g := range f.groups {
		t.Errorf("one more group, at %d", g.Position)
	}
	if err := <-f.end; !errors.Is(err, want) {
		t.Errorf("following ended with %v, want %v", err, want)
	}
}

func testFollow(t *testing.T, h Harness) {
	j := open(t, h)
	fill(t, j, 40, 700)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, later := follow(ctx, j, 0), follow(ctx, j, scan(t, j, 0)[9].Position)
	got, rest := all.take(t, 40), later.take(t, 30)
	for n := range 100 { // in several segments, where there are such
		appendWait(t, j, message(1000+n, n*20), settle(n))
		got = append(got, all.take(t, 1)...)
	}
	rest = append(rest, later.take(t, 100)...)
	want := scan(t, j, 0)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who follows sees another log:\n%s", diff)
	}
	if diff := cmp.Diff(want[10:], rest); diff != "" {
		t.Errorf("who follows from a later position sees another log:\n%s", diff)
	}
	cancel()
	all.mustEnd(t, context.Canceled)
	later.mustEnd(t, context.Canceled)
	for range j.Follow(t.Context(), 0) {
		break
	}
}

func testFollowWritten(t *testing.T, h Harness) {
	j := open(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := follow(ctx, j, 0)
	for n := range 5 { // nobody waits for it until the sync
		if err := j.Write([]journal.Record{settle(n)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scan(t, j, 0), f.take(t, 5)); diff != "" {
		t.Error(diff)
	}
}

func testFollowEnds(t *testing.T, h Harness) {
	j := open(t, h)
	appendWait(t, j, message(1, 100))
	f := follow(t.Context(), j, 0)
	f.take(t, 1)
	shut(t, j)
	f.mustEnd(t, journal.ErrClosed)
	follow(t.Context(), j, 0).mustEnd(t, journal.ErrClosed)
	j = open(t, h)
	follow(t.Context(), j, 0).take(t, 1)
}

// testFollowBehind: a settlement that is gone with its segment must not be missed by who follows.
func testFollowBehind(t *testing.T, h Harness) {
	j := open(t, h)
	j.Keep(func(func(journal.Address) bool) {})
	addrs, _ := fill(t, j, 100, 900)
	j.Release(addrs...)
	reclaimable(t, j)
	follow(t.Context(), j, 0).mustEnd(t, journal.ErrReleased)
	follow(t.Context(), j, addrs[98].Position).mustEnd(t, journal.ErrReleased)
	at, r, _, err := j.LoadCheckpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := follow(ctx, j, at)
	p := appendWait(t, j, message(1, 100))
	if g := f.take(t, 1); g[0].Position != p {
		t.Errorf("the group behind the checkpoint is at %d, not %d", g[0].Position, p)
	}
	cancel()
	f.mustEnd(t, context.Canceled)
}

// testFollowDurable: who follows must not go ahead of the log: what is not durable may be lost, or another owner's
// group be in its place.
func testFollowDurable(t *testing.T, h Harness, f Faults) {
	j := open(t, h)
	appendWait(t, j, message(0, 100))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var hangs atomic.Bool
	seen := make(chan journal.Position, 10)
	go func() {
		for g, err := range j.Follow(ctx, 0) {
			if err != nil {
				break
			}
			if hangs.Load() && g.Records[0].Sequence > 0 {
				t.Error("a group is shown that is not durable")
			}
			seen <- g.Position
		}
		close(seen)
	}()
	<-seen
	hangs.Store(true)
	f.Hang(true)
	done := make(chan journal.Position, 1)
	go func() {
		p, err := appendSync(j, []journal.Record{message(1, 100)})
		if err != nil {
			t.Error(err)
		}
		done <- p
	}()
	waittest.Until(t, "the medium does not answer", func() bool { return errors.Is(j.Health(), journal.ErrStalled) })
	j.End()
	hangs.Store(false)
	f.Hang(false)
	if p, want := <-seen, <-done; p != want {
		t.Errorf("the group at %d is shown, it was appended at %d", p, want)
	}
	cancel()
	for p := range seen {
		t.Errorf("one more group, at %d", p)
	}
}

// testFollowFailed: of a log that has failed all is shown that was durable.
func testFollowFailed(t *testing.T, h Harness, f Faults) {
	j, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	appendWait(t, j, message(1, 100))
	early := follow(t.Context(), j, 0)
	early.take(t, 1)
	f.Break(true)
	if _, err := appendSync(j, []journal.Record{message(2, 100)}); err == nil {
		t.Fatal("a group is durable on a medium that is broken")
	}
	f.Break(false)
	early.mustEnd(t, journal.ErrFailed)
	late := follow(t.Context(), j, 0)
	late.take(t, 1)
	late.mustEnd(t, journal.ErrFailed)
	_ = j.Close()
}

// testFollowLost: who follows beside the old owner sees no group that the new one does not have.
func testFollowLost(t *testing.T, o Owned) {
	first := o.own(t, 1)
	p := appendWait(t, first, message(1, 100))
	f := follow(t.Context(), first, 0)
	f.take(t, 1)
	o.Hang(first, true)
	if err := first.Append([]journal.Record{message(2, 100)}, func(journal.Position, error, int) {}); err != nil {
		t.Fatal(err)
	}
	second := o.own(t, 2)
	o.Hang(first, false)
	mustLearn(t, first)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	there := scan(t, second, p)
	for g := range f.groups {
		if len(there) == 0 || g.Position != there[0].Position {
			t.Fatalf("a group at %d is shown; the next owner has %d groups behind %d", g.Position, len(there), p)
		}
		there = there[1:]
	}
	if err := <-f.end; !errors.Is(err, journal.ErrLost) {
		t.Errorf("following ended with %v", err)
	}
	f = follow(ctx, second, p)
	q := appendWait(t, second, message(3, 100))
	for g := range f.groups {
		if g.Position == q {
			break
		}
	}
	cancel()
}

// testFollowReclaimed: whoever follows a log of which old groups are reclaimed misses none, or is told.
func testFollowReclaimed(t *testing.T, h Harness) {
	const groups = 1200
	j := open(t, h)
	j.Keep(func(func(journal.Address) bool) {})
	var written atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := range groups {
			p, err := appendSync(j, []journal.Record{message(n, 200)})
			if err != nil {
				t.Error(err)
				return
			}
			j.Release(journal.Address{Position: p})
			if n%30 == 29 {
				err := j.SaveCheckpoint(t.Context(), p, func(w io.Writer) error {
					_, err := fmt.Fprint(w, n+1)
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
			written.Store(int64(n + 1))
		}
	}()
	defer func() { <-ended }()
	next, told := 0, 0
	for from := journal.Position(0); next < groups && !t.Failed(); {
		for g, err := range j.Follow(t.Context(), from) {
			if errors.Is(err, journal.ErrReleased) {
				told++
				from, next = newestOf(t, j)
				break
			}
			if err != nil {
				t.Errorf("behind group %d: %v", next, err)
				return
			}
			if n := int(g.Records[0].Sequence); n != next {
				t.Errorf("group %d is followed by %d", next-1, n)
				return
			}
			if next++; next == groups {
				break
			}
			if next%100 == 50 { // slowly
				waittest.Until(t, "others are ahead", func() bool {
					return int(written.Load()) >= min(groups, next+150) || t.Failed()
				})
			}
		}
	}
	if told == 0 {
		t.Error("nobody was told that groups are gone: the test shows nothing")
	}
}

// newestOf is where the newest checkpoint was saved, and the number of the group behind it, which is what it has.
func newestOf(t *testing.T, j journal.Journal) (at journal.Position, next int) {
	t.Helper()
	at, r, _, err := j.LoadCheckpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(r, &next); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return at, next
}
