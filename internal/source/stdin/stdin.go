// Package stdin is a source that makes a message of each line of the standard input.
//
//	sources:
//	  lines: { type: stdin }
//
// Where the standard input is a regular file (hikyaku run … < events.ndjson), every message carries its Origin: the
// identity of the file and the byte offset of the line. A second run over the same file after a kill then puts nothing
// twice into a queue. A file that was changed since is another file, and is read as one: lines that are delivered again
// are better than lines that are lost. For files that grow, use the file source.
//
// What a pipe brings cannot be asked for again: what was read and not delivered when the process is killed, or stopped
// before it has finished, is lost. A run that ends by itself delivers all of it.
package stdin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
)

// Config is the source's settings.
type Config struct {
	// MaxLineBytes bounds a line, without its end. 0: 1 MiB.
	MaxLineBytes int `yaml:"max_line_bytes" min:"0"`
	// SkipLongLines passes over a longer line, with a notice. Without it such a line ends the run.
	SkipLongLines bool `yaml:"skip_long_lines"`
	// SkipEmpty passes over lines without a byte. Not set: true.
	SkipEmpty *bool `yaml:"skip_empty"`
}

// ErrNoInput: there is no standard input to read.
var ErrNoInput = errors.New("there is no standard input")

// maxNotices bounds what Notices returns.
const maxNotices = 20

// Source reads lines.
type Source struct {
	in        io.Reader
	max       int
	skipLong  bool
	skipEmpty bool

	identity string // of the regular file; "" for anything else
	base     int64  // the file's offset where reading begins
	mark     *lines.Watermark

	mu      sync.Mutex
	notices []string
	skipped int
}

// New checks the settings.
func New(c Config, env component.Env) (component.Source, error) {
	if c.MaxLineBytes < 0 {
		return nil, component.Setting("max_line_bytes", fmt.Errorf("%d is negative", c.MaxLineBytes))
	}
	return &Source{
		in:        env.Stdin,
		max:       c.MaxLineBytes,
		skipLong:  c.SkipLongLines,
		skipEmpty: c.SkipEmpty == nil || *c.SkipEmpty,
	}, nil
}

// Start looks at what the standard input is.
func (s *Source) Start(context.Context) error {
	if s.in == nil {
		return ErrNoInput
	}
	f, ok := s.in.(*os.File)
	if !ok {
		return nil
	}
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil
	}
	if s.base, err = f.Seek(0, io.SeekCurrent); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	if s.identity, err = identify(f, st); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	s.mark = lines.NewWatermark(s.base)
	return nil
}

// Run sends a message a line and returns nil when there are no more of them and none waits to be sent again.
func (s *Source) Run(ctx context.Context, out component.Out) (err error) {
	port, err := lines.NewInput(s.in)
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c, ok := s.in.(io.Closer); ok && !isFile(s.in) {
		defer context.AfterFunc(ctx, func() { c.Close() })() // the only way to end its Read
	}
	courier := lines.NewCourier()
	served := make(chan error, 1)
	go func() {
		err := courier.Serve(ctx)
		if err != nil {
			cancel() // nothing new goes out when what came back cannot
		}
		served <- err
	}()
	defer func() { err = errors.Join(err, port.Close()) }()

	if err := s.read(ctx, port, courier, out); err != nil {
		cancel()
		if serr := <-served; errors.Is(err, context.Canceled) && serr != nil {
			return serr
		}
		return err
	}
	courier.Finish()
	return <-served
}

// Close does nothing: the standard input is not the source's.
func (s *Source) Close() error { return nil }

// Notices tells what a person should know: the lines that were passed over.
func (s *Source) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ns := append([]string(nil), s.notices...)
	if more := s.skipped - len(s.notices); more > 0 {
		ns = append(ns, fmt.Sprintf("standard input: %d more lines were too long and were skipped", more))
	}
	return ns
}

// read sends the lines until there are no more of them: those that were read at once, at once.
func (s *Source) read(ctx context.Context, port *lines.Port, courier *lines.Courier, out component.Out) error {
	r := lines.NewReader(reader{ctx, port}, lines.Options{Max: s.max, Offset: s.base})
	to := &sender{source: s, courier: courier, out: out}
	for {
		l, err := r.Next()
		if err == nil {
			to.add(l)
			if r.Ready() && !to.full() {
				continue
			}
		}
		if err := to.send(ctx); err != nil {
			return err
		}
		if err == nil {
			continue
		}
		var long *lines.TooLongError
		switch {
		case errors.As(err, &long):
			if !s.skipLong {
				return fmt.Errorf("standard input: %w: raise max_line_bytes, or set skip_long_lines: true", err)
			}
			s.skip(long)
		case errors.Is(err, io.EOF):
			if l, ok := r.Last(); ok {
				to.add(l)
			}
			return to.send(ctx)
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			return fmt.Errorf("standard input: %w", err)
		}
	}
}

func (s *Source) skip(e *lines.TooLongError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skipped++
	if len(s.notices) < maxNotices {
		s.notices = append(s.notices, fmt.Sprintf("standard input: %v: skipped", e))
	}
}

func isFile(r io.Reader) bool {
	_, ok := r.(*os.File)
	return ok
}

// reader is a Port under one context, as io.Reader.
type reader struct {
	ctx  context.Context
	port *lines.Port
}

func (r reader) Read(b []byte) (int, error) { return r.port.Read(r.ctx, b) }
