package gate

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
)

// TestAPacketHasATimeForAllOfIt: a client that sends a byte now and then ends as one that sends nothing does, and one that is as slow as a line may be does not.
func TestAPacketHasATimeForAllOfIt(t *testing.T) {
	for name, c := range map[string]struct {
		bytes int
		piece int
		pause time.Duration
		want  bool
	}{
		"a byte now and then":   {60_000, 1, 10 * time.Second, false},
		"nothing":               {60_000, 1, time.Hour, false},
		"a slow line":           {1_000_000, 400, 10 * time.Millisecond, true},
		"a header byte by byte": {60_000, 60_000, 20 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer ours.Close()
				budget := door.NewBusy(16 << 20)
				g := New(theirs, Config{MaxPacket: 2 << 20, Budget: budget, Stall: 30 * time.Second})
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					packet := append([]byte{byte(c.bytes), byte(c.bytes >> 8), byte(c.bytes >> 16), 0, 3}, make([]byte, c.bytes-1)...)
					for at := 0; at < len(packet); {
						n := c.piece
						if name == "a header byte by byte" && at < 4 {
							n = 1
						}
						k, err := ours.Write(packet[at:min(at+n, len(packet))])
						if at += k; err != nil {
							return
						}
						time.Sleep(c.pause) // time that only this bubble has
					}
				}()
				began := time.Now()
				got, err := io.ReadFull(g, make([]byte, c.bytes+4))
				if (err == nil) != c.want {
					t.Errorf("%d bytes, %v", got, err)
				}
				if took := time.Since(began); !c.want && took > 65*time.Second { // the head of the packet has its time, and then the packet
					t.Errorf("it took %v", took)
				}
				g.Close()
				ours.Close()
				<-sent
				if g.Done(); budget.Used() != 0 {
					t.Errorf("%d bytes are lost", budget.Used())
				}
			})
		})
	}
}
