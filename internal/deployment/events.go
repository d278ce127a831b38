package deployment

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	// eventSpace is the namespace of the queues of events.
	eventSpace = "functions"
	// maxEvents bounds how many events of one function wait.
	maxEvents = 1_000_000
	// MaxEvent is how many bytes an event has at most that nobody waits for.
	MaxEvent = 1 << 20
	// usualAge is how old an event becomes before it is given up, unless it was said.
	usualAge     = 6 * time.Hour
	usualRetries = 2
	// poll is how long a runner waits at once.
	poll = 20 * time.Second
	// again is how long to wait after the store could not be asked.
	again = time.Second
)

// Attributes of an event's message.
const (
	attributeID        = "request_id"
	attributeQualifier = "qualifier"
	attributeARN       = "arn"
	attributeTrace     = "trace_id"
	attributeContext   = "client_context"
)

// eventQueue is where the events of a function wait.
func eventQueue(name string) queue.Name { return queue.Name{Namespace: eventSpace, Name: name} }

// Enqueue keeps an event that nobody waits for: it is durable when Enqueue returns, and will be invoked. The result is
// the request's id. Errors: ErrUnknown, ErrFull, function.ErrTooLarge, the store's.
func (r *Registry) Enqueue(ctx context.Context, in function.Request) (string, error) {
	f, _, err := r.Version(in.Function, in.Version)
	if err != nil {
		return "", err
	}
	if len(in.Payload) > MaxEvent {
		return "", fmt.Errorf("function %s: %w: it has %d bytes, the limit is %d for one that nobody waits for", f.Name,
			function.ErrTooLarge, len(in.Payload), MaxEvent)
	}
	if in.ID == "" {
		in.ID = uuid.NewString()
	}
	m := message.Message{Body: in.Payload, Time: time.Now()}
	for _, a := range []struct{ name, value string }{
		{attributeID, in.ID}, {attributeQualifier, in.Version}, {attributeARN, in.ARN}, {attributeTrace, in.TraceID},
		{attributeContext, in.ClientContext},
	} {
		if a.value != "" {
			m.Attributes.Set(a.name, message.String(a.value))
		}
	}
	n := eventQueue(f.Name)
	if _, err := r.store.CreateQueue(ctx, n, queue.Definition{Unordered: true, MaxMessages: maxEvents}); err != nil &&
		!errors.Is(err, queue.ErrExists) {
		return "", fmt.Errorf("keep an event for %s: %w", f.Name, err)
	}
	r.run(f.Name) // before: when nobody knows whether the event was kept, it may be there
	if _, err := r.store.Put(ctx, n, []message.Message{m}); err != nil {
		if errors.Is(err, queue.ErrQueueFull) || errors.Is(err, queue.ErrNoRoom) {
			return "", &wrong{ErrFull, fmt.Sprintf("keep an event for %s: %v", f.Name, err)}
		}
		return "", fmt.Errorf("keep an event for %s: %w", f.Name, err)
	}
	return in.ID, nil
}

// runner invokes the events of one function.
type runner struct {
	ctx context.Context
	end context.CancelFunc
}

// run makes sure that a function's events are invoked.
func (r *Registry) run(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.runners[name] != nil || r.stopping.Err() != nil {
		return
	}
	run := &runner{}
	run.ctx, run.end = context.WithCancel(r.stopping)
	r.runners[name] = run
	r.work.Go(func() {
		defer run.end()
		e := &eventsOf{name: name, still: standstill{waiting: "events of function " + name + " wait",
			again: "events of function " + name + " are invoked again", report: r.config.Report}}
		r.serve(run.ctx, queue.ClaimRequest{From: []queue.From{{Queue: eventQueue(name)}}}, r.config.EventConcurrency,
			e.claim(r), func(c []queue.Claim, pass *function.Pass, _ queue.Owner) {
				if pass != nil {
					defer pass.Release()
				}
				r.event(run.ctx, e, &c[0], pass)
			})
	})
}

// claimer claims what comes, with room for its invocation, if there is any.
type claimer func(context.Context, queue.ClaimRequest) ([]queue.Claim, *function.Pass, error)

// eventsOf claims the events of one function.
type eventsOf struct {
	name  string
	known bool // the pool knows how many invocations there may be
	still standstill
}

