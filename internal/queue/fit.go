package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// fitting looks whether the messages of a queue fit other columns, a piece at a time, with everybody else in between.
type fitting struct {
	s        *Store
	q        *queueState
	old, now message.Columns
	from     []int
	tests    []test // nil: everything fits
	next     uint64 // messages before it were looked at
}

// test is what is looked at of each message for one new column.
type test struct {
	from   int            // the old column; fixed: none
	column message.Column // the new one
	same   bool           // values need no conversion, but must not be null
	err    error          // with fixed: why there can be no message
}

// Bounds of what is looked at at once.
const (
	fitPiece  = 512  // messages that are listed while the lock is held
	fitLast   = 1000 // messages that may be left to look at while puts wait,
	fitRounds = 10   // unless that many rounds did not get it so far
)

// begin finds out what there is to look at.
func (f *fitting) begin() {
	for i, c := range f.now {
		if f.from[i] == fixed {
			if _, err := filler(c); err != nil {
				f.tests = append(f.tests, test{from: fixed, column: c, err: err})
			}
			continue
		}
		was := f.old[f.from[i]]
		if same := keeps(was, c); !same || c.NotNull && !was.NotNull {
			f.tests = append(f.tests, test{from: f.from[i], column: c, same: same})
		}
	}
}

// current tells whether the queue still has the columns that the messages are looked at by. The lock is held.
func (f *fitting) current() bool {
	c := f.q.def.Columns
	return !f.q.gone && len(c) == len(f.old) && (len(c) == 0 || &c[0] == &f.old[0])
}

// most looks at what is there, until little has come meanwhile.
func (f *fitting) most(ctx context.Context) error {
	for round := 0; f.tests != nil && round < fitRounds; round++ {
		if looked, err := f.look(ctx); err != nil || looked < fitLast {
			return err
		}
	}
	return nil
}

// rest looks at what has come since.
func (f *fitting) rest(ctx context.Context) error {
	_, err := f.look(ctx)
	return err
}

// look looks at the messages that there are now, and tells how many.
func (f *fitting) look(ctx context.Context) (looked int, err error) {
	f.s.mu.Lock()
	end := f.q.next
	f.s.mu.Unlock()
	for {
		piece, err := f.list(end)
		if err != nil || len(piece) == 0 {
			return looked, err
		}
		looked += len(piece)
		if err := f.examine(ctx, piece); err != nil {
			return looked, err
		}
	}
}

// listed is a message to be looked at.
type listed struct {
	seq uint64
	stored
}

// list takes the next messages before end, with those of the past: they may come back.
func (f *fitting) list(end uint64) (piece []listed, err error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if err := f.s.usable(); err != nil {
		return nil, err
	}
	if !f.current() {
		return nil, errAgain
	}
	for len(piece) < fitPiece {
		seq, there := f.q.firstKept(f.next)
		if !there || seq >= end {
			break
		}
		p, _ := f.q.all.pages.Get(pageOf(seq))
		piece = append(piece, listed{seq, f.q.stored(entry{p, slotOf(seq)})})
		f.next = seq + 1
	}
	return piece, nil
}

// examine looks at messages; it reads the bodies of those of which it needs large values.
func (f *fitting) examine(ctx context.Context, piece []listed) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var unread []listed
	for i := range piece {
		x := &piece[i]
		row, large, err := decodeRow(x.head)
		switch {
		case err != nil:
			return fmt.Errorf("message %d of queue %s: %w", x.seq, f.name(), err)
		case row == nil: // a dead letter that is kept as it is
		case f.needs(x.layout, large):
			unread = append(unread, *x)
		default:
			if err := f.fits(x, row, large); err != nil {
				return err
			}
		}
	}
	if len(unread) == 0 {
		return nil
	}
	places := make([]journal.Address, len(unread))
	for i := range unread {
		places[i] = unread[i].place
	}
	var failed error
	err := f.s.journal.Read(ctx, places, func(i int, r journal.Record, err error) {
		var damage *journal.DamageError
		switch {
		// gone since; or set aside when it is claimed
		case failed != nil, errors.Is(err, journal.ErrReleased), errors.As(err, &damage):
			return
		case err != nil:
			failed = err
			return
		}
		m, err := decodeMessage(unread[i].head, r.Body)
		if err == nil {
			err = f.fits(&unread[i], m.Row, nil)
		}
		failed = err
	})
	return errors.Join(failed, err)
}

// large tells whether the value that is tested is one of the large ones of a row.
func (t *test) large(l *layout, large []bool) bool {
	at := t.from
	if at != fixed && l != nil {
		at = l.fields[at].from
	}
	return at != fixed && at < len(large) && large[at]
}

// needs tells whether a test wants a value that is not in the head.
func (f *fitting) needs(l *layout, large []bool) bool {
	return slices.ContainsFunc(f.tests, func(t test) bool { return !t.same && t.large(l, large) })
}

// fits makes the tests with the row of a message, as it was put. What is gone by now need not fit.
func (f *fitting) fits(x *listed, row []message.Value, large []bool) error {
	shaped := x.layout.shape(row)
	for i := range f.tests {
		t := &f.tests[i]
		err := t.err
		if t.from != fixed && !t.large(x.layout, large) { // a large value that needs no conversion is not null
			v := message.Null()
			if t.from < len(shaped) {
				v = shaped[t.from]
			}
			if !t.same || v.IsNull() {
				_, err = t.column.Convert(v)
			}
		}
		if err != nil {
			return f.refuse(x.seq, err)
		}
	}
	return nil
}

// refuse says that a message does not fit, if it is still there.
func (f *fitting) refuse(seq uint64, why error) error {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	p, there := f.q.all.pages.Get(pageOf(seq))
	switch {
	case !there:
		return nil
	case p.there.has(slotOf(seq)):
		return fmt.Errorf("%w: queue %s, message %d: %w", ErrMismatch, f.q.name.Short(), seq, why)
	case p.past.has(slotOf(seq)):
		return fmt.Errorf("%w: queue %s, message %d, which is settled and kept for a seek: %w", ErrMismatch,
			f.q.name.Short(), seq, why)
	}
	return nil
}

// name is the queue's now, for people.
func (f *fitting) name() string {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return f.q.name.Short()
}
