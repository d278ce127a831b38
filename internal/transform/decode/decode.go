// Package decode is the transform that turns the text of messages into named, typed fields:
//
//	transforms:
//	  fields:
//	    type: decode
//	    inputs: [lines]
//	    codec: csv
//	    columns: [at, level, text]
//	    types: { at: timestamp, level: int }
//	    attributes: [level]
//
// The body becomes a JSON object of the fields; those that attributes names can then be named in conditions. A message
// that does not fit is rejected with the field, the place and what to do. The codecs themselves live in package codec,
// because sources have them too.
package decode

import (
	"context"
	"errors"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Config are the settings of a codec. Codec must be said; Header is for sources, which know where a stream begins.
type Config = codec.Config

// New checks the settings. Errors are *component.SettingError.
func New(c Config, _ component.Env) (component.Transform, error) {
	if c.Codec == "" {
		return nil, &component.SettingError{Setting: "codec", Offset: -1,
			Err:  errors.New("decode needs to know the codec"),
			Hint: "json, csv, logfmt, regex, text or bytes"}
	}
	if c.Header {
		return nil, &component.SettingError{Setting: "header", Offset: -1,
			Err:  errors.New("a message on its way has no header before it"),
			Hint: "list the columns, or set header in the decoding of the source"}
	}
	d, err := codec.New(c)
	if err != nil {
		return nil, err
	}
	return transform{d}, nil
}

type transform struct{ decoder *codec.Decoder }

func (t transform) Transform(_ context.Context, m *message.Message, emit component.Emit) error {
	out, err := t.decoder.Decode(m)
	if err != nil {
		return err
	}
	emit("", out)
	return nil
}

// TransformSlab implements component.SlabTransform.
func (t transform) TransformSlab(_ context.Context, ms []*message.Message, emit component.EmitFor) []error {
	return t.decoder.DecodeSlab(ms, func(i int, m *message.Message) { emit(i, "", m) })
}
