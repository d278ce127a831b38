package cluster

import (
	"bufio"
	"errors"
	"io"
	"net"
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
	waittest.Until(t, "node a has let it go", func() bool { return all["a"].Front.open.Load() == 0 })
}
