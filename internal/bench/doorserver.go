package bench

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// door is one over a store, as each protocol of ours has it.
type door interface {
	Start(ctx context.Context) (net.Addr, error)
	Close(ctx context.Context) error
}

// doorServer is a store with a door over it that listens, as a server has them. Whoever opens it closes it.
type doorServer struct {
	*rig
	addr string // of the door, host:port
	door door
}

// openDoorServer opens the store in a folder, and over it the door that over makes. Its error leaves nothing open.
func openDoorServer(ctx context.Context, dir string, with setting,
	over func(s *queue.Store) (door, error)) (*doorServer, error) {
	r, err := openRig(ctx, filepath.Join(dir, "journal"), with)
	if err != nil {
		return nil, err
	}
	d, err := over(r.store)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	addr, err := d.Start(ctx)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return &doorServer{r, addr.String(), d}, nil
}

// close closes the door, and then the store.
func (s *doorServer) close(ctx context.Context) error {
	return errors.Join(closeDoor(ctx, s.door), s.rig.close())
}

// closeDoor closes a door, which has 5 s for its requests even when ctx has ended.
func closeDoor(ctx context.Context, d door) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return d.Close(ctx)
}
