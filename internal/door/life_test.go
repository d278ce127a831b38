package door

import (
	"errors"
	"net"
	"testing"
)

var here net.Addr = &net.TCPAddr{Port: 1}

func opened() (net.Addr, error) { return here, nil }

func TestADoorStartsAndClosesOnce(t *testing.T) {
	var l Life
	failure, ends := errors.New("no"), 0
	end := func() error { ends++; return failure }
	if l.Addr() != nil {
		t.Error("it listens before it has started")
	}
	if addr, err := l.Start(func() (net.Addr, error) { return nil, failure }); addr != nil || !errors.Is(err, failure) {
		t.Errorf("%v, %v", addr, err)
	}
	if addr, err := l.Start(opened); addr != here || err != nil { // the try that failed does not count
		t.Errorf("%v, %v", addr, err)
	}
	if addr, err := l.Start(opened); addr != here || !errors.Is(err, ErrStarted) || l.Addr() != here {
		t.Errorf("%v, %v", addr, err)
	}
	for range 2 {
		if err := l.Close(end); !errors.Is(err, failure) {
			t.Error(err)
		}
	}
	if ends != 1 {
		t.Errorf("it ended %d times", ends)
	}
	if addr, err := l.Start(opened); addr != nil || !errors.Is(err, ErrClosed) {
		t.Errorf("%v, %v", addr, err)
	}
}

func TestADoorThatIsOffHasNothingToEnd(t *testing.T) {
	var l Life
	for range 2 {
		if addr, err := l.Start(func() (net.Addr, error) { return nil, nil }); addr != nil || err != nil {
			t.Errorf("%v, %v", addr, err)
		}
	}
	if err := l.Close(func() error { t.Error("what never started is ended"); return nil }); err != nil {
		t.Error(err)
	}
}
