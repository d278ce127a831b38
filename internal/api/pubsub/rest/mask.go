package rest

import (
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

// camelMask writes the mask of a request as JSON has it. What it cannot read it leaves as it is: the codec says what is
// wrong with it.
func camelMask(data []byte, mask protoreflect.FieldDescriptor) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return data
	}
	changed := false
	for _, name := range []string{mask.JSONName(), string(mask.Name())} {
		var paths string
		if json.Unmarshal(fields[name], &paths) != nil || !strings.Contains(paths, "_") {
			continue
		}
		text, err := json.Marshal(camel(paths))
		if err != nil {
			return data
		}
		fields[name], changed = text, true
	}
	if !changed {
		return data
	}
	written, err := json.Marshal(fields)
	if err != nil {
		return data
	}
	return written
}
