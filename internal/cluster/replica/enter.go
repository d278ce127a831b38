package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/raft"
)

const (
	// askAgain is how often nodes are asked that are not there.
	askAgain = 200 * time.Millisecond
	askMost  = 5 * time.Second
	sayAgain = 10 * time.Second
)

// enter finds out whether the log is there already, and makes this node's replica one of it. It returns who is in the
// group where the log begins.
func (r *Replica) enter(ctx context.Context) (first []uint64, err error) {
	all := []uint64{firstID(r.o.Node)}
	for _, p := range r.others() {
		all = append(all, firstID(p.Node))
	}
	if r.id == firstID(r.o.Node) || r.dir.began { // the others may wait for this node as well
		return all, nil
	}
	said := time.Now()
	var missing error // what the others said before there was no more time
	for {
		exists, now := r.look(ctx)
		switch {
		case exists != nil:
			if first, now = r.comeBack(ctx, exists); now == nil {
				return first, nil
			}
		case now == nil && r.id == 0: // all are there, and nobody has a log that is older than a moment
			r.id, r.made = firstID(r.o.Node), true
			return all, r.dir.setID(r.id, false)
		}
		if ctx.Err() == nil || missing == nil {
			missing = now
		}
		r.o.Waits(missing)
		if time.Since(said) > sayAgain {
			said = time.Now()
			r.o.Report(fmt.Errorf("waiting for the other nodes: %w", missing))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), missing)
		case <-time.After(askAgain):
		}
	}
}

// look asks all other nodes whether there is a log. exists is who was in its group at first; nil: none says that there
// is one, and err names who did not answer.
func (r *Replica) look(ctx context.Context) (exists []uint64, err error) {
	for _, a := range r.askAll(ctx) {
		if a.Exists && !a.New {
			exists = a.First
		}
		if names := r.names(); a.Names != nil && !slices.Equal(a.Names, names) {
			a.err = fmt.Errorf("node %s: peers: in its configuration names %s, and here %s: it has to be the same at all "+
				"nodes", a.node, strings.Join(a.Names, ", "), strings.Join(names, ", "))
		}
		err = errors.Join(err, a.err)
	}
	return exists, err
}

// comeBack has the others take this node's new replica in the place of the one that is lost.
func (r *Replica) comeBack(ctx context.Context, first []uint64) ([]uint64, error) {
	if r.id == 0 {
		r.id = otherID(r.o.Node)
		if err := r.dir.setID(r.id, false); err != nil {
			return nil, err
		}
	}
	var all error
	for _, p := range r.others() {
		ctx, cancel := context.WithTimeout(ctx, askMost)
		t, err := r.ask(ctx, p, question{Replace: r.id})
		cancel()
		r.follow(t.Book)
		switch {
		case err != nil:
			all = errors.Join(all, err)
		case t.Member:
			return first, nil
		case t.gone(r.id): // it was taken in, and out again before it had the log
			r.id = 0
			return nil, errors.New("it has left the cluster before it had the log, and begins anew")
		default:
			all = errors.Join(all, fmt.Errorf("node %s: %s", p.Node, t.Refused))
		}
	}
	return nil, all
}

// replace makes a replica the one of a node, step by step: nil when it is.
func (r *Replica) replace(ctx context.Context, node string, id uint64) error {
	all, err := r.raft.Progress(ctx)
	if err != nil {
		return err
	}
	book := r.raft.Book()
	r.follow(book)
	if _, may := r.peer(node); !may {
		return fmt.Errorf("it is none of the cluster: hikyaku cluster join %s takes it in", node)
	}
	if slices.Contains(book.Gone, id) {
		return errors.New("this copy of the log has left the cluster")
	}
	// One that has just ended is heard of for some seconds still; and of one that is there a leader forgets now and
	// then, for a moment, that it has heard of it.
	connected := slices.Contains(r.lanes.Connected(), node)
	for _, p := range all {
		if isOf(p.ID, node) && p.ID != id && (p.Active || connected) {
			return errors.New("its old replica is there: do two nodes have this name?")
		}
	}
	voters, learners := r.raft.Members()
	there := false
	for _, other := range append(voters, learners...) {
		if other == id {
			there = true
		} else if isOf(other, node) {
			return errors.Join(errors.New("its old replica leaves first"), r.raft.Change(ctx, raft.Leave, other, nil))
		}
	}
	if there {
		return nil
	}
	return errors.Join(errors.New("it is being taken in"), r.raft.Change(ctx, raft.Learn, id, nil))
}

// promote gives a vote to those who have the log but for what came just now.
func (r *Replica) promote(s raft.Status) {
	ctx, cancel := context.WithTimeout(r.ctx, time.Second)
	defer cancel()
	all, err := r.raft.Progress(ctx)
	if err != nil {
		return // another one leads
	}
	for _, p := range all {
		if p.Learner && p.Active && p.Match+closeBy >= s.Last {
			if err := r.raft.Change(ctx, raft.Vote, p.ID, nil); err != nil {
				r.o.Report(err)
			}
			return
		}
	}
}

// closeBy is how many groups a replica may lack that is given a vote.
const closeBy = 1000
