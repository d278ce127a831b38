package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/source/stdin"
)

// A journal that has failed and may be opened again is tried so often, each time after a pause that is twice as long as
// the one before. When it was well for long enough the tries begin anew. After the last one the process ends, as after
// any other failure: then somebody has to look at the disk.
const (
	reopenTries = 8
	reopenPause = 100 * time.Millisecond
	reopenCalm  = 10 * time.Minute
)

// reopening opens journals again that have failed.
type reopening struct {
	tries int
	last  time.Time // of them
}

// wait waits until the next try, if there is one: why says what has failed.
func (r *reopening) wait(ctx context.Context, why error) error {
	if time.Since(r.last) > reopenCalm {
		r.tries = 0
	}
	if r.tries == reopenTries {
		return fmt.Errorf("%w: given up after %d tries to open it again: %v", journal.ErrFailed, r.tries, why)
	}
	select {
	case <-ctx.Done():
		return why
	case <-time.After(reopenPause << r.tries):
	}
	r.tries++
	r.last = time.Now()
	return nil
}

// all opens journals again of which one has failed, why says how, or more. After an error none is open.
func (r *reopening) all(ctx context.Context, js []journal.Journal, why error) ([]journal.Journal, error) {
	for {
		if err := r.wait(ctx, why); err != nil {
			return nil, err
		}
		next, err := reopenAll(ctx, js)
		if err == nil {
			return next, nil
		}
		if why = err; !errors.Is(err, journal.ErrReopen) {
			return nil, err
		}
	}
}

// reopenAll opens every journal again.
func reopenAll(ctx context.Context, js []journal.Journal) (next []journal.Journal, err error) {
	for i, j := range js {
		again, some := j.(journal.Reopener)
		if !some {
			return nil, errors.Join(j.Health(), closeJournals(next))
		}
		opened, err := again.Reopen(ctx)
		if err != nil && len(js) > 1 {
			err = fmt.Errorf("shard %d: %w", i, err)
		}
		if err != nil {
			return nil, afterClosing(err, closeJournals(next))
		}
		next = append(next, opened)
	}
	return next, nil
}

// afterClosing is err with what closing the other journals said, closed. It is an ErrReopen only if both are: what one
// of them has called durable may be in doubt.
func afterClosing(err, closed error) error {
	if closed != nil && !errors.Is(closed, journal.ErrReopen) {
		return fmt.Errorf("%v; %w", err, closed)
	}
	return errors.Join(err, closed)
}

func closeJournals(js []journal.Journal) (err error) {
	for _, j := range js {
		err = errors.Join(err, j.Close())
	}
	return err
}

// mayReopen tells whether a house that was closed after an error may be opened again: a journal of it has failed, and
// nothing that was acknowledged is in doubt. Lines that were read from the standard input come only once.
func (h *house) mayReopen(ctx context.Context, err error) bool {
	select {
	case <-h.failed:
	default:
		return false
	}
	return ctx.Err() == nil && errors.Is(err, journal.ErrReopen) && !h.readsInput
}

// kept tells what of all that was acknowledged is there when a journal has failed that may be opened again. Without
// durability an acknowledgement comes before the write that has failed.
func kept(durability string) string {
	if journal.Durability(durability) == journal.None {
		return "what was acknowledged and not written yet is lost, as durability: none has it"
	}
	return "nothing that was acknowledged is in doubt"
}

// house opens a house again that was closed after one of its journals had failed, with the same addresses.
func (r *reopening) house(ctx context.Context, h *house, adopt bool, why error) (*house, error) {
	h.log.Warn("the journal has failed, "+kept(h.file.Durability)+", and it is opened again", "error", why)
	js := h.opened()
	for {
		next, err := r.all(ctx, js, why)
		if err != nil {
			return nil, err
		}
		opened, err := openHouseOver(ctx, h.file, os.Stderr, adopt, next, nil)
		if err == nil {
			if opened.at = h.at; h.loaded != h.file {
				opened.reread(h.loaded)
			}
			opened.log.Info("the journal was opened again", "tries", r.tries)
			return opened, nil
		}
		if !errors.Is(err, journal.ErrReopen) {
			return nil, err
		}
		js, why = next, err
	}
}

// addresses are where doors listen whose configurations leave that to chance: a house that is opened again has the
// same ones.
type addresses map[string]string

// note remembers the address of a door, if chance has chosen it.
func (a addresses) note(door, listen string, addr net.Addr) {
	if _, port, err := net.SplitHostPort(listen); err == nil && port == "0" {
		a[door] = addr.String()
	}
}

// in are the settings of doors with these addresses.
func (a addresses) in(api config.API) config.API {
	for door, listen := range map[string]*string{"http": &api.HTTP.Listen, "mysql": &api.MySQL.Listen,
		"pubsub": &api.PubSub.Listen, "sqs": &api.SQS.Listen, "lambda": &api.Lambda.Listen} {
		if addr, some := a[door]; some {
			*listen = addr
		}
	}
	return api
}

// readsInput tells whether something reads the standard input.
func (w *works) readsInput() bool {
	return slices.ContainsFunc(w.Nodes(), takesInput)
}

// takesInput tells whether a component reads the standard input: what it has read of it no other one finds.
func takesInput(n pipeline.Node) bool {
	_, some := n.Source.(*stdin.Source)
	return some
}
