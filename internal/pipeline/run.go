package pipeline

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
)

// Run starts the components, sinks first, sources last, and moves messages until all sources have ended and everything
// is settled, or until ctx ends: then the sources are stopped, what is in flight is finished within Options.StopGrace,
// and the rest is given back. A source that fails, or a sink whose error is a component.Stopper, stops the others in
// the same way. Before Run returns, every component that was started is closed, sources first, and no goroutine is
// left, provided that the components return when their contexts end.
//
// A clean stop is no error. Otherwise the error joins NodeErrors: of the component that did not start, or of the
// nodes that failed and the components that did not close well. The Result is valid in any case. Run may be called
// once.
func (p *Pipeline) Run(ctx context.Context) (Result, error) {
	return p.run(ctx, func() error { return nil })
}

// run is Run. started is called when the components have been started and no message has moved; with an error of it
// none does.
func (p *Pipeline) run(ctx context.Context, started func() error) (Result, error) {
	if p.options.Store == nil {
		return Result{}, ErrNoStore
	}
	if !p.started.CompareAndSwap(false, true) {
		return Result{}, ErrStarted
	}
	slack := make([]byte, p.options.Slack)
	defer runtime.KeepAlive(slack)
	// What is in flight when ctx ends is to be finished, so calls to components do not end with it.
	work, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	p.work = work
	sources, stop := context.WithCancel(ctx)
	defer stop()
	p.stop = stop

	opened, err := p.start(ctx, work)
	if err == nil {
		err = started()
	}
	if err != nil {
		return p.result(), errors.Join(err, p.close(opened))
	}
	p.openReceipts()
	p.direct.open()
	p.startSources(sources)
	p.goroutines.Go(p.watch)
	select {
	case <-p.drained:
	case <-sources.Done():
		p.finish(giveUp)
	}
	giveUp()
	p.goroutines.Wait()
	p.announceRest()
	p.mu.Lock()
	failures := errors.Join(p.failures...)
	p.mu.Unlock()
	p.direct.close()
	failures = errors.Join(failures, p.closeReceipts(), p.close(opened))
	p.announceReceipts()
	return p.result(), failures // the sources may have put the last receipts when they closed
}

// start prepares the components and returns those that have to be closed.
func (p *Pipeline) start(ctx, work context.Context) (opened []*node, err error) {
	// A component may keep the context of its start for what it opens, so that lives as long as work does; but a stop
	// ends a start.
	starting, cancel := context.WithCancel(work)
	begun := context.AfterFunc(ctx, cancel)
	for _, kind := range []string{KindSink, KindTransform, KindSource} {
		for _, n := range p.graph.nodes {
			if n.kind != kind {
				continue
			}
			if s, ok := n.component().(starter); ok {
				if err := p.startOne(starting, n, s); err != nil {
					cancel()
					return opened, &NodeError{n.Name, "start", err}
				}
			}
			opened = append(opened, n)
		}
	}
	if !begun() {
		cancel()
		return opened, ctx.Err()
	}
	return opened, nil
}

type starter interface{ Start(context.Context) error }

func (n *node) component() any {
	switch n.kind {
	case KindSource:
		return n.Source
	case KindTransform:
		switch {
		case n.Group != nil:
			return n.Group
		case n.Stream != nil:
			return n.Stream
		}
		return n.Transform
	}
	return n.Sink
}

func (p *Pipeline) startOne(ctx context.Context, n *node, s starter) (err error) {
	defer p.recovered(n, "start", &err)
	return s.Start(ctx)
}

// halt stops the pipeline because a node cannot go on. Its first error is what Run returns.
func (p *Pipeline) halt(n *node, err error) {
	n.failed(err, p.options.Clock())
	p.mu.Lock()
	if !n.halted {
		n.halted = true
		p.failures = append(p.failures, &NodeError{n.Name, "run", err})
	}
	p.mu.Unlock()
	p.stop()
}

func (p *Pipeline) startSources(ctx context.Context) {
	if p.options.Finite {
		p.feed(ctx)
	}
	if len(p.entries) == 0 {
		close(p.drained)
	}
	for _, e := range p.entries {
		p.goroutines.Go(func() {
			err := e.run(ctx)
			stopped := ctx.Err() != nil &&
				(errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
					errors.Is(err, ErrStopping))
			if err != nil && !stopped {
				p.halt(e.node, err)
			}
			e.end()
		})
	}
}

// feed tells the sources that can finish when nothing more comes for them.
func (p *Pipeline) feed(ctx context.Context) {
	waits := p.graph.feeders()
	for _, e := range p.entries {
		f, ok := e.node.Source.(Finisher)
		if !ok {
			continue
		}
		feeding := make(chan struct{})
		f.Finish(feeding)
		p.goroutines.Go(func() {
			for _, feeder := range waits[e.node] {
				select {
				case <-feeder.entry.drained:
				case <-ctx.Done():
					return
				}
			}
			close(feeding)
		})
	}
}

// finish stops the sources and waits until everything is settled: for StopGrace by the components' work, then by giving
// back.
func (p *Pipeline) finish(giveUp func()) {
	p.part()
	close(p.stopping)
	grace := time.NewTimer(p.options.StopGrace)
	defer grace.Stop()
	by := time.Now().Add(p.options.StopGrace)
	for _, s := range p.stages {
		s.stop(by)
	}
	select {
	case <-p.drained:
		return
	case <-grace.C:
	case <-p.options.Abandon:
	}
	for _, s := range p.stages {
		s.end()
	}
	giveUp()
	<-p.drained
}

// part waits for the sources that bring in what they have been handed, each as long as it says.
func (p *Pipeline) part() {
	began := time.Now()
	for _, e := range p.entries {
		parter, ok := e.node.Source.(component.Parter)
		if !ok {
			continue
		}
		patience := time.NewTimer(time.Until(began.Add(parter.Parts())))
		select {
		case <-e.returned:
		case <-patience.C:
		case <-p.options.Abandon:
		}
		patience.Stop()
	}
}

// close closes components, sources first, so that they may still tell what is settled.
func (p *Pipeline) close(opened []*node) error {
	var errs []error
	for _, kind := range []string{KindSource, KindTransform, KindSink} {
		for _, n := range opened {
			if n.kind != kind {
				continue
			}
			if c, ok := n.component().(interface{ Close() error }); ok {
				if err := p.closeOne(n, c.Close); err != nil {
					errs = append(errs, &NodeError{n.Name, "close", err})
				}
			}
		}
	}
	return errors.Join(errs...)
}

func (p *Pipeline) closeOne(n *node, f func() error) (err error) {
	defer p.recovered(n, "close", &err)
	return f()
}

func (p *Pipeline) result() Result {
	r := Result{Delivered: p.delivered.Load(), DeadLettered: p.buried.Load(), Dropped: p.dropped.Load(),
		GivenBack: p.givenBack.Load(), Nodes: p.Stats()}
	for _, n := range r.Nodes {
		r.Retried += n.Retries
	}
	return r
}
