package rest

import (
	"bytes"
	"encoding/json"
	"strings"

	"connectrpc.com/vanguard"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// leniently reads JSON as Google's services do: in the text of a field mask, names may be those of Protocol Buffers.
type leniently struct{ *vanguard.JSONCodec }

// Unmarshal reads a message.
func (l leniently) Unmarshal(data []byte, m proto.Message) error {
	if mask := maskOf(m.ProtoReflect().Descriptor()); mask != nil {
		data = camelMask(data, mask)
	}
	return l.JSONCodec.Unmarshal(data, m)
}

// maskOf is the field of a request that is a field mask; nil: it has none.
func maskOf(d protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	f := d.Fields().ByName("update_mask")
	if f == nil || f.Message() == nil || f.Message().FullName() != "google.protobuf.FieldMask" {
		return nil
	}
	return f
}

// camelMask writes the mask of a request as JSON has it, and nothing else in it. What it cannot read it leaves as it
// is: the codec says what is wrong with it.
func camelMask(data []byte, mask protoreflect.FieldDescriptor) []byte {
	d := json.NewDecoder(bytes.NewReader(data))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return data
	}
	var written []byte
	done := 0 // the bytes of data that are written, in whatever form
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return data
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return data
		}
		var paths string
		if name != mask.JSONName() && name != string(mask.Name()) || json.Unmarshal(value, &paths) != nil ||
			!strings.Contains(paths, "_") {
			continue
		}
		text, err := json.Marshal(camel(paths))
		if err != nil {
			return data
		}
		behind := int(d.InputOffset())
		written = append(append(written, data[done:behind-len(value)]...), text...)
		done = behind
	}
	return append(written, data[done:]...)
}
