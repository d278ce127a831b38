package line

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A client that takes a little of a large answer now and then has so long for all of it, and one that takes it as it
// comes has it whole.
func TestALargeAnswerHasATimeForEachPieceAndOneForAll(t *testing.T) {
	const size = 1 << 20
	large := func(x *Exchange) {
		_ = x.Send(http.StatusOK, append(x.Begin(), strings.Repeat("x", size)...)) // the client misses it as it wants
	}
	for name, c := range map[string]struct {
		pause    time.Duration
		from, to time.Duration
	}{
		"nothing":             {time.Hour, 10 * time.Second, 15 * time.Second},
		"a piece in time":     {5 * time.Second, 60 * time.Second, 75 * time.Second},
		"a piece too late":    {20 * time.Second, 10 * time.Second, 15 * time.Second},
		"all of it in a time": {time.Second, 32 * time.Second, 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				r := newRig(t, Config{Serve: large, Write: time.Minute, Stall: 10 * time.Second, Idle: time.Second}, p)
				l := p.dial(t)
				began := time.Now()
				l.write(plainRequest("abc"))
				go func() {
					buf := make([]byte, StallBytes)
					for {
						time.Sleep(c.pause) // time that only this bubble has
						if _, err := io.ReadFull(l.Conn, buf); err != nil {
							return
						}
					}
				}()
				for open := 1; open > 0; {
					time.Sleep(time.Second)
					r.server.mu.Lock()
					open = len(r.server.conns)
					r.server.mu.Unlock()
				}
				if took := time.Since(began); took < c.from || took > c.to {
					t.Errorf("it took %v, not %v to %v", took, c.from, c.to)
				}
				_ = l.Conn.Close()
				r.close()
				time.Sleep(2 * time.Hour) // the reader ends
			})
		})
	}
}

// What a request takes beyond its connection's own buffer is counted, and one without room is left to net/http as it
// came.
func TestALargerRequestTakesRoomOrIsLeftToNetHTTP(t *testing.T) {
	var left atomic.Int64
	left.Store(100 << 10)
	take := func(n int64) bool {
		if left.Add(-n) < 0 {
			left.Add(n)
			return false
		}
		return true
	}
	r := newRig(t, Config{Take: take, Give: func(n int64) { left.Add(n) }}, nil)
	body := strings.Repeat("b", 20<<10)
	holds := r.dial()
	holds.write(plainRequest(body)[:6000])
	for left.Load() > 50<<10 {
		time.Sleep(time.Millisecond)
	}
	r.dial().want(plainRequest(body), "other POST "+body)
	r.dial().want(plainRequest("small"), "line small")
	holds.write(plainRequest(body)[6000:])
	if _, got := holds.answer(); got != "line "+body {
		t.Errorf("%.20q", got)
	}
	for left.Load() != 100<<10 {
		time.Sleep(time.Millisecond)
	}
}