// claim claims events for which there is room. One that comes when the queue was empty is claimed at once, and is
// throttled if others have taken the room meanwhile; those behind it stay where they are until there is room.
func (e *eventsOf) claim(r *Registry) claimer {
	return func(ctx context.Context, ask queue.ClaimRequest) ([]queue.Claim, *function.Pass, error) {
		if e.known {
			waits := func(since time.Time, why error) { e.waits(ctx, r, since, why) }
			if pass := r.admit(ctx, e.name, waits); pass != nil {
				now := ask
				now.Wait = 0
				claims, err := r.store.Claim(ctx, now)
				if err != nil || len(claims) > 0 {
					return claims, pass, err
				}
				pass.Release()
			}
		}
		claims, err := r.store.Claim(ctx, ask)
		if err == nil && len(claims) > 0 && !e.known {
			// When the version cannot be used, the event finds that out by itself.
			e.known = r.Ready(ctx, e.name, attribute(&claims[0].Message, attributeQualifier)) == nil
		}
		if err != nil || len(claims) == 0 || !e.known {
			return claims, nil, err
		}
		return claims, r.admitNow(e.name), nil
	}
}

// waits notes that there has been no room since a time: that matters if there is an event.
func (e *eventsOf) waits(ctx context.Context, r *Registry, since time.Time, why error) {
	if st, err := r.store.Stats(ctx, eventQueue(e.name)); err == nil && st.Ready > 0 {
		e.still.waits(since, why)
	}
}

// admit waits for room for an invocation, and says each stillFor that it does, since when and why; nil: there is none,
// and waiting does not help.
func (r *Registry) admit(ctx context.Context, name string, waits func(since time.Time, why error)) *function.Pass {
	pool, err := r.Pool()
	if err != nil {
		return nil
	}
	for since := time.Now(); ; {
		slice, end := context.WithTimeout(ctx, stillFor)
		pass, err := pool.Admit(slice, name)
		end()
		if err == nil {
			return pass
		}
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		if full, ok := errors.AsType[*function.ThrottledError](err); ok {
			waits(since, full)
		}
	}
}

// admitNow is admit that does not wait.
func (r *Registry) admitNow(name string) *function.Pass {
	pool, err := r.Pool()
	if err != nil {
		return nil
	}
	return pool.TryAdmit(name)
}

// serve claims what comes, one claim after the other, and has at most so many of them handled at once. It returns when
// ctx ends, after all handlers have. The handler owns the pass. What is handled at once has an owner of its own: one
// claim of an owner waits at a time, and of a key nobody else gets messages until they are settled.
func (r *Registry) serve(ctx context.Context, ask queue.ClaimRequest, most int, claim claimer,
	handle func([]queue.Claim, *function.Pass, queue.Owner)) {
	ask.Wait, ask.Owner = poll, r.newOwner()
	defer func() { ask.Owner.Close() }()
	free := make(chan struct{}, most)
	var under sync.WaitGroup
	defer under.Wait()
	for away := false; ; {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		claims, pass, err := claim(ctx, ask)
		if err != nil || len(claims) == 0 {
			if pass != nil {
				pass.Release()
			}
			<-free
			if err == nil {
				away = false
				continue
			}
			if ctx.Err() != nil || errors.Is(err, queue.ErrClosed) {
				return
			}
			if errors.Is(err, queue.ErrStale) { // the store has ended the owner, as one may that was away
				ask.Owner.Close()
				ask.Owner = r.newOwner()
			}
			gone := errors.Is(err, queue.ErrUnavailable)
			if !errors.Is(err, queue.ErrNotFound) && !(gone && away) { // one that is away is told of once
				r.config.Report(fmt.Errorf("functions: take from %s: %w", ask.From[0].Queue.Short(), err))
			}
			if away = gone; !pause(ctx, again) {
				return
			}
			continue
		}
		away = false
		owner := ask.Owner
		ask.Owner = r.newOwner()
		under.Go(func() {
			defer func() { <-free }()
			defer owner.Close()
			handle(claims, pass, owner)
		})
	}
}

func (r *Registry) newOwner() queue.Owner { return r.store.NewOwner("functions") }

