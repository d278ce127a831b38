package deployment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/deployment/event"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The provider's bounds, and how many batches are in a function at once.
const (
	maxBatch         = 10_000
	maxWindow        = 5 * time.Minute
	usualBatch       = 10
	usualConcurrency = 5
	maxMappings      = 1_000
	usualTimeout     = 3 * time.Second // of a function that does not say
)

// feed is a mapping that is at work, or that is off.
type feed struct {
	mapping Mapping
	end     context.CancelFunc
	ended   chan struct{}
	still   standstill
}

// Map makes a mapping or, when m has an ID that is known, changes it. Errors: ErrUnknown, ErrInvalid, ErrExists.
func (r *Registry) Map(ctx context.Context, m Mapping) (Mapping, error) {
	if m.Batch == 0 {
		m.Batch = usualBatch
	}
	from, err := queue.ParseName(m.Queue)
	stops := m.ID != "" && m.Off // whatever has become of its queue and its function
	switch {
	case err != nil:
		return m, invalid("%q is no queue: %v", shortened(m.Queue), err)
	case m.Batch < 0 || m.Batch > maxBatch:
		return m, invalid("a batch has 1 to %d messages, not %d", maxBatch, m.Batch)
	case m.Window < 0 || m.Window > maxWindow:
		return m, invalid("a batch waits for at most %v", maxWindow)
	case m.Batch > 10 && m.Window < time.Second:
		return m, invalid("Maximum batch window in seconds must be greater than 0 if maximum batch size is greater " +
			"than 10")
	case m.Window > 0 && strings.HasSuffix(from.Name, ".fifo") && !stops:
		return m, invalid("Batching window is not supported for FIFO queues")
	case m.MaxConcurrency != 0 && (m.MaxConcurrency < 2 || m.MaxConcurrency > 1000):
		return m, invalid("the maximum concurrency is 2 to 1000")
	}
	def, _, err := r.store.Definition(ctx, from)
	switch {
	case errors.Is(err, queue.ErrNotFound):
		return m, invalid("Error occurred while ReceiveMessage. SQS Error Code: " +
			"AWS.SimpleQueueService.NonExistentQueue. SQS Error Message: The specified queue does not exist.")
	case err != nil:
		return m, fmt.Errorf("look for the queue %s: %w", from.Short(), err)
	}
	_, v, err := r.Version(m.Function, m.Qualifier)
	if err != nil {
		return m, err
	}
	if _, err := newFilter(m.Filters); err != nil {
		return m, err
	}
	// A mapping holds its messages as long as the function takes, so it could go well here. With the provider it could
	// not.
	if lease, most := def.ClaimLease(), cmp.Or(v.Settings.Timeout, usualTimeout); lease < most && !stops {
		return m, invalid("Queue visibility timeout: %g seconds is less than Function timeout: %g seconds",
			lease.Seconds(), most.Seconds())
	}
	r.change.Lock()
	defer r.change.Unlock()
	had, _ := r.Mapping(m.ID) // a new one was nobody's
	moves := had.Function != m.Function || had.Qualifier != m.Qualifier
	for _, other := range r.Mappings() {
		if moves && other.Queue == m.Queue && other.Function == m.Function && other.Qualifier == m.Qualifier {
			return m, &wrong{ErrExists, "An event source mapping with SQS arn (\" " + m.SourceARN + " \") and " +
				"function (\" " + m.Function + " \") already exists. Please update or delete the existing mapping with UUID " +
				other.ID}
		}
	}
	if m.ID == "" {
		if len(r.Mappings()) >= maxMappings {
			return m, invalid("there are %d mappings, the most there can be", maxMappings)
		}
		m.ID = uuid.NewString()
	}
	m.Changed = time.Now()
	n, err := note(mappingKey+m.ID, m)
	if err != nil {
		return m, err
	}
	if err := r.setNotes(ctx, n); err != nil {
		return m, fmt.Errorf("keep the mapping of %s: %w", m.Function, err)
	}
	r.unfeed(m.ID)
	r.feed(m)
	return m, nil
}

