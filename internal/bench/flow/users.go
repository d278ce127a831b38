package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/flow"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// The ways to find what to send to each user.
const (
	caseOneByOne   = "one-by-one"
	caseConcurrent = "one-by-one-concurrent"
	caseCallers    = "loader-callers" // a goroutine for each key, which asks the Loader
	caseLoader     = "loader"
	caseJoin       = "join"
)

const (
	contentBytes      = 200
	contentsEach      = 3      // rows that each user has
	lookUpConnections = 8      // of those that look up at once
	lookUpKeys        = 10_000 // of a fetch of the loader, at most
)

// userTables are users and their contents in a database. Its methods may be called from several goroutines.
type userTables interface {
	fill(ctx context.Context, users int) error
	// ids are those of all users.
	ids() flow.Stream[int]
	// contents looks one user's up; contentsOf, those of many in one query.
	contents(ctx context.Context, id int) ([]string, error)
	contentsOf(ctx context.Context, ids []int) (map[int][]string, error)
	// joined reads everything in one query.
	joined(ctx context.Context) (map[int][]string, error)
	about() string
	Close() error
}

// lookUps compares the ways in turns.
func (s *session) lookUps(ctx context.Context, work string,
	open func(context.Context) (userTables, error)) (err error) {
	tables, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, tables.Close()) }()
	if err := tables.fill(ctx, s.users); err != nil {
		return err
	}
	s.Report.Note(tables.about())
	ways := []struct {
		name   string
		atOnce int
		find   func(ctx context.Context) (map[int][]string, error)
	}{
		{caseOneByOne, 1, func(ctx context.Context) (map[int][]string, error) { return oneByOne(ctx, tables, 1) }},
		{caseConcurrent, lookUpConnections,
			func(ctx context.Context) (map[int][]string, error) { return oneByOne(ctx, tables, lookUpConnections) }},
		{caseCallers, lookUpKeys,
			func(ctx context.Context) (map[int][]string, error) { return loadedByCallers(ctx, tables) }},
		{caseLoader, 1, func(ctx context.Context) (map[int][]string, error) { return loaded(ctx, tables) }},
		{caseJoin, 1, tables.joined},
	}
	times := make(map[string][]time.Duration)
	for range s.rounds {
		for _, w := range ways {
			began := time.Now()
			found, err := w.find(ctx)
			took := time.Since(began)
			if err == nil {
				err = s.checkContents(found)
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", work, w.name, err)
			}
			times[w.name] = append(times[w.name], took)
		}
		s.Step()
	}
	for _, w := range ways {
		r := s.Report.Row(w.name, work).Set("writers", w.atOnce).Set("users", s.users)
		ratio := setTotals(r, times[w.name], times[caseJoin])
		r.Set("ratio_ideal", harness.Hundredths(ratio))
		faster := float64(medianTime(times[caseOneByOne])) / float64(medianTime(times[w.name]))
		r.Set("ratio_sequence", harness.Hundredths(faster))
		if w.name == caseLoader && work == workUsersPostgres {
			harness.Judge(r, s.Quick, harness.AtMost("ratio_ideal", 2), harness.AtLeast("ratio_sequence", 20))
		}
	}
	return nil
}

type contents = flow.Pair[int, []string]

func oneByOne(ctx context.Context, tables userTables, atOnce int) (map[int][]string, error) {
	return lookUp(ctx, tables, tables.contents, atOnce)
}

// loadedByCallers lets a goroutine ask for each key, as the handlers of many requests would.
func loadedByCallers(ctx context.Context, tables userTables) (_ map[int][]string, err error) {
	loader := flow.NewLoader(flow.LoaderConfig[int, []string]{Fetch: tables.contentsOf, MaxKeys: lookUpKeys})
	defer func() { err = errors.Join(err, loader.Close()) }()
	return lookUp(ctx, tables, loader.Load, lookUpKeys)
}

// loaded looks users up as they come.
func loaded(ctx context.Context, tables userTables) (_ map[int][]string, err error) {
	loader := flow.NewLoader(flow.LoaderConfig[int, []string]{Fetch: tables.contentsOf, MaxKeys: lookUpKeys})
	defer func() { err = errors.Join(err, loader.Close()) }()
	found := flow.Lookup(tables.ids(), func(id int) int { return id }, loader, lookUpKeys, flow.Options{})
	return flow.CollectMap(ctx, found, func(c contents) (int, []string) { return c.First, c.Second })
}

func lookUp(ctx context.Context, tables userTables, find func(context.Context, int) ([]string, error),
	atOnce int) (map[int][]string, error) {
	found := flow.Map(tables.ids(), func(ctx context.Context, id int) (contents, error) {
		list, err := find(ctx, id)
		return contents{First: id, Second: list}, err
	}, flow.Options{Concurrency: atOnce})
	return flow.CollectMap(ctx, found, func(c contents) (int, []string) { return c.First, c.Second })
}

// checkContents looks whether every user has what is theirs.
func (s *session) checkContents(found map[int][]string) error {
	if len(found) != s.users {
		return fmt.Errorf("%d users were found, there are %d", len(found), s.users)
	}
	for id, list := range found {
		if len(list) != contentsEach || list[0] != contentText(id, 0) {
			return fmt.Errorf("user %d has %q", id, list)
		}
	}
	return nil
}

// contentText is what a content says: about as much as a phone shows of a notification.
func contentText(user, i int) string {
	return fmt.Sprintf("%-*s", contentBytes, fmt.Sprintf("news %d for user %d", i, user))
}