// pause waits; false: ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func attribute(m *message.Message, name string) string {
	v, _ := m.Attributes.Get(name)
	return v.Text()
}

// event invokes one event and settles it.
func (r *Registry) event(ctx context.Context, of *eventsOf, c *queue.Claim, pass *function.Pass) {
	name := of.name
	in := function.Request{
		Function: name, Version: attribute(&c.Message, attributeQualifier), ID: attribute(&c.Message, attributeID),
		ARN:     attribute(&c.Message, attributeARN),
		TraceID: attribute(&c.Message, attributeTrace), ClientContext: attribute(&c.Message, attributeContext),
		Payload: c.Message.Body,
		Pass:    pass,
	}
	e := ending{in: in, claim: c, arn: in.ARN}
	if e.arn == "" {
		e.arn = r.ARN(name, in.Version)
	}
	if in.Version == "" { // records say which version it was, also when nobody named one
		e.arn = r.ARN(name, function.Latest)
	}
	rules := r.rules(name, in.Version)
	if age := time.Since(c.Message.Time); age > rules.MaxAge {
		e.condition, e.code, e.text = "EventAgeExceeded", 500,
			fmt.Sprintf("the event waited for %v", age.Round(time.Second))
		r.over(ctx, e, rules)
		return
	}
	// that is how a function is switched off
	if f, err := r.Get(name); err == nil && f.Reserved != nil && *f.Reserved == 0 {
		e.condition, e.code, e.text = "ZeroReservedConcurrency", 429, "the reserved concurrency of the function is 0"
		r.over(ctx, e, rules)
		return
	}
	of.still.begins()
	result, err := r.Invoke(ctx, in)
	of.still.ends(err, ctx.Err() != nil || errors.Is(err, function.ErrClosed) || errors.Is(err, ErrUnknown) ||
		errors.Is(err, function.ErrTooLarge))
	switch {
	case err == nil && result.FunctionError == "":
		e.condition, e.result = "Success", result
		r.over(ctx, e, rules)
	case err == nil && c.Attempt <= *rules.Retries:
		r.settle(ctx, queue.Settlement{Token: c.Token, Kind: queue.Back,
			Delay: time.Duration(c.Attempt) * r.config.RetryDelay})
	case err == nil:
		e.condition, e.result, e.code, e.text = "RetriesExhausted", result, 200, string(result.Payload)
		r.over(ctx, e, rules)
	case ctx.Err() != nil || errors.Is(err, function.ErrClosed):
		r.settle(ctx, queue.Settlement{Token: c.Token, Kind: queue.Back, Uncounted: true})
	case errors.Is(err, function.ErrThrottled):
		r.settle(ctx, queue.Settlement{Token: c.Token, Kind: queue.Back, Uncounted: true,
			Delay: patience(time.Since(c.Message.Time))})
	case errors.Is(err, ErrUnknown), errors.Is(err, function.ErrTooLarge):
		e.condition, e.code, e.text = "InvokeFailed", 400, err.Error()
		r.over(ctx, e, rules)
	default: // code or a runtime that is missing: somebody may put it right
		r.settle(ctx, queue.Settlement{Token: c.Token, Kind: queue.Back, Uncounted: true,
			Delay: patience(time.Since(c.Message.Time))})
	}
}

// patience is how long an event waits that found no room: a second at first, at most five minutes.
func patience(age time.Duration) time.Duration {
	return min(max(age/2, time.Second), 5*time.Minute)
}

// rules are those for events of a qualifier.
func (r *Registry) rules(name, qualifier string) Events {
	e := Events{}
	if f, err := r.Get(name); err == nil {
		if qualifier == "" {
			qualifier = function.Latest
		}
		e = f.Events[qualifier]
	}
	if e.Retries == nil {
		n := usualRetries
		e.Retries = &n
	}
	if e.MaxAge == 0 {
		e.MaxAge = usualAge
	}
	return e
}

// settle ends a claim also while we stop.
func (r *Registry) settle(ctx context.Context, ss ...queue.Settlement) {
	if _, err := r.store.Settle(context.WithoutCancel(ctx), ss); err != nil && !errors.Is(err, queue.ErrClosed) {
		r.config.Report(fmt.Errorf("functions: settle an event: %w", err))
	}
}