// TagMapping changes the tags of a mapping, which goes on beside it. Errors: ErrUnknown, the store's, and change's own.
func (r *Registry) TagMapping(ctx context.Context, id string, change func(map[string]string) error) error {
	r.change.Lock()
	defer r.change.Unlock()
	m, err := r.Mapping(id)
	if err != nil {
		return err
	}
	m.Tags = maps.Clone(m.Tags)
	if m.Tags == nil {
		m.Tags = map[string]string{}
	}
	if err := change(m.Tags); err != nil {
		return err
	}
	n, err := note(mappingKey+id, m)
	if err != nil {
		return err
	}
	if err := r.setNotes(ctx, n); err != nil {
		return fmt.Errorf("keep the tags of a mapping of %s: %w", m.Function, err)
	}
	r.mu.Lock()
	r.feeds[id].mapping.Tags = m.Tags
	r.mu.Unlock()
	return nil
}

// Unmap ends a mapping and forgets it, when the batches it has in hand are settled.
func (r *Registry) Unmap(ctx context.Context, id string) (Mapping, error) {
	r.change.Lock()
	defer r.change.Unlock()
	m, err := r.Mapping(id)
	if err != nil {
		return m, err
	}
	if err := r.setNotes(ctx, queue.Note{Room: room, Key: mappingKey + id}); err != nil {
		return m, fmt.Errorf("forget a mapping: %w", err)
	}
	r.unfeed(id)
	return m, nil
}

// Mapping finds one.
func (r *Registry) Mapping(id string) (Mapping, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if f := r.feeds[id]; f != nil {
		return f.mapping, nil
	}
	return Mapping{}, unknown("The resource you requested does not exist.")
}

// Mappings are all, by their id.
func (r *Registry) Mappings() []Mapping {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var all []Mapping
	for _, id := range slices.Sorted(maps.Keys(r.feeds)) {
		all = append(all, r.feeds[id].mapping)
	}
	return all
}

// feed begins a mapping.
func (r *Registry) feed(m Mapping) {
	ctx, end := context.WithCancel(r.stopping)
	f := &feed{mapping: m, end: end, ended: make(chan struct{})}
	r.mu.Lock()
	r.feeds[m.ID] = f
	r.mu.Unlock()
	from, err := queue.ParseName(m.Queue)
	if m.Off || err != nil || ctx.Err() != nil {
		close(f.ended)
		return
	}
	f.still.waiting = fmt.Sprintf("queue %s does not feed function %s", from.Short(), m.Function)
	f.still.again = fmt.Sprintf("queue %s feeds function %s again", from.Short(), m.Function)
	f.still.report = r.config.Report
	sieve, err := newFilter(m.Filters)
	if err != nil { // it was checked when it was kept: somebody else's patterns would let the wrong messages go
		r.config.Report(fmt.Errorf("queue %s does not feed function %s: %w", from.Short(), m.Function, err))
		close(f.ended)
		return
	}
	most := m.MaxConcurrency
	if most == 0 {
		most = usualConcurrency
	}
	r.work.Go(func() {
		defer close(f.ended)
		r.serve(ctx, queue.ClaimRequest{From: []queue.From{{Queue: from}}, Max: m.Batch, Bytes: event.MaxBytes}, most,
			func(ctx context.Context, ask queue.ClaimRequest) ([]queue.Claim, *function.Pass, error) {
				claims, err := r.store.Claim(ctx, ask)
				return r.sift(ctx, m, sieve, claims), nil, err
			}, func(cs []queue.Claim, _ *function.Pass, o queue.Owner) {
				r.batch(ctx, m, &f.still, from, r.fill(ctx, m, from, sieve, cs, o))
			})
	})
}

// unfeed ends a mapping and waits for it.
func (r *Registry) unfeed(id string) {
	r.mu.Lock()
	f := r.feeds[id]
	delete(r.feeds, id)
	r.mu.Unlock()
	if f != nil {
		f.end()
		<-f.ended
	}
}

// fill claims more for their owner until a batch is full or has waited as long as the mapping says.
func (r *Registry) fill(ctx context.Context, m Mapping, from queue.Name, sieve *filter,
	cs []queue.Claim, o queue.Owner) []queue.Claim {
	end := time.Now().Add(m.Window)
	bytes := 0
	for i := range cs {
		bytes += cs[i].Message.Size()
	}
	for len(cs) < m.Batch && bytes < event.MaxBytes && ctx.Err() == nil {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		more, err := r.store.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: from}}, Max: m.Batch - len(cs),
			Bytes: event.MaxBytes - bytes, Wait: left, Owner: o})
		if err != nil || len(more) == 0 {
			break
		}
		more = r.sift(ctx, m, sieve, more)
		for i := range more {
			bytes += more[i].Message.Size()
		}
		cs = append(cs, more...)
	}
	return cs
}

