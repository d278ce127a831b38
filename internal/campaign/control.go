package campaign

import (
	"context"
	"fmt"
)

// Pause stops a campaign for a while. It is durable, and in force, when it is answered. Errors: ErrNotFound, ErrState,
// ErrTooMany, and those of a put.
func (r *Registry) Pause(ctx context.Context, id string) (View, error) {
	return r.become(ctx, id, Paused)
}

// Resume lets a paused campaign go on.
func (r *Registry) Resume(ctx context.Context, id string) (View, error) {
	return r.become(ctx, id, Running)
}

// Cancel ends a campaign for good: what is not sent is settled without being sent.
func (r *Registry) Cancel(ctx context.Context, id string) (View, error) {
	return r.become(ctx, id, Cancelled)
}

// become changes a state. It is no error if that is the state already.
func (r *Registry) become(ctx context.Context, id string, to State) (View, error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.mu.Lock()
	c := r.all[id]
	if c == nil {
		r.mu.Unlock()
		return View{}, ErrNotFound
	}
	def, paused := c.def, len(r.stopped.Load().Paused)
	if def.State == to {
		defer r.mu.Unlock()
		return r.view(c), nil
	}
	r.mu.Unlock()
	switch {
	case def.State == Done, def.State == Cancelled:
		return View{}, fmt.Errorf("%w: it is %s", ErrState, def.State)
	case to == Paused && paused >= MostPaused:
		return View{}, fmt.Errorf("%w: %d are paused", ErrTooMany, paused)
	}
	def.State = to
	return r.change(ctx, c, def)
}
