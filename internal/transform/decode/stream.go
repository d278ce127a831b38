package decode

import (
	"context"
	"fmt"
	"sync"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// ForStream makes the transform behind a source whose messages are one stream from its beginning: with Config.Header
// the first message names the columns. It needs a pipeline that keeps the source's order (one worker). Errors are
// *component.SettingError.
func ForStream(c Config, env component.Env) (component.Transform, error) {
	if !c.Header {
		return New(c, env)
	}
	d, err := codec.New(c)
	if err != nil {
		return nil, err
	}
	return &stream{waiting: d}, nil
}

// stream decodes messages by the header that the first of them is.
type stream struct {
	mu      sync.Mutex
	waiting *codec.Decoder // for the header
	decoder *codec.Decoder // nil before the header
	bad     error          // why the header is none: nothing behind it can be decoded
}

func (s *stream) Transform(_ context.Context, m *message.Message, emit component.Emit) error {
	d, isHeader, err := s.by(m)
	if err != nil || isHeader {
		return err
	}
	out, err := d.Decode(m)
	if err != nil {
		return err
	}
	emit("", out)
	return nil
}

// TransformSlab implements component.SlabTransform.
func (s *stream) TransformSlab(_ context.Context, ms []*message.Message, emit component.EmitFor) []error {
	errs := make([]error, len(ms))
	for i, m := range ms {
		d, isHeader, err := s.by(m)
		switch {
		case err != nil:
			errs[i] = err
		case !isHeader: // and all behind it are records, too
			copy(errs[i:], d.DecodeSlab(ms[i:], func(k int, m *message.Message) { emit(i+k, "", m) }))
			return errs
		}
	}
	return errs
}

// by is the decoder for m; the first message makes it.
func (s *stream) by(m *message.Message) (d *codec.Decoder, isHeader bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bad != nil {
		return nil, false, s.bad
	}
	if s.decoder != nil {
		return s.decoder, false, nil
	}
	if s.decoder, err = s.waiting.WithHeader(m.Body); err != nil {
		s.bad = fmt.Errorf("the first line does not name the columns: %w", err)
		return nil, true, s.bad
	}
	return s.decoder, true, nil
}
