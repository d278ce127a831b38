package remote

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

type committed struct {
	Puts    [][]queue.PutResult
	Settles []*failure
}

var (
	put         = ask2("Put", queue.Shard.Put)
	publish     = ask2("Publish", queue.Shard.Publish)
	publishEach = ask2("PublishEach", queue.Shard.PublishEach)
	ready       = tell0("Ready", queue.Shard.Ready)
	commit      = define("Commit", func(ctx context.Context, s queue.Shard, c queue.Change, _ *exchange) (committed,
		error) {
		puts, settles, err := s.Commit(ctx, c)
		return committed{puts, failuresOf(settles)}, err
	})
)

// Put implements queue.Putting.
func (s *Store) Put(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	return put.of(ctx, s, pair(n, msgs))
}

// Publish implements queue.Putting.
func (s *Store) Publish(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	return publish.of(ctx, s, pair(n, msgs))
}

// PublishEach implements queue.Putting.
func (s *Store) PublishEach(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	return publishEach.of(ctx, s, pair(n, msgs))
}

// Commit implements queue.Putting.
func (s *Store) Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error) {
	r, err := commit.of(ctx, s, c)
	return r.Puts, errorsOf(r.Settles), err
}

// Ready implements queue.Putting.
func (s *Store) Ready(ctx context.Context) error {
	_, err := ready.of(ctx, s, none{})
	return err
}
