package fetch

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"
)

// endingSoon is a context that has not ended when it is looked at first, and has from the second time on: it ends while
// a question begins.
type endingSoon struct {
	context.Context
	looks atomic.Int32
	never chan struct{}
	over  chan struct{} // closed
}

func (c *endingSoon) Done() <-chan struct{} {
	if c.looks.Add(1) <= 2 { // ours, and the driver's before it begins
		return c.never
	}
	return c.over
}

func (c *endingSoon) Err() error {
	if c.looks.Load() <= 2 {
		return nil
	}
	return context.Canceled
}

// TestAContextThatEndsWhileAQuestionBeginsEndsIt asks without end, again and again: a question that missed its end
// would never come back.
func TestAContextThatEndsWhileAQuestionBeginsEndsIt(t *testing.T) {
	conn, err := connector{&sqlite.Driver{},
		sqLiteAddress(fill(t, "create table t (a integer)"), "rw")}.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	over := make(chan struct{})
	close(over)
	asks := conn.(driver.QueryerContext)
	for range 1000 {
		ctx := &endingSoon{Context: context.Background(), never: make(chan struct{}), over: over}
		rows, err := asks.QueryContext(ctx, "with recursive n(i) as (select 1 union all select i + 1 from n) select "+
			"i from n where i < 0", nil)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, %v", rows, err)
		}
	}
	rows, err := asks.QueryContext(t.Context(), "select 1", nil)
	if err != nil {
		t.Fatalf("afterwards: %v", err)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
}
