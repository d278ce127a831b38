package main

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// doorStore is the store as one door has it: where messages are traced, their journeys name the door.
type doorStore struct {
	courierStore
	door string
}

// storeFor is the store for a door.
func (h *house) storeFor(door string) courierStore {
	store := h.store
	if h.trace != nil {
		store = &doorStore{store, door}
	}
	if h.audit != nil {
		store = &auditStore{store, door, h.audit}
	}
	return store
}

func (s *doorStore) Put(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	return s.courierStore.Put(journey.By(ctx, s.door), n, msgs)
}

func (s *doorStore) Publish(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	return s.courierStore.Publish(journey.By(ctx, s.door), n, msgs)
}

func (s *doorStore) PublishEach(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	return s.courierStore.PublishEach(journey.By(ctx, s.door), n, msgs)
}

func (s *doorStore) Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error) {
	return s.courierStore.Commit(journey.By(ctx, s.door), c)
}

func (s *doorStore) Claim(ctx context.Context, r queue.ClaimRequest) ([]queue.Claim, error) {
	return s.courierStore.Claim(journey.By(ctx, s.door), r)
}

func (s *doorStore) Settle(ctx context.Context, ss []queue.Settlement) ([]error, error) {
	return s.courierStore.Settle(journey.By(ctx, s.door), ss)
}

func (s *doorStore) Replay(ctx context.Context, n queue.Name, r queue.ReplayRequest) (queue.Replayed, error) {
	return s.courierStore.Replay(journey.By(ctx, s.door), n, r)
}
