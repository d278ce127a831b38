package replica

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/hikyaku/hikyaku/internal/link"
)

// ship sends another replica a parcel, and waits until it says that it has it.
func (r *Replica) ship(ctx context.Context, to uint64, parcel func(io.Writer) error) error {
	peer, there := r.peer(r.node(to))
	if !there {
		return fmt.Errorf("replica %x is of no node that this one knows", to)
	}
	c, err := r.o.Link.Dialer().Dial(ctx, peer, parcelKind)
	if err != nil {
		return err
	}
	defer c.NetConn().Close()
	defer context.AfterFunc(ctx, func() { _ = c.NetConn().Close() })()
	w := link.Hurry(c, r.o.Stall)
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, to)); err != nil {
		return err
	}
	if err := parcel(w); err != nil {
		return err
	}
	if err := c.CloseWrite(); err != nil {
		return err
	}
	told, err := io.ReadAll(io.LimitReader(link.Hurry(c, storing*r.o.Stall), mostTold))
	switch {
	case err != nil:
		return err
	case string(told) != taken:
		return fmt.Errorf("node %s: %s", peer.Node, told)
	}
	return nil
}

const (
	taken      = "taken"
	mostTold   = 4 << 10
	mostAnswer = 1 << 20 // with the names of all who have left
	storing    = 4       // stalls that a parcel may take to be stored once it is there
)

// parcel takes what another node's ship sends.
func (r *Replica) parcel(ctx context.Context, peer string, c net.Conn) {
	c = link.Hurry(c, r.o.Stall)
	var to [8]byte
	if _, err := io.ReadFull(c, to[:]); err != nil {
		return // it is gone
	}
	told := taken
	if binary.LittleEndian.Uint64(to[:]) != r.id {
		told = "this is another replica"
	} else if err := r.begun().Receive(ctx, c); err != nil {
		told = err.Error()
		r.o.Report(fmt.Errorf("from node %s: %w", peer, err))
	}
	_, _ = io.WriteString(c, told) // who sent it asks again, or sends the next
}
