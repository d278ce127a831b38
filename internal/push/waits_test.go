package push_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/net/http2"

	"github.com/hikyaku/hikyaku/internal/push"
)

// waitsFor checks why a client says that it waits; "": it does not say so.
func waitsFor(t *testing.T, c *push.Client, want string) {
	t.Helper()
	synctest.Wait()
	why := c.Waits()
	if (why == nil) != (want == "") || why != nil && !strings.Contains(why.Error(), want) {
		t.Errorf("it waits for %v, wanted %q", why, want)
	}
}

func TestAClientSaysThatNoConnectionComesAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		far.refuse = errors.New("connection refused")
		c, got := newClient(t, config), newResults(t)
		waitsFor(t, c, "")
		got.send(c, "/0", soon)
		waitsFor(t, c, "no connection: connecting to far.example:443: connection refused")
		far.mu.Lock()
		far.refuse = nil
		far.mu.Unlock()
		k := far.accept(maxStreams(1))
		k.answer(k.request().stream, 200, "")
		got.ok("/0", 200)
		waitsFor(t, c, "")
	})
}

func TestAClientSaysThatItIsSentAwayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", soon)
		k := far.accept(maxStreams(1))
		k.check(k.framer.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("too_many_pings")))
		synctest.Wait()
		_ = k.Close()
		waitsFor(t, c, "too_many_pings")
		k = far.accept(maxStreams(1))
		waitsFor(t, c, "before it answered anything")
		k.answer(k.request().stream, 200, "")
		got.ok("/0", 200)
		waitsFor(t, c, "")
	})
}

func TestAClientSaysThatTheFarEndBreaksTheProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", soon)
		k := far.accept(maxStreams(1))
		k.check(k.framer.WriteRawFrame(http2.FrameData, 0, 0, []byte("DATA on stream 0")))
		synctest.Wait()
		_ = k.Close()
		waitsFor(t, c, "before it answered anything")
		k = far.accept(maxStreams(1))
		k.answer(k.request().stream, 200, "")
		got.ok("/0", 200)
	})
}

func TestAClientSaysThatItIsAllowedNoStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", soon)
		k := far.accept(maxStreams(0))
		waitsFor(t, c, "allows no streams")
		k.check(k.framer.WriteSettings(maxStreams(1)))
		k.answer(k.request().stream, 200, "")
		got.ok("/0", 200)
		waitsFor(t, c, "")
	})
}
