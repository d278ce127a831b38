package doortest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Away is a store that another machine has, and that can be made to be out of reach: what it is asked fails then with
// ErrUnavailable. Only questions fail: a door that takes the failure for an answer goes on, and a test sees what it
// does. Its methods may be called from any goroutine.
type Away struct {
	queue.Service
	// Of tells by its context whose question it is that can fail and counts; nil: everybody's.
	Of func(context.Context) bool

	mu    sync.Mutex
	away  []string
	once  string // fails at this ask of it,
	nth   int    // from 1
	asked map[string]int
}

// Questions are the names of the methods that can fail: those that answer out of the memory of a store of this process.
func Questions() []string {
	return []string{"Definition", "First", "HasTopic", "Idle", "Look", "Note", "NoteKeys", "NoteSize", "Notes", "Parse",
		"Peek", "QueueOf", "Queues", "Ready", "Snapshots", "Stats", "TokenOf", "TopicStats", "Topics"}
}

// Go lets those questions fail from now on, and no others.
func (a *Away) Go(questions ...string) { a.begin(questions, "", 0) }

// GoOnce lets one question fail, when it is asked for the nth time from now on, and no others.
func (a *Away) GoOnce(question string, nth int) { a.begin(nil, question, nth) }

func (a *Away) begin(away []string, once string, nth int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.away, a.once, a.nth, a.asked = away, once, nth, map[string]int{}
}

// Asked tells how often each question was asked since the last Go.
func (a *Away) Asked() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.asked)
}

// answers is how a question fails, if it does.
func (a *Away) answers(ctx context.Context, question string) error {
	if a.Of != nil && !a.Of(ctx) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked != nil {
		a.asked[question]++
	}
	if slices.Contains(a.away, question) || a.once == question && a.asked[question] == a.nth {
		return queue.ErrUnavailable
	}
	return nil
}

// ask lets a question fail, or asks it.
func ask[T any](ctx context.Context, a *Away, question string, f func() (T, error)) (T, error) {
	if err := a.answers(ctx, question); err != nil {
		return *new(T), err
	}
	return f()
}

// askMore is ask for what answers in two parts.
func askMore[T, U any](ctx context.Context, a *Away, question string, f func() (T, U, error)) (T, U, error) {
	if err := a.answers(ctx, question); err != nil {
		return *new(T), *new(U), err
	}
	return f()
}

// Ready implements queue.Service.
func (a *Away) Ready(ctx context.Context) error {
	if err := a.answers(ctx, "Ready"); err != nil {
		return err
	}
	return a.Service.Ready(ctx)
}

// TokenOf implements queue.Service.
func (a *Away) TokenOf(ctx context.Context, n queue.Name, sequence uint64) (queue.Token, bool, error) {
	return askMore(ctx, a, "TokenOf", func() (queue.Token, bool, error) { return a.Service.TokenOf(ctx, n, sequence) })
}

// QueueOf implements queue.Service.
func (a *Away) QueueOf(ctx context.Context, t queue.Token) (queue.Name, bool, error) {
	return askMore(ctx, a, "QueueOf", func() (queue.Name, bool, error) { return a.Service.QueueOf(ctx, t) })
}

// Queues implements queue.Service.
func (a *Away) Queues(ctx context.Context) ([]queue.Name, error) {
	return ask(ctx, a, "Queues", func() ([]queue.Name, error) { return a.Service.Queues(ctx) })
}

// Topics implements queue.Service.
func (a *Away) Topics(ctx context.Context) ([]queue.Name, error) {
	return ask(ctx, a, "Topics", func() ([]queue.Name, error) { return a.Service.Topics(ctx) })
}

// Snapshots implements queue.Service.
func (a *Away) Snapshots(ctx context.Context) ([]queue.Snapshot, error) {
	return ask(ctx, a, "Snapshots", func() ([]queue.Snapshot, error) { return a.Service.Snapshots(ctx) })
}

// HasTopic implements queue.Service.
func (a *Away) HasTopic(ctx context.Context, n queue.Name) (bool, error) {
	return ask(ctx, a, "HasTopic", func() (bool, error) { return a.Service.HasTopic(ctx, n) })
}

// Stats implements queue.Service.
func (a *Away) Stats(ctx context.Context, n queue.Name) (queue.Stats, error) {
	return ask(ctx, a, "Stats", func() (queue.Stats, error) { return a.Service.Stats(ctx, n) })
}

// TopicStats implements queue.Service.
func (a *Away) TopicStats(ctx context.Context, n queue.Name) (queue.TopicStats, error) {
	return ask(ctx, a, "TopicStats", func() (queue.TopicStats, error) { return a.Service.TopicStats(ctx, n) })
}

// Definition implements queue.Service.
func (a *Away) Definition(ctx context.Context, n queue.Name) (queue.Definition, uint64, error) {
	return askMore(ctx, a, "Definition", func() (queue.Definition, uint64, error) {
		return a.Service.Definition(ctx, n)
	})
}

// Parse implements queue.Service.
func (a *Away) Parse(ctx context.Context, n queue.Name, where string) (*condition.Expr, error) {
	return ask(ctx, a, "Parse", func() (*condition.Expr, error) { return a.Service.Parse(ctx, n, where) })
}

// Idle implements queue.Service.
func (a *Away) Idle(ctx context.Context, n queue.Name, where *condition.Expr) (bool, error) {
	return ask(ctx, a, "Idle", func() (bool, error) { return a.Service.Idle(ctx, n, where) })
}

// First implements queue.Service.
func (a *Away) First(ctx context.Context, from queue.From) (queue.Peeked, bool, error) {
	return askMore(ctx, a, "First", func() (queue.Peeked, bool, error) { return a.Service.First(ctx, from) })
}

// Look implements queue.Service.
func (a *Away) Look(ctx context.Context, n queue.Name, sequence uint64) (queue.Peeked, error) {
	return ask(ctx, a, "Look", func() (queue.Peeked, error) { return a.Service.Look(ctx, n, sequence) })
}

// Peek implements queue.Service.
func (a *Away) Peek(ctx context.Context, n queue.Name, r queue.PeekRequest) ([]queue.Peeked, error) {
	return ask(ctx, a, "Peek", func() ([]queue.Peeked, error) { return a.Service.Peek(ctx, n, r) })
}

// Note implements queue.Service.
func (a *Away) Note(ctx context.Context, room, key string) ([]byte, bool, error) {
	return askMore(ctx, a, "Note", func() ([]byte, bool, error) { return a.Service.Note(ctx, room, key) })
}

// NoteSize implements queue.Service.
func (a *Away) NoteSize(ctx context.Context, room, key string) (int, bool, error) {
	return askMore(ctx, a, "NoteSize", func() (int, bool, error) { return a.Service.NoteSize(ctx, room, key) })
}

// Notes implements queue.Service.
func (a *Away) Notes(ctx context.Context, room string) ([]queue.Note, error) {
	return ask(ctx, a, "Notes", func() ([]queue.Note, error) { return a.Service.Notes(ctx, room) })
}

// NoteKeys implements queue.Service.
func (a *Away) NoteKeys(ctx context.Context, room, prefix string) ([]string, error) {
	return ask(ctx, a, "NoteKeys", func() ([]string, error) { return a.Service.NoteKeys(ctx, room, prefix) })
}
