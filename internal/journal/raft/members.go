package raft

import (
	"context"
	"errors"
	"fmt"
	"slices"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
)

// Progress is how far another replica is, as the leader knows.
type Progress struct {
	ID      uint64
	Match   uint64 // index up to which it has the log
	Active  bool   // it has been heard of lately
	Learner bool   // it has no vote yet
}

// ErrNotLeader: another replica leads, or none does.
var ErrNotLeader = errors.New("this replica does not lead")

// Progress is how far all replicas are. Only the leader knows: else it is ErrNotLeader.
func (r *Replica) Progress(ctx context.Context) ([]Progress, error) {
	var all []Progress
	err := r.leading(ctx, func(node *etcd.RawNode) error {
		node.WithProgress(func(id uint64, kind etcd.ProgressType, p tracker.Progress) {
			all = append(all, Progress{ID: id, Match: p.Match, Active: p.RecentActive || id == r.o.ID,
				Learner: kind == etcd.ProgressTypeLearner})
		})
		return nil
	})
	if err != nil {
		return nil, err // the loop may be at it still
	}
	slices.SortFunc(all, func(a, b Progress) int { return int(min(max(int64(a.ID-b.ID), -1), 1)) })
	return all, nil
}

// leading has the loop call a function if this replica leads. After an error the loop may call it still.
func (r *Replica) leading(ctx context.Context, f func(*etcd.RawNode) error) error {
	done := make(chan error, 1)
	r.do(func() {
		if !r.loop.leads {
			done <- ErrNotLeader
			return
		}
		done <- f(r.loop.node)
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-r.ended:
		return r.failed()
	}
}

// Members are the replicas that the log is on, voters and learners.
func (r *Replica) Members() (voters, learners []uint64) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	c := r.log.confs[len(r.log.confs)-1].state
	return slices.Clone(c.GetVoters()), slices.Clone(c.GetLearners())
}

// First is who has been in the log's group where the log of this node begins, for a new replica.
func (r *Replica) First() []uint64 {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	return slices.Clone(r.log.confs[0].state.GetVoters())
}

// Step is how a replica's part changes.
type Step int32

const (
	Leave Step = Step(pb.ConfChangeRemoveNode)     // it has the log no more
	Learn Step = Step(pb.ConfChangeAddLearnerNode) // it gets the log, and has no vote
	Vote  Step = Step(pb.ConfChangeAddNode)        // it has a vote
	Stay  Step = Step(pb.ConfChangeUpdateNode)     // it has the part that it has; for what is said of its node
)

// Change changes the part of one replica, and notes in the log's book what is said of its node, unless note is nil. It
// returns when that is proposed: Members and Book tell when it is so. While another change is under way nothing comes
// of it. Only the leader can: else it is ErrNotLeader.
func (r *Replica) Change(ctx context.Context, step Step, id uint64, note *Note) error {
	// One at a time: then most of the replicas before and most of those after always have one in common.
	c := &pb.ConfChangeV2{Context: note.encode(), Changes: []*pb.ConfChangeSingle{
		{Type: pb.ConfChangeType(step).Enum(), NodeId: new(id)}}}
	err := r.leading(ctx, func(node *etcd.RawNode) error { return node.ProposeConfChange(c) })
	if err != nil {
		return fmt.Errorf("change who has the log: %w", err)
	}
	return nil
}
