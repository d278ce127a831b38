package door

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestAClientThatTakesNothingLosesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, raw := net.Pipe()
		defer client.Close()
		defer raw.Close()
		c := &stallConn{Conn: raw}
		begun := time.Now()
		if n, err := c.Write([]byte("answer")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) ||
			time.Since(begun) != StallTime {
			t.Errorf("%d, %v after %v", n, err, time.Since(begun))
		}
		if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		begun = time.Now()
		if _, err := c.Write([]byte("answer")); !errors.Is(err, os.ErrDeadlineExceeded) ||
			time.Since(begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

func TestAClientThatTakesSlowlyGetsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, raw := net.Pipe()
		defer raw.Close()
		c := &stallConn{Conn: raw}
		got := make(chan int64)
		go func() {
			all := int64(0)
			for range 10 {
				time.Sleep(StallTime - time.Second)
				n, _ := io.CopyN(io.Discard, client, StallBytes)
				all += n
			}
			client.Close()
			got <- all
		}()
		if n, err := c.Write(make([]byte, 10*StallBytes)); n != 10*StallBytes || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if n := <-got; n != 10*StallBytes {
			t.Errorf("%d bytes", n)
		}
	})
}
