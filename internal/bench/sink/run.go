package sink

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// sinkRun is one way to bring lines into a table.
type sinkRun struct {
	work     string
	way      string // CaseOurs, or what stands in the place of the sink
	schema   *sinkSchema
	offered  int    // lines a second; 0: as fast as they are taken
	events   int    // lines
	inFlight string // a number, adaptive, or "": as it is without a setting
	sink     string // more settings of the sink, lines of YAML
	setting  string // what they are called in the report
	batch    string // settings of its batch, as a flow mapping's inside
	request  string // more settings of its requests, likewise
	raw      bool   // lines reach the sink as they are
	couriers int    // processes; 0: one
	ready    bool   // the lines are made before they are wanted
	conflict string // of a thousand commits, how many the server for tests lets fail; "": none
	profile  string // file for a profile
	every    time.Duration
	window   func(w sinkWindow)
}

// sinkTook is what a run took.
type sinkTook struct {
	sinkSaid
	events  int
	elapsed time.Duration      // from when the first line was due until the last commit
	commit  *measure.Histogram // from reading a line to its commit
	due     *measure.Histogram // from when a line was due to its commit; nil without a rate
}

func (t *sinkTook) perSecond() float64 { return float64(t.events) / t.elapsed.Seconds() }

// Run makes the table anew, lets couriers bring the lines in, and looks whether each row is there once.
func (s *session) Run(ctx context.Context, r *sinkRun) (*sinkTook, error) {
	if r.way != wayNothing {
		if err := s.target.empty(ctx, r.schema); err != nil {
			return nil, err
		}
	}
	n := max(1, r.couriers)
	couriers := make([]*sinkProcess, n)
	var ends []func() error
	defer func() {
		for _, end := range ends {
			_ = end() // what matters was said before
		}
	}()
	for i := range couriers {
		feed := &lineFeed{schema: r.schema, first: i, step: n, n: (r.events + n - 1 - i) / n, perSecond: r.offered}
		if r.ready {
			feed.prepare()
		}
		c, err := s.startCourier(ctx, r, feed)
		if err != nil {
			return nil, err
		}
		couriers[i] = c
		ends = append(ends, c.Close)
	}
	start := time.Now()
	if err := s.target.conflicts(r.conflict); err != nil {
		return nil, err
	}
	if err := harness.Crowd(ctx, n,
		func(ctx context.Context, i int) error { return couriers[i].bring(ctx, r, start) }); err != nil {
		return nil, err
	}
	if err := s.target.conflicts("0"); err != nil {
		return nil, err
	}
	took := &sinkTook{events: r.events, commit: measure.NewHistogram()}
	if r.offered > 0 {
		took.due = measure.NewHistogram()
	}
	for _, c := range couriers {
		if err := c.addTo(took, r, start); err != nil {
			return nil, err
		}
	}
	if took.Dead > 0 || took.Settled != int64(r.events) {
		return nil, fmt.Errorf("%s: of %d lines %d were delivered and %d became dead letters; the last failure: %s",
			r.work, r.events, took.Settled, took.Dead, took.Failure)
	}
	if r.way == wayNothing {
		return took, nil
	}
	return took, s.target.check(ctx, r.schema, r.events)
}

// sinkProcess is a courier in a process of its own.
type sinkProcess struct {
	*harness.Talker
	feed  *lineFeed
	times string
	last  sinkSaid
}

// startCourier starts one and waits until it is about to read.
func (s *session) startCourier(ctx context.Context, r *sinkRun, feed *lineFeed) (*sinkProcess, error) {
	if len(s.Sink) == 0 {
		return nil, errors.New("no command was given that brings lines into a database in a process of its own")
	}
	s.couriers++
	dir := filepath.Join(s.Temp, "courier-"+strconv.Itoa(s.couriers))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	c := &sinkProcess{feed: feed, times: filepath.Join(dir, "times")}
	file := filepath.Join(dir, "courier.yaml")
	if err := os.WriteFile(file, []byte(s.target.configuration(r)), 0o600); err != nil {
		return nil, err
	}
	args := append(s.Sink[:len(s.Sink):len(s.Sink)], "--kind", kindCourier, "--config", file, "--dir", dir, "--events",
		strconv.Itoa(feed.n))
	if r.every > 0 {
		args = append(args, "--every", r.every.String())
	} else {
		args = append(args, "--times", c.times)
	}
	if r.profile != "" {
		args = append(args, "--profile", r.profile)
	}
	if r.way != harness.CaseOurs {
		most := atOnce(r.inFlight)
		if s.target.to == toSQLite {
			most = 1 // it has one writer
		}
		args = append(args, "--way", r.way, "--to", s.target.to, "--address", s.target.address, "--table",
			r.schema.table, "--at-once", strconv.Itoa(most))
	}
	var err error
	if c.Talker, err = harness.StartTalker(ctx, "a courier", args...); err != nil {
		return nil, err
	}
	c.In = &closedOnce{WriteCloser: c.In}
	if err := c.Hear(&sinkSaid{}); err != nil {
		return nil, err
	}
	return c, nil
}

// bring writes the courier's lines and hears what it says until its end.
func (c *sinkProcess) bring(ctx context.Context, r *sinkRun, start time.Time) error {
	fed := make(chan error, 1)
	var written func(int)
	watch := &sinkWatch{run: r, feed: c.feed, start: start}
	if r.every > 0 {
		written = func(n int) { watch.written.Store(int64(n)) }
	}
	go func() {
		err := c.feed.write(ctx, c.In, start, written)
		fed <- errors.Join(err, c.In.Close())
	}()
	var heard error
	for heard == nil && !c.last.Done {
		c.last = sinkSaid{}
		if heard = c.Hear(&c.last); heard == nil && !c.last.Done && r.window != nil {
			r.window(watch.window(c.last))
		}
	}
	if heard != nil {
		return errors.Join(heard, c.In.Close(), <-fed)
	}
	return <-fed
}

// addTo adds what this one took.
func (c *sinkProcess) addTo(t *sinkTook, r *sinkRun, start time.Time) error {
	t.Settled += c.last.Settled
	t.CPUUS += c.last.CPUUS
	t.RSS += c.last.RSS
	t.Requests += c.last.Requests
	t.Retries += c.last.Retries
	t.Dead += c.last.Dead
	t.Largest = max(t.Largest, c.last.Largest)
	t.Failure += c.last.Failure
	if r.every > 0 {
		t.elapsed = max(t.elapsed, time.Since(start))
		return nil
	}
	b, err := os.ReadFile(c.times)
	if err != nil {
		return fmt.Errorf("read the times of a courier: %w", err)
	}
	began := start.UnixNano()
	for i := 0; len(b) >= 16; i, b = i+1, b[16:] {
		read, done := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
		if done == 0 {
			continue // it was not looked, or it is counted elsewhere
		}
		t.commit.Record(time.Duration(done - read))
		if t.due != nil {
			t.due.Record(time.Duration(done-began) - c.feed.due(i))
		}
		t.elapsed = max(t.elapsed, time.Duration(done-began))
	}
	return nil
}

// quoted is a text of YAML's that means just that.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a text
	return strings.ReplaceAll(string(b), "$", "$$")
}
