package sqs

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness/sqsclient"
)

func TestHandsShareWhatIsLeftAndNoneWaitsForWhatOthersTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShare(12)
		if a, b := s.reserve(10), s.reserve(10); a != 10 || b != 2 {
			t.Fatalf("%d and %d of 12 were reserved", a, b)
		}
		waiting := make(chan int, 1)
		go func() { waiting <- s.reserve(10) }()
		synctest.Wait()
		select {
		case n := <-waiting:
			t.Fatalf("%d were reserved while others may still take all", n)
		default:
		}
		s.settle(10, 7) // three did not come
		if n := <-waiting; n != 3 {
			t.Errorf("%d were reserved of three", n)
		}
		s.settle(2, 2)
		s.settle(3, 3)
		if n := s.reserve(10); n != 0 {
			t.Errorf("%d were reserved of nothing", n)
		}
	})
}

func TestWhereFewAreLetInWhoeverIsGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := newShare(3)
		s.loose = true
		if a, b := s.reserve(2), s.reserve(2); a != 2 || b != 2 {
			t.Fatalf("%d and %d of 3 were asked for", a, b)
		}
		time.Sleep(time.Second)
		s.settle(2, 2)
		if n := s.reserve(2); n != 1 {
			t.Errorf("%d were asked for, one is left", n)
		}
		time.Sleep(time.Second)
		s.settle(1, 1)
		if n := s.reserve(2); n != 0 {
			t.Errorf("%d were asked for, nothing is left", n)
		}
		time.Sleep(time.Second)
		s.settle(2, 0) // it waited in vain
		if took := s.ended(began); took != 2*time.Second {
			t.Errorf("the last was taken after %v", took)
		}
	})
}

func TestWhatIsNotTakenInTimeTookAllTheTimeThereWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := newShare(2)
		s.settle(s.reserve(1), 1)
		time.Sleep(time.Second)
		if took := s.ended(began); took != time.Second {
			t.Errorf("one of two was taken in %v", took)
		}
	})
}

func TestAHandThatGivesUpLetsNoneWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShare(1)
		s.reserve(1)
		waiting := make(chan int, 1)
		go func() { waiting <- s.reserve(1) }()
		synctest.Wait()
		s.wake()
		if n := <-waiting; n != 0 {
			t.Errorf("%d were reserved", n)
		}
	})
}

// slowServer is a hand at a server that receives one message a second, and another second later for each that waits.
type slowServer struct{ waiting *int }

func (s slowServer) send(n int) error { *s.waiting += n; return nil }

func (s slowServer) take(n int) (int, error) {
	n = min(n, *s.waiting)
	time.Sleep(time.Duration(*s.waiting) * time.Second)
	*s.waiting -= n
	return n, nil
}

func (slowServer) Close() error { return nil }

func TestAServerThatCannotKeepUpIsGivenFewerMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := 0
		q := &sqsclient.Queue{Post: &sqsclient.Post{Name: "slow"}}
		c, err := newSQSCrew(q, 1, 1, func() (Hand, error) { return slowServer{&waiting}, nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := c.bound(t.Context(), time.Minute, 20*time.Second); err != nil {
			t.Fatal(err)
		}
		if c.most < 1 || c.most > 5 || waiting != 0 || q.Waits != 0 {
			t.Errorf("a slice has %d messages at most, %d are left", c.most, waiting)
		}
		if err := c.round(t.Context(), time.Minute, 20*time.Second); err != nil || c.sent[0].N != c.most ||
			c.taken[0].N != c.most {
			t.Errorf("%d were sent and %d taken: %v", c.sent[0].N, c.taken[0].N, err)
		}
	})
}
