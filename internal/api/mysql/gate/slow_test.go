package gate

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
)

// TestWhoFindsNoRoomIsToldSoAndGoesOn: the whole statement is read before the error is written, and the next one is
// served.
func TestWhoFindsNoRoomIsToldSoAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		budget := door.NewBusy(16 << 20)
		if err := budget.Take(t.Context(), 16<<20); err != nil {
			t.Fatal(err)
		}
		g := New(theirs, Config{MaxPacket: 2 << 20, Budget: budget, Stall: 30 * time.Second})
		told := make(chan []byte)
		go func() {
			const n = 1_000_000
			_, _ = ours.Write(append([]byte{n & 0xff, n >> 8 & 0xff, n >> 16, 0, 3}, make([]byte, n-1)...))
			answer := make([]byte, 7)
			_, _ = io.ReadFull(ours, answer)
			told <- answer
			_, _ = io.CopyN(io.Discard, ours, int64(answer[0])-3)
			_, _ = ours.Write([]byte{2, 0, 0, 0, 3, 'x'})
			told <- nil
		}()
		next := make(chan error)
		var command [6]byte
		go func() {
			_, err := io.ReadFull(g, command[:])
			next <- err
		}()
		if answer := <-told; answer[3] != 1 || answer[4] != 0xff ||
			int(answer[5])|int(answer[6])<<8 != erOutOfResources {
			t.Errorf("the client was told % x", answer)
		}
		<-told
		if err := <-next; err != nil || command != [6]byte{2, 0, 0, 0, 3, 'x'} {
			t.Errorf("the next statement: % x, %v", command, err)
		}
		g.Close()
		if g.Done(); budget.Used() != 16<<20 {
			t.Errorf("%d bytes are taken", budget.Used())
		}
	})
}

// TestAPacketHasATimeForAllOfIt: a client that sends a byte now and then ends as one that sends nothing does, and one
// that is as slow as a line may be does not.
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
					packet := append([]byte{byte(c.bytes), byte(c.bytes >> 8), byte(c.bytes >> 16), 0, 3},
						make([]byte, c.bytes-1)...)
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
				// the head of the packet has its time, and then the packet
				if took := time.Since(began); !c.want && took > 65*time.Second {
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
