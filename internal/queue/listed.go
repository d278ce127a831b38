package queue

import (
	"context"
	"slices"

	"github.com/tidwall/btree"
)

// What is listed stands in trees that copy themselves on write: a copy takes one step, however much is in it, is of one
// moment, and is read without the lock.

// listing is a copy of a list, to be read without the lock.
func listing[T any](s *Store, of func(*state) *btree.BTreeG[T]) (*btree.BTreeG[T], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return of(s.state).Copy(), s.sound()
}

// items are what stands in a list.
func items[T any](s *Store, of func(*state) *btree.BTreeG[T]) ([]T, error) {
	list, err := listing(s, of)
	if err != nil {
		return nil, err
	}
	return list.Items(), nil
}

// Queues lists the queues by name.
func (s *Store) Queues(context.Context) ([]Name, error) {
	return items(s, func(st *state) *btree.BTreeG[Name] { return st.queueList })
}

// Topics lists the topics by name.
func (s *Store) Topics(context.Context) ([]Name, error) {
	return items(s, func(st *state) *btree.BTreeG[Name] { return st.topicList })
}

// describedAtOnce is how many snapshots are described under one hold of the lock.
const describedAtOnce = 256

// Snapshots lists the snapshots by name.
func (s *Store) Snapshots(context.Context) ([]Snapshot, error) {
	all, err := items(s, func(st *state) *btree.BTreeG[*snapshotState] { return st.snapshotList })
	if err != nil {
		return nil, err
	}
	list := make([]Snapshot, 0, len(all))
	for some := range slices.Chunk(all, describedAtOnce) {
		s.mu.Lock()
		for _, sn := range some {
			if !sn.queue.gone {
				list = append(list, s.state.describe(sn))
			}
		}
		s.mu.Unlock()
	}
	return list, nil
}
