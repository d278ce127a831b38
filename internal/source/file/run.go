package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Run reads until ctx ends or, when the source does not follow, until every line there was is sent and none waits to be
// sent again.
func (s *Source) Run(ctx context.Context, out component.Out) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.courier, s.out = lines.NewCourier(), out
	s.outbox = make(chan lines.Send, outboxSize)
	if s.follow && s.watching {
		s.watcher = newWatcher() // without one the source still polls
	}
	defer s.watcher.close()

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.keep(ctx)
	}()
	served := make(chan error, 1)
	go func() {
		err := s.courier.Serve(ctx)
		if err != nil {
			cancel(err) // nothing new goes out when what came back cannot
		}
		served <- err
	}()

	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if err := s.empty(ctx); err != nil {
			cancel(err)
		}
	}()

	err := s.read(ctx)
	close(s.outbox)
	<-sent
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		s.courier.Finish()
	} else {
		cancel(err)
	}
	serr := <-served
	if err == nil {
		err = serr
	}
	cancel(err)
	<-ended
	return err
}

// empty sends what was read. Reading goes on around it: a pipeline that takes nothing for hours must not keep the
// source from seeing files that come and are renamed meanwhile.
func (s *Source) empty(ctx context.Context) error {
	for send := range s.outbox {
		if err := s.courier.Send(ctx, send); err != nil {
			return err
		}
	}
	return nil
}

// read gives every file its turns.
func (s *Source) read(ctx context.Context) error {
	s.tick = time.NewTicker(s.config.PollInterval)
	defer s.tick.Stop()
	if err := s.look(ctx); err != nil {
		return err
	}
	for {
		busy, err := s.round(ctx)
		if err != nil {
			return err
		}
		if !busy {
			if !s.follow {
				return s.finish(ctx)
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-s.tick.C:
			case <-s.watcher.changes():
			}
		} else {
			select {
			case <-s.tick.C:
			default:
				continue
			}
		}
		if err := s.look(ctx); err != nil {
			return err
		}
	}
}

// round gives each file one turn. busy tells whether any of them may have more.
func (s *Source) round(ctx context.Context) (busy bool, err error) {
	for _, t := range s.order {
		if t.behind != nil {
			if !t.behind.quiet {
				busy = true
				continue
			}
			t.behind = nil
		}
		if t.quiet || t.fresh || t.left {
			continue
		}
		s.current = t
		more, err := s.turn(ctx, t)
		s.current = nil
		if err != nil {
			return false, err
		}
		busy = busy || more
	}
	return busy, nil
}

// turn reads some lines of one file.
func (s *Source) turn(ctx context.Context, t *tail) (more bool, err error) {
	if t.file == nil {
		if err := s.openAgain(t); err != nil {
			t.quiet = true
			return false, s.trouble(fmt.Errorf("%s: %w", t.path, err))
		}
	}
	var long *lines.TooLongError
	for range turnLines {
		l, err := t.reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			t.quiet = true
			return false, nil
		case errors.Is(err, errRewritten):
			if err := t.restart(); err != nil {
				return false, s.unreadable(t, err)
			}
			return true, s.remember(ctx)
		case errors.As(err, &long):
			if !s.config.SkipLongLines {
				return false, fmt.Errorf("%s: a line at byte %d is longer than %d bytes: raise max_line_bytes, or "+
					"set skip_long_lines: true", t.path, long.Offset, long.Limit)
			}
			s.notice("%s: the line at byte %d is longer than %d bytes: skipped", t.path, long.Offset, long.Limit)
			continue
		case err != nil:
			return false, s.unreadable(t, err)
		}
		if !t.known(l.End) {
			t.fresh = true
			if err := s.remember(ctx); err != nil {
				return false, err
			}
			if !t.known(l.End) { // the line is read again when it can be noted
				if err := t.use(t.file); err != nil {
					return false, s.unreadable(t, err)
				}
				return true, nil
			}
		}
		if err := s.send(ctx, t, l); err != nil {
			return false, err
		}
	}
	return true, nil
}

// unreadable lets go of a file that fails, until it is looked at again.
func (s *Source) unreadable(t *tail, err error) error {
	s.shut(t)
	t.quiet = true
	return s.trouble(fmt.Errorf("%s: %w", t.path, err))
}

// finish delivers the unfinished lines at the ends of the files.
func (s *Source) finish(ctx context.Context) error {
	for _, t := range s.order {
		if err := s.last(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// last delivers the unfinished line at the end of a file, if there is one.
func (s *Source) last(ctx context.Context, t *tail) error {
	if t.reader == nil || t.file == nil {
		return nil
	}
	if l, ok := t.reader.Last(); ok {
		return s.send(ctx, t, l)
	}
	return nil
}

func (s *Source) send(ctx context.Context, t *tail, l lines.Line) error {
	t.next = l.End
	mark := t.mark
	if len(l.Text) == 0 && s.skipEmpty {
		mark.Skip(l.End)
		return nil
	}
	now := time.Now()
	m := &message.Message{Body: bytes.Clone(l.Text), Time: now}
	m.Hops.Mark(message.Accepted, now)
	if s.config.PathAttribute != "" {
		m.Attributes.Set(s.config.PathAttribute, message.String(t.path))
	}
	offset := l.Offset
	low := mark.Begin(offset, l.End)
	m.Origin = message.Origin{Source: t.source, Offset: uint64(offset), Mark: uint64(low)}
	return s.post(ctx, func(ctx context.Context, settle func(bool)) error {
		return s.out.Send(ctx, component.Delivery{Message: m, Settle: func(o component.Outcome) {
			done := o.Verdict == component.Delivered
			if done {
				mark.Settle(offset)
			}
			settle(done)
		}})
	})
}

// post hands a line to the goroutine that sends. While that one is held up by the pipeline, files are looked after.
func (s *Source) post(ctx context.Context, send lines.Send) error {
	for {
		var tick <-chan time.Time
		if s.current != nil && s.follow && !s.looking {
			tick = s.tick.C
		}
		select {
		case s.outbox <- send:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick:
			s.looking = true
			err := s.look(ctx)
			s.looking = false
			if err != nil {
				return err
			}
		}
	}
}
