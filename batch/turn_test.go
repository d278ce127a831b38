package batch_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/batch"
)

// postTurn posts an item and wants a turn for it.
func postTurn(t *testing.T, g *batch.Grouper[int], item int) func() {
	t.Helper()
	turn, err := g.PostTurn(item)
	if err != nil || turn == nil {
		t.Fatalf("PostTurn(%d): a turn: %t, error: %v", item, turn != nil, err)
	}
	return turn
}

// wantNoTurn posts an item that somebody else sees to.
func wantNoTurn(t *testing.T, g *batch.Grouper[int], item int) {
	t.Helper()
	turn, err := g.PostTurn(item)
	if err != nil || turn != nil {
		t.Fatalf("PostTurn(%d): a turn: %t, error: %v; want none", item, turn != nil, err)
	}
}

func TestLoneItemIsHandledByWhoeverPostedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var in string
		g := batch.New(batch.Config[int]{Handle: func(context.Context, []int) []error {
			in = caller()
			return nil
		}})
		synctest.Wait()
		for i := range 3 {
			in = ""
			turn := postTurn(t, g, i)
			synctest.Wait()
			if in != "" {
				t.Fatal("a handler took the item, though the turn is the caller's")
			}
			turn()
			if in != caller() {
				t.Fatalf("item %d was handled in %s", i, in)
			}
		}
		closeIt(t, g)
		if s := g.Stats(); s.Groups != 3 || s.Items != 3 || s.Ready != 3 {
			t.Errorf("stats are %+v", s)
		}
	})
}

// caller names the goroutine.
func caller() string {
	b := make([]byte, 32)
	b = b[:runtime.Stack(b, false)]
	for i, c := range b {
		if c == '[' {
			return string(b[:i])
		}
	}
	return string(b)
}

func TestTurnTakesThoseWhoCameMeanwhileAndItsHandlerTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{MaxCount: 3, Handle: h.handle})
		synctest.Wait()
		turn := postTurn(t, g, 1)
		wantNoTurn(t, g, 2) // there is one turn
		post(t, g, 3, 4)
		synctest.Wait()
		wantGroups(t, h)
		over := make(chan struct{})
		go func() { turn(); close(over) }()
		synctest.Wait()
		wantGroups(t, h, []int{1, 2, 3})
		wantNoTurn(t, g, 5) // a group is being handled
		synctest.Wait()
		wantGroups(t, h, []int{1, 2, 3})
		h.release <- nil
		<-over // though more waits: it is not for the caller to work on for others
		synctest.Wait()
		wantGroups(t, h, []int{1, 2, 3}, []int{4, 5})
		h.leave()
		closeIt(t, g)
	})
}

func TestNoTurnIsGivenForWhatDoesNotLeaveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{MaxCount: 2, Delay: time.Second, Handle: h.handle})
		synctest.Wait()
		wantNoTurn(t, g, 1)
		synctest.Wait()
		wantGroups(t, h)
		wantNoTurn(t, g, 2) // the handler is woken for two
		synctest.Wait()
		wantGroups(t, h, []int{1, 2})
		h.leave()
		closeIt(t, g)
		if _, err := g.PostTurn(3); !errors.Is(err, batch.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestCloseWaitsForTurnsAndWhatIsBehindThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{MaxCount: 1, Pending: 10, Handle: h.handle})
		synctest.Wait()
		turn := postTurn(t, g, 1)
		post(t, g, 2)
		closed := make(chan struct{})
		go func() { _ = g.Close(); close(closed) }()
		synctest.Wait()
		wantGroups(t, h) // one handler: nothing passes the turn
		go turn()
		synctest.Wait()
		wantGroups(t, h, []int{1})
		select {
		case <-closed:
			t.Error("Close did not wait for the turn")
		default:
		}
		h.release <- nil
		synctest.Wait()
		wantGroups(t, h, []int{1}, []int{2})
		h.release <- nil
		<-closed
	})
}

func TestTurnComesBackFromAHandleThatPanicsOrEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := []func(){func() { panic("a mistake") }, runtime.Goexit, func() {}}
		g := batch.New(batch.Config[int]{Handle: func(_ context.Context, items []int) []error {
			ends[items[0]]()
			return nil
		}})
		synctest.Wait()
		for i := range ends {
			turn := postTurn(t, g, i)
			over := make(chan struct{})
			go func() {
				defer close(over)
				turn()
			}()
			<-over
		}
		if err := g.Do(context.Background(), 2); err != nil {
			t.Errorf("the handler after them: %v", err)
		}
		closeIt(t, g)
		if s := g.Stats(); s.Items != 4 || s.Failed != 2 {
			t.Errorf("stats are %+v", s)
		}
	})
}

func TestTurnOfSeveralHandlersMayFindNothingLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{Handlers: 2, Handle: h.handle})
		synctest.Wait()
		post(t, g, 1)
		synctest.Wait()
		turn := postTurn(t, g, 2)
		h.release <- nil // the busy handler goes on with what waits
		synctest.Wait()
		wantGroups(t, h, []int{1}, []int{2})
		turn()
		h.leave()
		closeIt(t, g)
	})
}

func TestTurnCostsNoMemory(t *testing.T) {
	g := batch.New(batch.Config[int]{Handle: func(context.Context, []int) []error { return nil }})
	defer g.Close()
	take := func() (taken bool) {
		turn, _ := g.PostTurn(1)
		if turn != nil {
			turn()
		}
		return turn != nil
	}
	for !take() { // the handler is about to wait
		runtime.Gosched()
	}
	if n := testing.AllocsPerRun(1000, func() {
		if !take() {
			t.Error("there was no turn, and nobody else is at work")
		}
	}); n > 0 {
		t.Errorf("a turn allocates %v times", n)
	}
}
