package push_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

func TestHangingUpWaitsForNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", time.Minute)
		got.send(c, "/1", time.Minute)
		k := far.accept(maxStreams(1))
		k.request()
		go k.gone()
		began := time.Now()
		c.HangUp()
		got.failed("/0", push.ErrClosed, false)
		got.failed("/1", push.ErrClosed, true)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
