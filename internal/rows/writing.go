package rows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// writing is one Send.
type writing struct {
	sink     *Sink
	ctx      context.Context
	batch    []*message.Message
	outcomes []component.Outcome

	builders []*builder // whose rows are written
	session  *session   // nil: one has to be taken
	plan     *plan
	stop     *component.Outcome // of whatever is not written yet: nothing can be done for it now
	stale    []int              // messages whose rows were made by a plan that is not true any more
	looked   bool               // a refused row was taken for a reason to look at the table
	drifted  bool               // the plan is not true any more
	unknowns int                // transactions whose end is not known
	deaths   int                // sessions that ended in the middle
}

const (
	// mostPlans bounds how often one Send follows a table that changes.
	mostPlans = 4
	// mostConflicts bounds how often a transaction that lost is tried at once.
	mostConflicts = 8
	// mostUnknowns bounds how often a transaction whose end is not known is tried again at once.
	mostUnknowns = 2
	// mostDeaths bounds how many sessions one Send may lose.
	mostDeaths = 32
	// pause is when something is tried again for which a person is needed.
	pause = 2 * time.Second
)

// run writes the messages at the places in todo.
func (w *writing) run(todo []int) {
	defer func() {
		if w.session != nil {
			w.sink.pool.give(w.session, w.ctx.Err() != nil)
		}
		for _, b := range w.builders { // no driver keeps a block
			b.forget()
			w.sink.builders.Put(b)
		}
	}()
	renew := false
	for round := 0; len(todo) > 0; round++ {
		if round == mostPlans {
			w.answer(todo, component.Again(0, fmt.Errorf("the table %s keeps changing", w.sink.settings.table)))
			return
		}
		piles, err := w.prepare(todo, renew)
		if err != nil {
			w.answer(todo, w.failed(err))
			return
		}
		w.stale, w.drifted = nil, false
		if w.sink.settings.mode != Insert {
			piles = inOrder(piles)
		}
		for _, p := range piles {
			switch w.sink.settings.mode {
			case Upsert, Update, Delete:
				w.lastOfEach(p)
			default:
				w.parts(p)
			}
		}
		todo, renew = w.stale, true
	}
}

// prepare makes piles of the messages, by what the table is now. Where that is known it needs no session: a batch is
// read while another is written.
func (w *writing) prepare(todo []int, renew bool) ([]*pile, error) {
	schema, old := w.sink.schema, w.plan
	var err error
	if w.plan = schema.now.Load(); w.plan == nil || renew && w.plan == old {
		if err = w.need(); err == nil {
			w.plan, err = schema.look(w.ctx, w.session, old, renew, w.batch)
		}
		if err != nil {
			return nil, err
		}
	}
	piles, strangers := w.build(todo)
	if !schema.strange(strangers) {
		return piles, nil
	}
	if err := w.need(); err != nil {
		return nil, err
	}
	old = w.plan
	if w.plan, err = schema.look(w.ctx, w.session, old, false, w.batch); err != nil || w.plan == old {
		return piles, err
	}
	w.answer(todo, component.Outcome{})
	piles, _ = w.build(todo)
	return piles, nil
}

func (w *writing) build(todo []int) (piles []*pile, strangers []string) {
	b, ok := w.sink.builders.Get().(*builder)
	if !ok || b.plan != w.plan {
		b = newBuilder(&w.sink.settings, w.plan)
	}
	b.build(w.batch, todo, w.outcomes)
	w.builders = append(w.builders, b)
	return b.piles, b.strangers
}

// answer gives the same outcome to several messages.
func (w *writing) answer(places []int, o component.Outcome) {
	for _, i := range places {
		w.outcomes[i] = o
	}
}

// need takes a session if there is none.
func (w *writing) need() error {
	if w.session != nil {
		return nil
	}
	var err error
	w.session, err = w.sink.pool.take(w.ctx)
	return err
}

// lose gives the session up.
func (w *writing) lose() {
	if w.session != nil {
		w.sink.pool.give(w.session, true)
		w.session = nil
	}
}

// failed is the outcome of messages for which nothing was written, since there was no session or no description of the
// table. It is no message's fault, so that it does not count as a try of any: they wait until the database is there, or
// somebody has seen to it.
func (w *writing) failed(err error) component.Outcome {
	if w.session != nil && w.sink.broken(w.ctx, err) {
		w.lose()
	}
	rest := (*restError)(nil)
	bad := (*misfit)(nil)
	switch {
	case errors.As(err, &rest):
		return component.Hold(rest.left, w.sink.away(err))
	case errors.Is(err, errNothingToMake):
		return component.Reject(err)
	case errors.As(err, &bad):
		return component.Hold(pause, err)
	case w.ctx.Err() != nil:
		return w.late(err)
	}
	switch w.sink.driver.Judge(err).Class {
	case Refused, NoTable, BadRow, Drift:
		return component.Hold(pause, err)
	}
	return component.Hold(firstRest, w.sink.away(err))
}

// late is the outcome of what was not written in time.
func (w *writing) late(err error) component.Outcome {
	if err == nil {
		err = context.Cause(w.ctx)
	}
	return component.Again(0, fmt.Errorf("table %s: no answer in time (request.timeout_secs): %w",
		w.sink.settings.table, err))
}

// jitter waits a moment before the n-th new try of a transaction that lost, so that two that met do not meet again.
func (w *writing) jitter(n int) {
	t := time.NewTimer(rand.N(time.Millisecond << min(n, 6)))
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.ctx.Done():
	}
}
