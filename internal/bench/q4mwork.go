package bench

import (
	"context"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// one is the field report's experiment: one connection takes, or inserts, so many rows.
func (s *q4mSession) one(ctx context.Context, work string, takes kind, calls int) (err error) {
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
	defer func() { err = joinCleanup(err, closeAll(sides)) }()
	if err != nil {
		return err
	}
	trips := 1
	if takes != "" {
		trips = 2
	}
	writer, err := s.raw.writer(1, each)
	if err != nil {
		return err
	}
	h, err := s.ours.connect(ctx, false)
	if err != nil {
		return err
	}
	sides = append(sides, &contender{name: caseLimit, client: clientDriver, worker: &floor{h, trips, writer}})
	if err := inTurns(ctx, calls/s.slice, turn{calls: s.slice}, sides, s.step); err != nil {
		return err
	}
	for _, c := range sides {
		s.found = append(s.found, &lasted{work, c.name, c.series()})
	}
	if err := s.check(ctx, sides, before+since); err != nil {
		return err
	}
	s.compared(work, 1, before+since, sides, goalsOfOne(work))
	return nil
}

// many is the same by many connections, who take as long as there is time.
func (s *q4mSession) many(ctx context.Context, work string, takes kind) (err error) {
	sides, err := s.crews(ctx, s.connections, takes, s.before, s.since, true)
	defer func() { err = joinCleanup(err, closeAll(sides)) }()
	if err != nil {
		return err
	}
	if err := inTurns(ctx, s.rounds, turn{time: s.time}, sides, s.step); err != nil {
		return err
	}
	if err := s.check(ctx, sides, s.before+s.since); err != nil {
		return err
	}
	s.compared(work, s.connections, s.before+s.since, sides, goalsOfMany(work))
	return nil
}

// deeply compares ours with many rows waiting to ours with few.
func (s *q4mSession) deeply(ctx context.Context, work string, takes kind, connections int) (err error) {
	few := s.before + s.since
	if s.deeper == nil {
		if s.deeper, err = s.openOurs(ctx, setting{}); err != nil {
			return err
		}
		if err := s.deeper.reset(ctx, s.deep/few*s.before, s.deep-s.deep/few*s.before); err != nil {
			return err
		}
	}
	if err := s.ours.reset(ctx, s.before, s.since); err != nil {
		return err
	}
	var sides []*contender
	defer func() { err = joinCleanup(err, closeAll(sides)) }()
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
		sides = append(sides, &contender{name: caseOurs, client: shop.client(connections > 1), worker: c})
		if _, err := c.work(ctx, turn{calls: s.slice}); err != nil { // the first take makes an index
			return err
		}
	}
	if err := inTurns(ctx, s.rounds, turn{time: s.time}, sides, s.step); err != nil {
		return err
	}
	for i, c := range sides {
		if err := checkRows(ctx, c.worker.(*crew), totals[i]); err != nil {
			return err
		}
	}
	r := s.row(work, connections, s.deep, sides[0])
	setRatio(r, "ratio_depth", ratios(sides[0], sides[1], byCost))
	if takes != "" {
		judge(r, s.Quick, atMost("ratio_depth", 1.3))
	}
	s.row(work, connections, few, sides[1])
	return nil
}

// stock is how many rows of a kind there are where few wait.
func (s *q4mSession) stock(takes kind) int {
	if takes == before {
		return s.before
	}
	return s.since
}

// crews lets every server have the same rows, and connects as many workers to each.
func (s *q4mSession) crews(ctx context.Context, n int, takes kind, before, since int, keep bool) (sides []*contender,
	err error) {
	for _, p := range append([]peerShop{{caseOurs, s.ours}}, s.peers...) {
		if err := p.reset(ctx, before, since); err != nil {
			return sides, err
		}
		c, err := newCrew(ctx, p.shop, n, takes, s.stock(takes), keep)
		if err != nil {
			return sides, err
		}
		sides = append(sides, &contender{name: p.name, client: p.client(n > 1), worker: c})
	}
	return sides, nil
}

// check tells whether every server has the rows that it should.
func (s *q4mSession) check(ctx context.Context, sides []*contender, began int) error {
	for _, c := range sides {
		if w, ok := c.worker.(*crew); ok {
			if err := checkRows(ctx, w, int64(began)); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
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
	return nil
}

// bytesOf is what one take, or one insert, writes to our journal.
func (s *q4mSession) bytesOf(ctx context.Context, takes kind) (each float64, err error) {
	if err := s.ours.reset(ctx, s.slice, s.slice); err != nil {
		return 0, err
	}
	c, err := newCrew(ctx, s.ours, 1, takes, s.slice, false)
	if err != nil {
		return 0, err
	}
	defer func() { err = joinCleanup(err, c.close()) }()
	first, err := s.ours.child.say(sayStats)
	if err != nil {
		return 0, err
	}
	if _, err := c.work(ctx, turn{calls: s.slice}); err != nil {
		return 0, err
	}
	last, err := s.ours.child.say(sayStats)
	return float64(last.Journal.Bytes-first.Journal.Bytes) / float64(s.slice), err
}

// row adds a row about a side.
func (s *q4mSession) row(work string, connections, depth int, c *contender) *measure.Row {
	t := c.sum()
	r := s.report.Row(c.name, work).Set("connections", connections).Set("depth", depth).Set("bytes", bodyBytes)
	if c.client != "" {
		r.Set("client", c.client)
	}
	return r.Times(t.calls).Set("p999_ms", milliseconds(t.calls.Quantile(0.999))).Rate(t.n, t.elapsed)
}

// compared adds a row a side: ours, which is first, with its ratios to the others and what is asked of those that are
// there.
func (s *q4mSession) compared(work string, connections, depth int, sides []*contender, goals []goal) {
	ours := s.row(work, connections, depth, sides[0])
	var asked []goal
	for _, peer := range sides[1:] {
		name, by := "ratio_"+peer.name, compare(byRate)
		if peer.name == caseLimit {
			name, by = "ratio_p50", byTime(0.5)
		}
		setRatio(ours, name, ratios(sides[0], peer, by))
		for _, g := range goals {
			if g.figure == name {
				asked = append(asked, g)
			}
		}
		s.row(work, connections, depth, peer)
	}
	judge(ours, s.Quick, asked...)
}

// goalsOfOne is what is asked of one connection.
func goalsOfOne(work string) []goal {
	if work == workInsert {
		return []goal{atLeast("ratio_mariadb", 1.2)}
	}
	return []goal{atLeast("ratio_mariadb", 2.2), atLeast("ratio_postgres", 6), atMost("ratio_p50", 1.25)}
}

// goalsOfMany is what is asked of sixteen.
func goalsOfMany(work string) []goal {
	if work == workInsert {
		return []goal{atLeast("ratio_mariadb", 4)}
	}
	return []goal{atLeast("ratio_mariadb", 15)}
}
