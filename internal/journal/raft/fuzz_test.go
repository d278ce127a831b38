package raft

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func FuzzGroup(f *testing.F) {
	f.Add(encodeGroup(nil))
	f.Add(encodeGroup([]journal.Record{{Queue: 1, Life: journal.Lasting, Sequence: 2, Head: []byte("h"),
		Body: []byte("body")}, {Sequence: 1 << 60}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := decodeGroup(nil, data)
		if err != nil {
			return
		}
		again, err := decodeGroup(nil, encodeGroup(records))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(records, again); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzHeader(f *testing.F) {
	h := header{at: 7, term: 2, owner: 6, conf: &pb.ConfState{Voters: []uint64{1, 2, 3}, Learners: []uint64{4}},
		book:  Book{At: 5, Nodes: map[string]string{"d": "10.0.0.4:6222", "e": ""}, Gone: []uint64{9}},
		state: [2]uint64{3, 1}, older: point{4, 1, 32}, places: []place{{1, 64, 0, 3}, {5, 128, 2, 1}, {5, 192, 4, 1}}}
	f.Add(h.encode()[8:])
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHeader(b)
		if err != nil {
			return
		}
		again, err := readHeader(bytes.NewReader(append(h.encode(), "rest"...)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(h.encode(), again.encode()) {
			t.Errorf("%+v and %+v", h, again)
		}
	})
}
