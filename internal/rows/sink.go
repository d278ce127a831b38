package rows

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Sink writes messages into one table. It may be used by several goroutines at once.
type Sink struct {
	settings settings
	driver   Driver
	counts   *counts
	waits    waits
	schema   *schema
	pool     *pool
	builders sync.Pool // of *builder, with the memory of the batch before
}

// New checks the settings and opens nothing. Errors are *component.SettingError. The sink closes the driver, also one
// that New refuses.
func New(d Driver, c Config, _ component.Env) (*Sink, error) {
	s := &Sink{driver: d, counts: &counts{}}
	var err error
	if s.settings, err = c.check(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	s.schema = newSchema(&s.settings, d, s.counts)
	s.pool = newPool(d, s.settings.pool, s.counts)
	return s, nil
}

// startPatience bounds the look at the table at the start.
const startPatience = 10 * time.Second

// Start looks at the table, or makes it. A database that is away may come later, so that is no error; one that refuses
// us, a table that is not there and settings that do not go with it are.
func (s *Sink) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	session, err := s.pool.take(ctx)
	if err != nil {
		return s.startError(err)
	}
	_, err = s.schema.look(ctx, session, nil, false, nil)
	s.pool.give(session, err != nil && s.broken(ctx, err))
	if err != nil && !errors.Is(err, errNothingToMake) {
		return s.startError(err)
	}
	return nil
}

// Notices tells what the driver has noticed that a person should know.
func (s *Sink) Notices() []string {
	if n, ok := s.driver.(Noticing); ok {
		return n.Notices()
	}
	return nil
}

func (s *Sink) startError(err error) error {
	if bad := (*misfit)(nil); errors.As(err, &bad) {
		return err
	}
	switch s.driver.Judge(err).Class {
	case Refused:
		return fmt.Errorf("refused by the database: %w", err)
	case NoTable, BadRow, Drift: // the last: what create says is not understood
		return err
	}
	s.waits.begin(s.away(err))
	return nil
}

// away is an error of a database that is not there.
func (s *Sink) away(err error) error {
	return fmt.Errorf("table %s: the database is away: %w", s.settings.table, err)
}

// broken tells whether a session that gave the error is of no more use. After the end of a context nobody knows what it
// was doing.
func (s *Sink) broken(ctx context.Context, err error) bool {
	if bad := (*misfit)(nil); errors.As(err, &bad) || errors.Is(err, errNothingToMake) {
		return false
	}
	return ctx.Err() != nil || s.driver.Judge(err).Broken
}

// Limits: a Send has one session, and one more may read its messages meanwhile.
func (s *Sink) Limits() component.SinkLimits {
	l := component.SinkLimits{Concurrency: s.settings.pool + 1}
	if wide, ok := s.driver.(Wide); ok {
		l.DefaultEvents = wide.UsualRows()
	}
	return l
}

// Counts are rows written, and why some were not, or not at once.
func (s *Sink) Counts() map[string]uint64 { return s.counts.all() }

// Close lets go of the sessions and the driver.
func (s *Sink) Close() error { return errors.Join(s.pool.close(), s.driver.Close()) }

// Send writes a batch: the rows of a layout in one transaction, but for those that are refused.
func (s *Sink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	w := &writing{sink: s, ctx: ctx, batch: batch, outcomes: make([]component.Outcome, len(batch))}
	todo := make([]int, len(batch))
	for i := range todo {
		todo[i] = i
	}
	w.run(todo)
	s.note(ctx, w.outcomes)
	return w.outcomes, nil
}

// note counts what was rejected and notes whether rows wait.
func (s *Sink) note(ctx context.Context, outcomes []component.Outcome) {
	var why error // rows wait
	delivered := false
	for i := range outcomes {
		switch o := &outcomes[i]; o.Verdict {
		case component.Delivered:
			delivered = true
		case component.Rejected:
			s.counts.rejected.Add(1)
		case component.Retry: // one that lost too many conflicts waits for nobody
			if o.Held && !o.Slow || errors.Is(ctx.Err(), context.DeadlineExceeded) {
				why = o.Reason
			}
		}
	}
	switch {
	case why != nil:
		s.waits.begin(why)
	case delivered:
		s.waits.end()
	}
}
