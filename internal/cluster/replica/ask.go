package replica

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/internal/journal/raft"
	"github.com/hikyaku/hikyaku/internal/link"
)

// question is what a node asks another of the log, and answer what it is told.
type question struct {
	Replace uint64 `json:"replace,omitempty"` // this replica shall be the one of its node
}

type told struct {
	Exists  bool     `json:"exists"`            // there is a log
	New     bool     `json:"new,omitempty"`     // it was made a moment ago, and the node that asks was not heard of since
	First   []uint64 `json:"first,omitempty"`   // who was in its group where it begins there
	Member  bool     `json:"member,omitempty"`  // the replica is in the group
	Drained bool     `json:"drained,omitempty"` // the node does not take the log
	Refused string   `json:"refused,omitempty"` // why not yet
	Names   []string `json:"names,omitempty"`   // of all nodes that would have the log, if there is none
	// Of who answers: which replica it is, and up to where it has the log.
	ID      uint64    `json:"id,omitempty"`
	Applied uint64    `json:"applied,omitempty"`
	Book    raft.Book `json:"book"`
}

// gone tells whether a replica has left the log's group.
func (t *told) gone(id uint64) bool { return slices.Contains(t.Book.Gone, id) }

// answer tells other nodes of the log.
func (r *Replica) answer(ctx context.Context, peer string, c net.Conn) {
	var q question
	if json.NewDecoder(io.LimitReader(c, mostTold)).Decode(&q) != nil {
		return // it is gone
	}
	t := told{Drained: r.drained()}
	if running := r.begun(); running != nil {
		s := running.Status()
		t.Exists, t.First = s.Term > 1 || s.Last > 1, running.First()
		t.ID, t.Applied, t.Book = r.id, s.Applied, running.Book()
		first := firstID(peer)
		r.mu.Lock()
		t.New = r.made && !r.heard[peer] && slices.Contains(t.First, first) && !t.gone(first)
		r.mu.Unlock()
		if q.Replace != 0 && peer != "" && isOf(q.Replace, peer) {
			if err := r.replace(ctx, peer, q.Replace); err != nil {
				t.Refused = err.Error()
			} else {
				t.Member = true
			}
		}
	} else if r.dir.has(logName) || r.dir.has(readyName) {
		return // it is being opened: who asks must not take it for none
	}
	if !t.Exists {
		t.Names = r.names()
	}
	_ = json.NewEncoder(c).Encode(t) // who asked is gone, or knows it
}

func (r *Replica) ask(ctx context.Context, p link.Peer, q question) (t told, err error) {
	err = r.o.Link.Dialer().Ask(ctx, p, memberKind, q, &t, mostAnswer)
	return t, err
}

// answered is what a node has been told by another one, or why not.
type answered struct {
	told
	node string
	err  error
}

// askAll asks all other nodes that this one knows of at once, and learns from them who else there is.
func (r *Replica) askAll(ctx context.Context) []answered {
	ctx, cancel := context.WithTimeout(ctx, askMost)
	defer cancel()
	peers := r.others()
	all := make([]answered, len(peers))
	var asking sync.WaitGroup
	for i, p := range peers {
		asking.Go(func() {
			t, err := r.ask(ctx, p, question{})
			all[i] = answered{t, p.Node, err}
		})
	}
	asking.Wait()
	for _, a := range all {
		r.follow(a.Book)
	}
	return all
}
