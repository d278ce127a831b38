package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/raft"
)

// aloneTick is short: a node that is alone waits only for itself.
const aloneTick = 20 * time.Millisecond

// alone is a log whose group is one node.
type alone struct {
	journal.Journal
	replica *raft.Replica
}

// OpenAlone opens the log in a node's folder without any other node, and makes one that is missing: its group is this
// node alone. When Open opens it later, other nodes, which have no log, are taken in like nodes that have lost theirs.
// The caller has the folder for himself, and closes the journal. A log whose group has other nodes is refused.
func OpenAlone(ctx context.Context, node, dir string, o file.Options) (journal.Journal, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f, own := folder{dir: dir, o: o}, firstID(node)
	id, began, err := f.id()
	f.began = began
	if err == nil && id == 0 {
		id, err = own, f.setID(own, false)
	}
	if err != nil {
		return nil, err
	}
	r, err := raft.Start(ctx, raft.Options{ID: id, Peers: []uint64{own}, Local: f, Tick: aloneTick,
		Send: func([]*pb.Message) {},
		Ship: func(context.Context, uint64, func(io.Writer) error) error { return errAlone }})
	if err != nil {
		return nil, err
	}
	if !began {
		err = f.setID(id, true)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	for {
		// Who else has the log is known once what the log says of that has been looked at.
		some, cancel := context.WithTimeout(ctx, aloneLook)
		j, _, err := r.Own(some)
		cancel()
		if voters, learners := r.Members(); id != own || len(voters)+len(learners) != 1 {
			if err == nil {
				err = j.Close()
			} else {
				err = nil
			}
			return nil, errors.Join(fmt.Errorf("%s: %w", dir, errAlone), err, r.Close())
		}
		if err == nil {
			return &alone{j, r}, nil
		}
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return nil, errors.Join(err, r.Close())
		}
	}
}

// aloneLook is how often it is looked whether the log is on other nodes, too.
const aloneLook = 100 * time.Millisecond

var errAlone = errors.New("the log is not this node's alone")

// Close implements journal.Journal. It closes the node's copy, too.
func (a *alone) Close() error { return errors.Join(a.Journal.Close(), a.replica.Close()) }
