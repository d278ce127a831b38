package dead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Selection says which dead devices are meant: those for which all that is set is so.
type Selection struct {
	App    string
	Of     string    // as Cause has it
	Token  string    // of one device
	Reason string    // the far end's word
	Since  time.Time // they died then or later
	All    bool      // allows that nothing else is set
}

// ErrNoSelection: it is not said which devices are meant.
var ErrNoSelection = errors.New("it is not said which devices are meant")

func (s *Selection) check() error {
	if !s.All && *s == (Selection{}) {
		return ErrNoSelection
	}
	return nil
}

// causes tells whether it is one of a cause that is known.
func (s *Selection) causes(c Cause) bool {
	return (s.App == "" || s.App == c.App) && (s.Of == "" || s.Of == c.Of) && (s.Reason == "" || s.Reason == c.Reason)
}

// matching is whether an entry is meant. An entry without a cause is not among those of an app, or of a reason.
func (r *Registry) matching(s Selection) func(entry) bool {
	meant := r.causes.numbers(s.causes)
	every := s.App == "" && s.Of == "" && s.Reason == ""
	if s.Token != "" { // the key has been made with app and of
		meant, every = r.causes.numbers((&Selection{Reason: s.Reason}).causes), s.Reason == ""
	}
	return func(e entry) bool {
		since := time.Unix(int64(e.at), 0)
		if since.Before(s.Since) || r.forgotten(since) {
			return false
		}
		_, is := meant[e.what]
		return every || is
	}
}

// revival is devices that are to count as alive again.
type revival struct {
	keys  []uint64
	match func(entry) bool // of what they are by then
	n     int              // how many were dead
}

// Revive takes back the deaths of the devices that are meant, and tells how many there were; dry only counts them.
// What it has done is durable, and in force for the next message. When it fails, or ctx ends, so many as it tells are
// alive and the others are not. A device that is found dead after that is dead, whatever the instant of its new
// death.
func (r *Registry) Revive(ctx context.Context, s Selection, dry bool) (n int, err error) {
	if r.marks.Load() == nil {
		return 0, ErrNotOpen
	}
	if err := s.check(); err != nil {
		return 0, err
	}
	match := r.matching(s)
	keys := r.keys(&s, match)
	if dry {
		return len(keys), nil
	}
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-r.turn }()
	for some := range slices.Chunk(keys, atOnce) {
		v := &revival{keys: some, match: match}
		if err := r.revive(ctx, v); err != nil {
			return n, fmt.Errorf("revive dead devices of %s: %w", r.config.Room, err)
		}
		n += v.n
	}
	return n, nil
}

// revive waits for one part.
func (r *Registry) revive(ctx context.Context, v *revival) error {
	done := make(chan error, 1)
	if err := r.marks.Load().PostWait(ctx, mark{revive: v, done: func(err error) { done <- err }}); err != nil {
		return err
	}
	return <-done // soon: it is one commit, and there is an answer also when the registry is closed
}

// keys are those of the devices that are meant.
func (r *Registry) keys(s *Selection, match func(entry) bool) []uint64 {
	var keys []uint64
	if s.Token != "" {
		for key := range r.candidates(s) {
			if e := r.known.get(key); e.at != 0 && match(e) {
				keys = append(keys, key)
			}
		}
		return keys
	}
	r.known.all(func(e entry) {
		if match(e) {
			keys = append(keys, e.key)
		}
	})
	return keys
}

// candidates are the keys that a token may have, with app and of: as they are given, and as far as they are not, all
// that causes name.
func (r *Registry) candidates(s *Selection) map[uint64]Cause {
	keys := map[uint64]Cause{}
	add := func(app, of string) { keys[keyOf(app, of, s.Token)] = Cause{App: app, Of: of} }
	if s.App != "" {
		add(s.App, s.Of)
	}
	for _, c := range r.causes.numbers((&Selection{App: s.App, Of: s.Of}).causes) {
		add(c.App, c.Of)
	}
	return keys
}
