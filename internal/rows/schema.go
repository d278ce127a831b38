package rows

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// schema knows the table as it is, or was when somebody looked.
type schema struct {
	settings *settings
	driver   Driver
	counts   *counts

	now  atomic.Pointer[plan]
	turn chan struct{} // one describes at a time. It is waited for with a session in hand, never the other way round

	mu        sync.Mutex
	strangers map[string]time.Time // fields without a column, and when somebody looked for one
}

func newSchema(s *settings, d Driver, c *counts) *schema {
	return &schema{settings: s, driver: d, counts: c, turn: make(chan struct{}, 1), strangers: map[string]time.Time{}}
}

// misfit is a table that the settings do not go with. A person has to change one of them.
type misfit struct{ error }

func (e *misfit) Unwrap() error { return e.error }

var errNoTable = errors.New("there is no such table: create it, or let it be made by the setting create")

// errNothingToMake: a table is to be made of messages that have nothing to make it of.
var errNothingToMake = errors.New("there is no such table, and the message has no fields to make it of")

// look describes the table anew, unless somebody has since old was made. The plan is old itself if nothing has changed,
// but when renew is set.
func (s *schema) look(ctx context.Context, in Session, old *plan, renew bool, batch []*message.Message) (*plan, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if p := s.now.Load(); p != nil && p != old {
		return p, nil
	}
	s.counts.described.Add(1)
	t, err := in.Describe(ctx, s.settings.table)
	if err != nil && s.driver.Judge(err).Class == NoTable {
		s.now.Store(nil)
		t, err = s.create(ctx, in, batch, err)
	}
	if err != nil {
		return nil, err
	}
	if old != nil && !renew && reflect.DeepEqual(t, old.table) {
		return old, nil
	}
	p, err := newPlan(t, s.settings)
	if err != nil {
		s.now.Store(nil)
		return nil, &misfit{err}
	}
	s.now.Store(p)
	return p, nil
}

// create makes the table that is not there, if it is to be made, and describes it.
func (s *schema) create(ctx context.Context, in Session, batch []*message.Message, absent error) (*Table, error) {
	t := &Table{Name: s.settings.table, Columns: s.settings.create}
	switch {
	case s.settings.infer:
		if t.Columns = s.settings.inferred(batch); t.Columns == nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, errNothingToMake)
		}
	case t.Columns == nil:
		return nil, fmt.Errorf("table %s: %w (%w)", t.Name, errNoTable, absent)
	}
	if err := in.Create(ctx, t); err != nil {
		return nil, fmt.Errorf("make the table %s: %w", t.Name, err)
	}
	s.counts.created.Add(1)
	return in.Describe(ctx, t.Name)
}

// How often it is looked for a column that a field wants.
const (
	mostStrangers = 1000
	refusedLook   = time.Second      // where it costs messages
	droppedLook   = 30 * time.Second // where it costs fields
)

// strange tells whether it is worth a look at the table that these fields have no column.
func (s *schema) strange(fields []string) bool {
	if len(fields) == 0 {
		return false
	}
	pause := refusedLook
	if s.settings.unknown == drop {
		pause = droppedLook
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	worth, now := false, time.Now()
	for _, f := range fields {
		if at, seen := s.strangers[f]; seen && now.Sub(at) < pause {
			continue
		}
		if len(s.strangers) >= mostStrangers {
			clear(s.strangers)
		}
		s.strangers[f] = now
		worth = true
	}
	return worth
}
