package harness

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Door is one over a store, as each protocol of ours has it.
type Door interface {
	Start(ctx context.Context) (net.Addr, error)
	Close(ctx context.Context) error
}

// DoorServer is a store with a door over it that listens, as a server has them. Whoever opens it closes it.
type DoorServer struct {
	*Rig
	Addr string // of the door, host:port
	door Door
}

// OpenDoorServer opens the store in a folder, and over it the door that over makes. Its error leaves nothing open.
func OpenDoorServer(ctx context.Context, dir string, with Setting,
	over func(s *queue.Store) (Door, error)) (*DoorServer, error) {
	r, err := OpenRig(ctx, filepath.Join(dir, "journal"), with)
	if err != nil {
		return nil, err
	}
	d, err := over(r.Store)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	addr, err := d.Start(ctx)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &DoorServer{r, addr.String(), d}, nil
}

// Close closes the door, and then the store.
func (s *DoorServer) Close(ctx context.Context) error {
	return errors.Join(CloseDoor(ctx, s.door), s.Rig.Close())
}

// CloseDoor closes a door, which has 5 s for its requests even when ctx has ended.
func CloseDoor(ctx context.Context, d Door) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return d.Close(ctx)
}
