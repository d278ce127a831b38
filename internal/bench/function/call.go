package function

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/bill"
	"github.com/hikyaku/hikyaku/internal/function/logbook"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// functionPool is a pool of a bench in a folder of its own.
type functionPool struct {
	*function.Pool
	dir string
}

// pool opens a pool as by hand, which stands beside it; and instances tell themselves apart by the numbers of their
// processes.
func (s *session) pool() (*functionPool, error) { return s.poolOf(function.None) }

func (s *session) poolOf(isolation function.Isolation) (*functionPool, error) {
	dir, err := os.MkdirTemp(s.Temp, "pool-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for a pool: %w", err)
	}
	p, err := function.New(function.Config{Dir: dir, Isolation: isolation})
	if err != nil {
		return nil, err
	}
	return &functionPool{p, dir}, nil
}

// Close ends the pool and takes its folder away.
func (p *functionPool) Close() error { return errors.Join(p.Pool.Close(), os.RemoveAll(p.dir)) }

// with opens a pool with functions for the time of do.
func (s *session) with(do func(p *functionPool) error, functions ...function.Definition) (err error) {
	return s.withIsolated(function.None, do, functions...)
}

func (s *session) withIsolated(isolation function.Isolation, do func(p *functionPool) error,
	functions ...function.Definition) (err error) {
	p, err := s.poolOf(isolation)
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, p.Close()) }()
	for _, d := range functions {
		if _, err := p.Deploy(d); err != nil {
			return err
		}
	}
	return do(p)
}

// invoked is an invocation as seen from outside.
type invoked struct {
	*function.Result
	took  time.Duration  // by a watch
	lines []logbook.Line // that were written since the last invocation
}

// call invokes a function, which has to succeed.
func (p *functionPool) call(ctx context.Context, name, event string) (*invoked, error) {
	book, err := p.Log(name, "")
	if err != nil {
		return nil, err
	}
	from, began := book.End(), time.Now()
	r, err := p.invokeWell(ctx, name, event)
	if err != nil {
		return nil, err
	}
	c := &invoked{Result: r, took: time.Since(began)}
	c.lines, _, _ = book.Read(from, 0)
	return c, nil
}

// invokeWell is Invoke that takes an error of the function for its own.
func (p *functionPool) invokeWell(ctx context.Context, name, event string) (*function.Result, error) {
	r, err := p.Invoke(ctx, function.Request{Function: name, Payload: []byte(event)})
	if err == nil && r.FunctionError != "" {
		err = fmt.Errorf("function %s failed: %s: %.1000s", name, r.ErrorType, r.Payload)
	}
	return r, err
}

// said are the values that were printed behind a label.
func (c *invoked) said(label string) (values []string) {
	for _, l := range c.lines {
		if _, value, ok := strings.Cut(l.Text, label+": "); ok && !l.Ours {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

// last is the last of these values; "": there is none.
func (c *invoked) last(label string) string {
	if all := c.said(label); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// set puts a number that was printed into a row; nothing where there is none.
func (c *invoked) set(r *measure.Row, column, label string) {
	if n, err := strconv.ParseFloat(c.last(label), 64); err == nil {
		r.Set(column, n)
	}
}

// bills puts what an invocation costs into a row, today and by the rules at the time of the report.
func (c *invoked) bills(r *measure.Row) *measure.Row {
	r.Set("total_ms", measure.Milliseconds(c.took)).Set("cold", c.Cold)
	if c.Usage.Init > 0 {
		r.Set("init_ms", measure.Milliseconds(c.Usage.Init))
	}
	r.Set("duration_ms", measure.Milliseconds(c.Usage.Duration)).Set("billed_ms",
		measure.Milliseconds(c.Charge.Billed)).
		Set("billed_then_ms", measure.Milliseconds(bill.Old.Charge(c.Usage).Billed))
	if c.Usage.PeakMB > 0 {
		r.Set("peak_mb", c.Usage.PeakMB)
	}
	return r
}