// invokeInTurn is Invoke that waits for room, at most so long.
func (r *Registry) invokeInTurn(ctx context.Context, in function.Request, most time.Duration, still *standstill) (
	*function.Result, error) {
	// and the pool knows how many invocations there may be
	err := r.Ready(ctx, in.Function, in.Version)
	if err == nil {
		waiting, end := context.WithTimeout(ctx, most)
		in.Pass = r.admit(waiting, in.Function, still.waits)
		end()
	}
	if in.Pass != nil {
		defer in.Pass.Release()
	}
	still.begins()
	var result *function.Result
	if err == nil {
		result, err = r.Invoke(ctx, in)
	}
	still.ends(err, ctx.Err() != nil || errors.Is(err, function.ErrClosed))
	return result, err
}

// unasked gives claims back that the function has not seen, since the store could not be asked about their queue.
func (r *Registry) unasked(ctx context.Context, from queue.Name, cs []queue.Claim, why error) {
	back := queue.Settlement{Kind: queue.Back, Uncounted: true}
	if ctx.Err() == nil {
		r.config.Report(fmt.Errorf("functions: ask about %s: %w", from.Short(), why))
		back.Delay = again
	}
	settles := make([]queue.Settlement, len(cs))
	for i := range cs {
		settles[i] = back
		settles[i].Token = cs[i].Token
	}
	r.settle(ctx, settles...)
}

// batch gives claims to the function and settles them by its answer. What failed becomes visible again when the queue's
// lease would have ended, as if nobody had deleted it; the queue's bound of attempts makes dead letters.
func (r *Registry) batch(ctx context.Context, m Mapping, still *standstill, from queue.Name, cs []queue.Claim) {
	d, _, err := r.store.Definition(ctx, from)
	switch {
	case errors.Is(err, queue.ErrNotFound):
		return // the queue is gone, and the claims with it
	case err != nil: // nobody knows how long they may take
		r.unasked(ctx, from, cs, err)
		return
	}
	lease := d.ClaimLease()
	messages := make([]*message.Message, len(cs))
	attempts, sequences, bodies := make([]int, len(cs)), make([]uint64, len(cs)), make([][]byte, len(cs))
	for i := range cs {
		messages[i], attempts[i], sequences[i] = &cs[i].Message, cs[i].Attempt, cs[i].Sequence
		bodies[i] = cs[i].Body()
	}
	settles := make([]queue.Settlement, len(cs))
	for i := range cs {
		settles[i] = queue.Settlement{Token: cs[i].Token, Kind: queue.Back, Delay: lease}
	}
	all := func(change func(*queue.Settlement)) {
		for i := range settles {
			change(&settles[i])
		}
	}
	payload, err := event.SQS(event.Batch{Messages: messages, Attempts: attempts, Sequences: sequences,
		Bodies: bodies, ARN: m.SourceARN, Region: r.Region()})
	var result *function.Result
	if err == nil {
		result, err = r.invokeInTurn(ctx, function.Request{Function: m.Function, Version: m.Qualifier,
			Payload: payload}, lease, still)
	} else {
		r.config.Report(fmt.Errorf("%s: %w", still.waiting, err))
	}
	switch {
	case ctx.Err() != nil && err != nil, errors.Is(err, function.ErrClosed):
		all(func(s *queue.Settlement) { s.Delay, s.Uncounted = 0, true })
	case errors.Is(err, function.ErrThrottled):
		all(func(s *queue.Settlement) { s.Delay, s.Uncounted = time.Second, true })
	case err != nil: // told
	case result.FunctionError != "":
	default:
		failed := map[int]bool{}
		if m.PartialFailures {
			if failed, err = event.Failed(result.Payload, messages); err != nil {
				r.config.Report(fmt.Errorf("queue %s feeds function %s, whose answer says that some messages failed, "+
					"but not which: all come again: %w", from.Short(), m.Function, err))
				break
			}
		}
		for i := range settles {
			if !failed[i] {
				settles[i].Kind, settles[i].Delay = queue.Done, 0
			}
		}
	}
	r.settle(ctx, settles...)
}
