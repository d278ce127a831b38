package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/journal/raft"
)

const (
	// drainedTime is how long a node may take to say whether it is drained.
	drainedTime = 2 * time.Second
	// giveTime is how long a drained node tries at a time to give the log away.
	giveTime = 10 * time.Second
	// prepareTime is how long who gives the log away waits until the next owner has a checkpoint.
	prepareTime = 3 * time.Second
	// settle is how long a leader may take to find out who is there.
	settle = time.Second
)

// Transfer implements cluster.Replica.
func (r *Replica) Transfer(ctx context.Context, to string) error {
	id, err := r.heir(ctx, to)
	for late := time.Now().Add(settle); id == 0 && !errors.Is(err, cluster.ErrNotOwner) && time.Now().Before(late); {
		select { // a leader finds out now and then, and when it has just become one, who is there
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
			id, err = r.heir(ctx, to)
		}
	}
	switch {
	case err != nil:
		return err
	case id == 0 && to == "":
		return errors.New("no other node is there that could own the shard")
	case id == 0:
		return fmt.Errorf("node %s is not there, or has no vote", to)
	}
	r.prepare(ctx, id)
	s := r.raft.Status()
	r.raft.Transfer(id)
	for term := s.Term; s.Leader == r.id || s.Leader == 0; {
		if s.Leader == r.id && s.Term > term {
			return fmt.Errorf("node %s has not taken the shard, which is here again", r.node(id))
		}
		next, err := r.raft.Wait(ctx, s)
		if err != nil {
			return fmt.Errorf("node %s has not taken the shard: %w", r.node(id), err)
		}
		if s = next; s.Failure != nil {
			return s.Failure
		}
		r.note() // watch may wait for this
	}
	r.note() // whoever asks next is told so
	return nil
}

// BeforeTransfer has f be called, while this node owns the log, before it gives the log away: f saves a checkpoint.
// nil: nobody is called.
func (r *Replica) BeforeTransfer(f func(context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = f
}

// prepare lets the next owner have a checkpoint of now, so that it has little to fold. Without one it takes longer.
func (r *Replica) prepare(ctx context.Context, heir uint64) {
	r.mu.Lock()
	before := r.before
	r.mu.Unlock()
	if before == nil {
		return
	}
	try, stop := context.WithTimeout(ctx, prepareTime)
	defer stop()
	err := before(try)
	if err == nil {
		err = r.raft.Shipped(try, heir)
	}
	if err != nil && ctx.Err() == nil {
		r.o.Report(fmt.Errorf("the next owner of the log has no checkpoint of now: %w", err))
	}
}

// heir is the replica to give the log to: that of a node, or with "" the one that has the most of it; 0: none is there.
// A drained node would give it away at once, perhaps to another one that is drained.
func (r *Replica) heir(ctx context.Context, to string) (id uint64, err error) {
	all, err := r.raft.Progress(ctx)
	if errors.Is(err, raft.ErrNotLeader) {
		return 0, cluster.ErrNotOwner
	}
	if err != nil {
		return 0, err
	}
	all = slices.DeleteFunc(all, func(p raft.Progress) bool {
		node := r.node(p.ID)
		return p.ID == r.id || p.Learner || !p.Active || node == "" || to != "" && node != to
	})
	slices.SortStableFunc(all, func(a, b raft.Progress) int { return cmp.Compare(b.Match, a.Match) })
	for _, p := range all {
		why := r.takes(ctx, r.node(p.ID))
		if why == nil {
			return p.ID, nil
		}
		if err != nil {
			why = fmt.Errorf("%w; %w", err, why)
		}
		err = why
	}
	return 0, err
}

// takes tells why a node does not take the log; nil: it does.
func (r *Replica) takes(ctx context.Context, node string) error {
	ctx, stop := context.WithTimeout(ctx, drainedTime)
	defer stop()
	p, _ := r.peer(node)
	t, err := r.ask(ctx, p, question{})
	if err == nil && t.Drained {
		err = fmt.Errorf("node %s is drained: hikyaku cluster fill %s lets it take the shard", node, node)
	}
	return err
}

// Drain implements cluster.Replica.
func (r *Replica) Drain(ctx context.Context, on bool) error {
	r.setDrained(on)
	if !on || r.raft.Status().Leader != r.id {
		return nil
	}
	err := r.Transfer(ctx, "")
	if err != nil && !errors.Is(err, cluster.ErrNotOwner) {
		r.setDrained(false) // it goes on owning the log, and nothing is half done
		return err
	}
	return nil
}

func (r *Replica) setDrained(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = on
}

func (r *Replica) drained() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.draining
}
