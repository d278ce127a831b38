package q4m

import (
	"context"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// one is the field report's experiment: one connection takes, or inserts, so many rows.
func (s *session) one(ctx context.Context, work string, takes kind, calls int) (err error) {
	// What the field report left behind: first the newest are taken, then others, then more are put in.
	before, since := s.before, s.since
	switch work {
	case workTakeBefore:
		since = 0
	case workInsert:
		before, since = max(s.before-s.takes, 0), 0
	}
	each, err := s.bytesOf(ctx, takes)
	if err != nil {
		return err
	}
	sides, err := s.crews(ctx, 1, takes, before, since, false)
	defer func() { err = harness.JoinCleanup(err, harness.CloseAll(sides)) }()
	if err != nil {
		return err
	}
	trips := 1
	if takes != "" {
		trips = 2
	}
	writer, err := s.Raw.Writer(1, each)
	if err != nil {
		return err
	}
	h, err := s.ours.connect(ctx, false)
	if err != nil {
		return err
	}
	sides = append(sides, &harness.Contender{Name: harness.CaseLimit, Client: clientDriver,
		Worker: &floor{h, trips, writer}})
	if err := harness.InTurns(ctx, calls/s.slice, harness.Turn{Calls: s.slice}, sides, s.Step); err != nil {
		return err
	}
	for _, c := range sides {
		s.found = append(s.found, &lasted{work, c.Name, c.Series()})
	}
	if err := s.check(ctx, sides, before+since); err != nil {
		return err
	}
	s.compared(work, 1, before+since, sides, goalsOfOne(work))
	return nil
}

// many is the same by many connections, who take as long as there is time.
func (s *session) many(ctx context.Context, work string, takes kind) (err error) {
	sides, err := s.crews(ctx, s.connections, takes, s.before, s.since, true)
	defer func() { err = harness.JoinCleanup(err, harness.CloseAll(sides)) }()
	if err != nil {
		return err
	}
	if err := harness.InTurns(ctx, s.rounds, harness.Turn{Time: s.time}, sides, s.Step); err != nil {
		return err
	}
	if err := s.check(ctx, sides, s.before+s.since); err != nil {
		return err
	}
	s.compared(work, s.connections, s.before+s.since, sides, goalsOfMany(work))
	return nil
}

// deeply compares ours with many rows waiting to ours with few.
func (s *session) deeply(ctx context.Context, work string, takes kind, connections int) (err error) {
	few := s.before + s.since
	if s.deeper == nil {
		if s.deeper, err = s.openOurs(ctx, harness.Setting{}); err != nil {
			return err
		}
		if err := s.deeper.reset(ctx, s.deep/few*s.before, s.deep-s.deep/few*s.before); err != nil {
			return err
		}
	}
	if err := s.ours.reset(ctx, s.before, s.since); err != nil {
		return err
	}
	var sides []*harness.Contender
	defer func() { err = harness.JoinCleanup(err, harness.CloseAll(sides)) }()
	var totals []int64
	for _, shop := range []*queueShop{s.deeper, s.ours} {
		n, err := shop.count(ctx)
		if err != nil {
			return err
		}
		totals = append(totals, n)
		c, err := newCrew(ctx, shop, connections, takes, s.stock(takes), true)
		if err != nil {
			return err
		}
		sides = append(sides, &harness.Contender{Name: harness.CaseOurs, Client: shop.client(connections > 1),
			Worker: c})
		if _, err := c.Work(ctx, harness.Turn{Calls: s.slice}); err != nil { // the first take makes an index
			return err
		}
	}
	if err := harness.InTurns(ctx, s.rounds, harness.Turn{Time: s.time}, sides, s.Step); err != nil {
		return err
	}
	for i, c := range sides {
		if err := checkRows(ctx, c.Worker.(*crew), totals[i]); err != nil {
			return err
		}
	}
	r := s.row(work, connections, s.deep, sides[0])
	harness.SetRatio(r, "ratio_depth", harness.Ratios(sides[0], sides[1], harness.ByCost))
	if takes != "" {
		harness.Judge(r, s.Quick, harness.AtMost("ratio_depth", 1.3))
	}
	s.row(work, connections, few, sides[1])
	return nil
}

// stock is how many rows of a kind there are where few wait.
func (s *session) stock(takes kind) int {
	if takes == before {
		return s.before
	}
	return s.since
}

// crews lets every server have the same rows, and connects as many workers to each.
func (s *session) crews(ctx context.Context, n int, takes kind, before, since int,
	keep bool) (sides []*harness.Contender,
	err error) {
	for _, p := range append([]peerShop{{harness.CaseOurs, s.ours}}, s.peers...) {
		if err := p.reset(ctx, before, since); err != nil {
			return sides, err
		}
		c, err := newCrew(ctx, p.shop, n, takes, s.stock(takes), keep)
		if err != nil {
			return sides, err
		}
		sides = append(sides, &harness.Contender{Name: p.name, Client: p.client(n > 1), Worker: c})
	}
	return sides, nil
}

// check tells whether every server has the rows that it should.
func (s *session) check(ctx context.Context, sides []*harness.Contender, began int) error {
	for _, c := range sides {
		if w, ok := c.Worker.(*crew); ok {
			if err := checkRows(ctx, w, int64(began)); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	return nil
}

func checkRows(ctx context.Context, c *crew, began int64) error {
	n, err := c.shop.count(ctx)
	if err != nil {
		return err
	}
	if want := began + c.total; n != want {
		return fmt.Errorf("%d rows are in the table, there should be %d", n, want)
	}
	return c.kept.Check(harness.CaseOurs, c.calls, len(c.hands))
}

// bytesOf is what one take, or one insert, writes to our journal.
func (s *session) bytesOf(ctx context.Context, takes kind) (each float64, err error) {
	if err := s.ours.reset(ctx, s.slice, s.slice); err != nil {
		return 0, err
	}
	c, err := newCrew(ctx, s.ours, 1, takes, s.slice, false)
	if err != nil {
		return 0, err
	}
	defer func() { err = harness.JoinCleanup(err, c.Close()) }()
	first, err := s.ours.child.Say(harness.SayStats)
	if err != nil {
		return 0, err
	}
	if _, err := c.Work(ctx, harness.Turn{Calls: s.slice}); err != nil {
		return 0, err
	}
	last, err := s.ours.child.Say(harness.SayStats)
	return float64(last.Journal.Bytes-first.Journal.Bytes) / float64(s.slice), err
}

// row adds a row about a side.
func (s *session) row(work string, connections, depth int, c *harness.Contender) *measure.Row {
	t := c.Sum()
	r := s.Report.Row(c.Name, work).Set("connections", connections).Set("depth", depth).Set("bytes", harness.BodyBytes)
	if c.Client != "" {
		r.Set("client", c.Client)
	}
	if w, ok := c.Worker.(*crew); ok {
		w.kept.Tell(r)
	}
	return r.Times(t.Calls).Set("p999_ms", harness.Milliseconds(t.Calls.Quantile(0.999))).Rate(t.N, t.Elapsed)
}

// compared adds a row a side: ours, which is first, with its ratios to the others and what is asked of those that are
// there.
func (s *session) compared(work string, connections, depth int, sides []*harness.Contender, goals []harness.Goal) {
	ours := s.row(work, connections, depth, sides[0])
	var asked []harness.Goal
	for _, peer := range sides[1:] {
		name, by := "ratio_"+peer.Name, harness.Compare(harness.ByRate)
		if peer.Name == harness.CaseLimit {
			name, by = "ratio_p50", harness.ByTime(0.5)
		}
		harness.SetRatio(ours, name, harness.Ratios(sides[0], peer, by))
		for _, g := range goals {
			if g.Figure == name {
				asked = append(asked, g)
			}
		}
		s.row(work, connections, depth, peer)
	}
	harness.Judge(ours, s.Quick, asked...)
}

// goalsOfOne is what is asked of one connection.
func goalsOfOne(work string) []harness.Goal {
	if work == workInsert {
		return []harness.Goal{harness.AtLeast("ratio_mariadb", 1.2)}
	}
	return []harness.Goal{harness.AtLeast("ratio_mariadb", 2.2), harness.AtLeast("ratio_postgres", 6),
		harness.AtMost("ratio_p50", 1.25)}
}

// goalsOfMany is what is asked of sixteen.
func goalsOfMany(work string) []harness.Goal {
	if work == workInsert {
		return []harness.Goal{harness.AtLeast("ratio_mariadb", 4)}
	}
	return []harness.Goal{harness.AtLeast("ratio_mariadb", 15)}
}
