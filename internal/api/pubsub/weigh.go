package pubsub

import (
	"errors"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/hikyaku/hikyaku/internal/door"
)

const (
	// unweighed is the bytes of a message up to which its values are not counted: a stream has room for them.
	unweighed = 256
	// What becomes of a value, however short: of a message within a message or a member of a map, of one of several
	// texts while their list grows, and of each byte of numbers in a row.
	innerBytes, textBytes, packedBytes = 160, 40, 20
)

// values takes room for what becomes of the values of a message, beside what was taken for its length: many short ones
// take a hundred times as much. It does not wait, because the call holds some.
func (in *incoming) values(data mem.BufferSlice, m any) error {
	known, ok := m.(proto.Message)
	if !ok || data.Len() <= unweighed || in.hold.Of == nil {
		return nil // what reads itself (wireReader) takes no more than it may have
	}
	n := int64(0)
	if len(data) == 1 {
		n = weigh(data[0].ReadOnlyData(), known.ProtoReflect().Descriptor(), 0)
	} else {
		n = weigh(data.Materialize(), known.ProtoReflect().Descriptor(), 0)
	}
	if n <= int64(data.Len()) {
		return nil
	}
	switch err := in.hold.TryMore(n, "a message with many short values"); {
	case errors.Is(err, door.ErrNeverFits), errors.Is(err, door.ErrBusy):
		return noRoom(err)
	default:
		return err
	}
}

// deepest is how deep messages may lie in each other, as in the library.
const deepest = protowire.DefaultRecursionLimit

// weigh is about how many bytes become of the values of a message of some type, beside their own length. What is wrong
// with the message, its decoder says.
func weigh(data []byte, d protoreflect.MessageDescriptor, depth int) (n int64) {
	var last protowire.Number
	var field protoreflect.FieldDescriptor
	for len(data) > 0 && depth < deepest {
		number, kind, length := protowire.ConsumeField(data)
		if length < 0 {
			return n
		}
		if number != last { // a list has one number, and looking it up takes longer than all else
			last, field = number, d.Fields().ByNumber(number)
		}
		if field != nil {
			n += weighField(data[:length], field, kind, depth)
		}
		data = data[length:]
	}
	return n
}

func weighField(data []byte, field protoreflect.FieldDescriptor, kind protowire.Type, depth int) int64 {
	switch {
	case field.Message() != nil && kind == protowire.BytesType:
		_, _, tag := protowire.ConsumeTag(data)
		inner, _ := protowire.ConsumeBytes(data[tag:])
		return innerBytes + weigh(inner, field.Message(), depth+1)
	case !field.IsList():
		return 0
	case kind == protowire.BytesType && field.IsPacked():
		return packedBytes * int64(len(data))
	}
	return textBytes
}
