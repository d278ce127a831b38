package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// link is a line to a server that is some way off: whatever goes in at one end comes out at the other half a round trip
// later, in order and as much of it as there is. It is for tests of latency and has no limit of its own to what is
// under way but memory's.
type link struct {
	listener net.Listener
	to       string
	half     time.Duration
	ctx      context.Context
	cancel   context.CancelFunc
	all      sync.WaitGroup
}

// newLink opens a line to a server at an address of TCP.
func newLink(to string, roundTrip time.Duration) (*link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a link: %w", err)
	}
	k := &link{listener: l, to: to, half: roundTrip / 2}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	k.all.Go(k.accept)
	return k, nil
}

func (k *link) addr() string { return k.listener.Addr().String() }

// Close ends the link and every connection over it.
func (k *link) Close() error {
	k.cancel()
	err := k.listener.Close()
	k.all.Wait()
	return err
}

func (k *link) accept() {
	for {
		near, err := k.listener.Accept()
		if err != nil {
			return // it was closed
		}
		k.all.Go(func() { k.join(near) })
	}
}

// join connects a client's connection with one to the server, until either ends. A connection that cannot be made is
// closed: the client sees that.
func (k *link) join(near net.Conn) {
	distant, err := new(net.Dialer).DialContext(k.ctx, "tcp", k.to)
	if err != nil {
		_ = near.Close()
		return
	}
	closeBoth := func() {
		_ = near.Close()
		_ = distant.Close()
	}
	defer context.AfterFunc(k.ctx, closeBoth)()
	defer closeBoth()
	var both sync.WaitGroup
	both.Go(func() { k.carry(distant, near); closeBoth() })
	both.Go(func() { k.carry(near, distant); closeBoth() })
	both.Wait()
}

// parcel is what was read at once, and when it is to come out.
type parcel struct {
	bytes []byte
	due   time.Time
}

const (
	parcelBytes = 64 << 10
	parcels     = 1024 // under way in one direction
)

// carry takes bytes from one connection to another, late.
func (k *link) carry(to io.Writer, from io.Reader) {
	road := make(chan parcel, parcels)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(road)
		for {
			b := make([]byte, parcelBytes)
			n, err := from.Read(b)
			if n > 0 {
				select {
				case road <- parcel{b[:n], time.Now().Add(k.half)}:
				case <-k.ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	clock, err := newAlarm()
	for p := range road {
		if err != nil {
			continue // so that the reader can end
		}
		if err = clock.until(p.due); err == nil {
			_, err = to.Write(p.bytes)
		}
		if c, ok := from.(io.Closer); ok && err != nil {
			_ = c.Close() // nobody reads what would come
		}
	}
	reader.Wait()
	if clock != nil {
		_ = errors.Join(err, clock.Close())
	}
}
