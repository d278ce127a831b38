package away

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errGone = errors.New("gone")

func TestOneCallerLooksAfterARestThatDoubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Far
		if left, why := f.Left(); left != 0 || why != nil || f.Why() != nil {
			t.Fatalf("nothing is known yet: %v, %v", left, why)
		}
		for want := FirstRest; want < 16*LongestRest; want *= 2 {
			longest := min(want, LongestRest)
			wait := f.Away(errGone)
			if wait < longest/2 || wait > longest*3/2 {
				t.Fatalf("waits %v, wanted about %v", wait, longest)
			}
			if left, why := f.Left(); left != wait || !errors.Is(why, errGone) || !errors.Is(f.Why(), errGone) {
				t.Fatalf("%v are left of %v: %v", left, wait, why)
			}
			time.Sleep(wait)
			looks := 0
			for range 10 {
				if left, _ := f.Left(); left == 0 {
					looks++
				}
			}
			if looks != 1 {
				t.Fatalf("%d callers look at once", looks)
			}
		}
		f.There()
		if left, _ := f.Left(); left != 0 || f.Why() != nil {
			t.Errorf("it is there again, and %v are left", left)
		}
		if wait := f.Away(errGone); wait > 2*FirstRest {
			t.Errorf("a new absence begins with a rest of %v", wait)
		}
	})
}

func TestOneThatLooksAndNeverComesBackHoldsNobodyUpForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Far
		time.Sleep(f.Away(errGone))
		if left, _ := f.Left(); left != 0 {
			t.Fatal("nobody looks")
		}
		left, _ := f.Left()
		for waited := time.Duration(0); left > 0; left, _ = f.Left() {
			if waited += left; waited > 2*lookTime {
				t.Fatalf("after %v still nobody else may look", waited)
			}
			time.Sleep(left)
		}
	})
}

func TestFailuresOfOneMomentCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Far
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { f.Away(errGone) })
		}
		all.Wait()
		if left, _ := f.Left(); left > 2*FirstRest {
			t.Errorf("50 failures at once make a rest of %v", left)
		}
	})
}

func TestOnlyWhatNeverConnectedIsAway(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, refused := net.Dial("tcp", address)
	_, unnamed := net.DefaultResolver.LookupHost(context.Background(), "no-such-host.invalid")
	for _, err := range []error{refused, unnamed, fmt.Errorf("with words around it: %w", refused)} {
		if !Is(err) {
			t.Errorf("%v is not away", err)
		}
	}
	for _, err := range []error{nil, errGone, &net.OpError{Op: "read", Err: errGone}, context.DeadlineExceeded} {
		if Is(err) {
			t.Errorf("%v is away", err)
		}
	}
}
