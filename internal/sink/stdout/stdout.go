// Package stdout is a sink that writes messages to the standard output, a line each.
//
//	sinks:
//	  show: { type: stdout, inputs: [shape] }
//
// When nobody reads the standard output any more (hikyaku run … | head), Send answers with a *ClosedError: nothing can
// ever be delivered again. The command has to see to it that the signal SIGPIPE does not end the process first.
package stdout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Config is the sink's settings.
type Config struct {
	// Encoding of a message. Not set: its body as it is.
	Encoding lines.Encoding `yaml:"encoding"`
}

// ErrNoOutput: there is no standard output to write to.
var ErrNoOutput = errors.New("there is no standard output")

// ClosedError says that nobody reads the standard output any more. Trying again is of no use: the run should stop.
type ClosedError struct{ Err error }

func (e *ClosedError) Error() string {
	return fmt.Sprintf("nobody reads the standard output any more: %v", e.Err)
}

func (e *ClosedError) Unwrap() error { return e.Err }

// Stop tells the pipeline that the whole of it has to stop.
func (e *ClosedError) Stop() bool { return true }

// Sink writes lines.
type Sink struct {
	to      io.Writer
	encoder *lines.Encoder

	port   *lines.Port
	torn   bool  // the last line written has no end
	closed error // a *ClosedError once nobody reads any more
	buf    []byte
	ends   []int // of each message's line in buf; -1: it has none
}

// New checks the settings.
func New(c Config, env component.Env) (component.Sink, error) {
	encoder, err := lines.NewEncoder(c.Encoding)
	if err != nil {
		return nil, component.Setting("encoding.codec", err)
	}
	return &Sink{to: env.Stdout, encoder: encoder}, nil
}

// Limits: one batch after the other, so lines keep their order and never mix.
func (s *Sink) Limits() component.SinkLimits { return component.SinkLimits{Concurrency: 1} }

// Start looks whether there is a standard output.
func (s *Sink) Start(context.Context) error {
	if s.to == nil {
		return ErrNoOutput
	}
	var err error
	if s.port, err = lines.NewOutput(s.to); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// Send writes the batch. A line that was not written whole is a retry.
func (s *Sink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	if s.closed != nil {
		return nil, s.closed
	}
	s.buf, s.ends = s.buf[:0], s.ends[:0]
	out := make([]component.Outcome, len(batch))
	if s.torn {
		s.buf = append(s.buf, '\n') // ends the line that was left unfinished
	}
	for i, m := range batch {
		b, err := s.encoder.Append(s.buf, m)
		if err != nil {
			out[i], s.ends = component.Reject(err), append(s.ends, -1)
			continue
		}
		s.buf = append(b, '\n')
		s.ends = append(s.ends, len(s.buf))
	}
	n, err := s.port.Write(ctx, s.buf)
	if n > 0 {
		s.torn = s.buf[n-1] != '\n'
	}
	s.answer(out, n, err)
	if cap(s.buf) > keepBytes {
		s.buf = nil
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		s.closed = &ClosedError{Err: err}
		if n == 0 {
			return nil, s.closed
		}
	}
	return out, nil
}

// keepBytes is the largest buffer that is kept from batch to batch.
const keepBytes = 4 << 20

// answer tells for each message whether its line was written, given the number of bytes that were.
func (s *Sink) answer(out []component.Outcome, n int, err error) {
	now := time.Now()
	for i, end := range s.ends {
		switch {
		case end < 0: // rejected
		case end <= n:
			out[i] = component.OK(now)
		default:
			out[i] = component.Again(0, fmt.Errorf("standard output: %w", err))
		}
	}
}

// Close lets go of what the sink holds. The standard output is not the sink's.
func (s *Sink) Close() error {
	if s.port == nil {
		return nil
	}
	return s.port.Close()
}
