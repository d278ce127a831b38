package journaltest

import (
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// testTurn: a lone writer may get a turn or not, but if he does, his group is durable when it is over.
func testTurn(t *testing.T, h Harness) {
	j := open(t, h)
	for n := range 100 {
		var held sync.Mutex // done takes it: from within AppendTurn that could not end
		called := make(chan error, 1)
		held.Lock()
		turn, err := j.AppendTurn([]journal.Record{message(n, 100)}, func(_ journal.Position, err error, _ int) {
			held.Lock()
			defer held.Unlock()
			called <- err
		})
		held.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		if turn != nil {
			turn()
			select {
			case err := <-called:
				called <- err
			default:
				t.Fatalf("turn %d is over, and done was not called", n)
			}
		}
		if err := <-called; err != nil {
			t.Fatal(err)
		}
	}
	if groups := scan(t, j, 0); len(groups) != 100 {
		t.Errorf("the log has %d groups", len(groups))
	}
}

// testTurnOrder: done functions are called in the order of the log, one at a time, whoever calls them.
func testTurnOrder(t *testing.T, h Harness) {
	j := open(t, h)
	const writers, each = 8, 100
	var mu sync.Mutex
	var got []journal.Position
	done := func(wait chan struct{}) journal.Done {
		return func(p journal.Position, err error, _ int) {
			if !mu.TryLock() {
				t.Error("two done functions at a time")
				mu.Lock()
			}
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			got = append(got, p)
			close(wait)
		}
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				wait := make(chan struct{})
				var turn func()
				var err error
				if (w+i)%3 == 0 {
					err = j.Append([]journal.Record{settle(i)}, done(wait))
				} else {
					turn, err = j.AppendTurn([]journal.Record{message(w*each+i, 50)}, done(wait))
				}
				if err != nil {
					t.Error(err)
					return
				}
				if turn != nil {
					turn()
				}
				<-wait
			}
		})
	}
	all.Wait()
	groups := scan(t, j, 0)
	if len(groups) != writers*each || len(got) != len(groups) {
		t.Fatalf("the log has %d groups, done was called %d times", len(groups), len(got))
	}
	for i, g := range groups {
		if got[i] != g.Position {
			t.Fatalf("call %d of done was for position %d, the log has %d there", i, got[i], g.Position)
		}
	}
}
