package raft

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	pb "go.etcd.io/raft/v3/raftpb"
)

// Book is what the log knows of its group besides who has a vote. Whoever has a Book changes nothing in it.
type Book struct {
	At uint64 `json:"at,omitempty"` // index of the last change of it; of two books that with the greater one is newer
	// Nodes are those of which a change said where they are reached, by name; "": the node has left.
	Nodes map[string]string `json:"nodes,omitempty"`
	Gone  []uint64          `json:"gone,omitempty"` // replicas that have left; none of them comes back
}

// Note is what a change says of a node: where the others reach it; "": it has left.
type Note struct {
	Node    string `json:"node"`
	Address string `json:"address,omitempty"`
}

// encode is the note as a change carries it; nil says nothing.
func (n *Note) encode() []byte {
	if n == nil {
		return nil
	}
	b, _ := json.Marshal(n) // two texts
	return b
}

// Book is what the log knows of its group here, as far as this replica has the log.
func (r *Replica) Book() Book {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	return r.log.confs[len(r.log.confs)-1].book
}

// after is the book after a change.
func (b Book) after(index uint64, change *pb.ConfChangeV2) (Book, error) {
	for _, c := range change.GetChanges() {
		if id := c.GetNodeId(); c.GetType() == pb.ConfChangeRemoveNode && !slices.Contains(b.Gone, id) {
			b.At, b.Gone = index, append(slices.Clip(b.Gone), id)
		}
	}
	if len(change.GetContext()) == 0 {
		return b, nil
	}
	var n Note
	if err := json.Unmarshal(change.GetContext(), &n); err != nil {
		return b, fmt.Errorf("%w: entry %d: what is said of a node: %w", errEntry, index, err)
	}
	nodes := maps.Clone(b.Nodes)
	if nodes == nil {
		nodes = map[string]string{}
	}
	nodes[n.Node] = n.Address
	b.At, b.Nodes = index, nodes
	return b, nil
}

// append appends the book to a checkpoint's header.
func (b Book) append(to []byte) []byte {
	to = binary.AppendUvarint(to, b.At)
	to = binary.AppendUvarint(to, uint64(len(b.Nodes)))
	for _, name := range slices.Sorted(maps.Keys(b.Nodes)) {
		for _, text := range []string{name, b.Nodes[name]} {
			to = append(binary.AppendUvarint(to, uint64(len(text))), text...)
		}
	}
	to = binary.AppendUvarint(to, uint64(len(b.Gone)))
	for _, id := range b.Gone {
		to = binary.AppendUvarint(to, id)
	}
	return to
}

// book takes a book.
func (d *decoder) book() (b Book) {
	b.At = d.number()
	for range min(d.number(), uint64(len(d.rest))) {
		if b.Nodes == nil {
			b.Nodes = map[string]string{}
		}
		name := string(d.bytes(d.number()))
		b.Nodes[name] = string(d.bytes(d.number()))
	}
	for range min(d.number(), uint64(len(d.rest))) {
		b.Gone = append(b.Gone, d.number())
	}
	return b
}
