package hms

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

func TestABare403IsATryUntilFiveMessagesInARowGotIt(t *testing.T) {
	f := newFar(t, nil)
	cert, err := f.Authority.Server()
	if err != nil {
		t.Fatal(err)
	}
	between := pushtest.StandBetween(t, cert, `{"code": "80000000", "msg": "Success", "requestId": "1"}`)
	f.app.Endpoint = between.Address
	s := newSink(t, f, nil)
	var clock pushtest.Clock
	s.clock = clock.Now
	pushtest.BareRefusals(t, s, between, &clock, refusedRest+time.Second,
		func(n int) *message.Message { return to(device(n)) }, device)
}
