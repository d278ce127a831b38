package cluster

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

// A client that does not close its end keeps no place after the owner's door has closed the connection.
func TestAPassedOnConnectionEndsWhenTheDoorHasClosedIt(t *testing.T) {
	before := farewell
	farewell = 50 * time.Millisecond
	t.Cleanup(func() { farewell = before })
	all := members(t, time.Minute)
	house, err := all["b"].Land("echo")
	if err != nil {
		t.Fatal(err)
	}
	own(all, "b")
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", all["a"].addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := house.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(client)
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	waittest.Until(t, "node a has let it go", func() bool { return !all["a"].passing() })
}

// While the owner's door has no room, what waits for it waits where it came in, and takes the owner no files.
func TestFewConnectionsWaitAtTheOwnerForItsDoor(t *testing.T) {
	all := members(t, time.Minute)
	a, b := all["a"], all["b"]
	var waiting atomic.Int64
	b.o.Link.Handle(DoorKind, func(ctx context.Context, peer string, c net.Conn) {
		waiting.Add(1)
		defer waiting.Add(-1)
		b.arrive(ctx, peer, c)
	})
	house, err := b.Land("echo")
	if err != nil {
		t.Fatal(err)
	}
	own(all, "b")
	const many = 3 * mostOffered
	for range many {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	waittest.Until(t, "as many wait as may", func() bool { return waiting.Load() >= mostOffered })
	for taken := range many {
		if n := waiting.Load(); n > int64(mostOffered+mostSpares+taken) {
			t.Fatalf("%d streams are at the owner when %d were taken", n, taken)
		}
		c, err := house.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
}
