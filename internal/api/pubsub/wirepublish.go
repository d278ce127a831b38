package pubsub

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hikyaku/hikyaku/internal/message"
)

// publishRequest is a PublishRequest, read into the store's messages. Their bodies lie in the request.
type publishRequest struct {
	topic    string
	messages []message.Message
	size     int // of the request, encoded
}

var errUTF8 = errors.New("string field contains invalid UTF-8")

func (r *publishRequest) readWire(data []byte) error {
	r.size = len(data)
	count := 0
	err := eachField(data, func(n protowire.Number, v []byte) error {
		if n == 2 {
			count++
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.messages = make([]message.Message, 0, min(count, maxPublishMessages+1))
	return eachField(data, func(n protowire.Number, v []byte) error {
		switch n {
		case 1:
			if !utf8.Valid(v) {
				return errUTF8
			}
			r.topic = string(v)
		case 2:
			if len(r.messages) > maxPublishMessages {
				return nil // it is refused for their number
			}
			r.messages = append(r.messages, message.Message{})
			return readMessage(&r.messages[len(r.messages)-1], v)
		}
		return nil
	})
}

// readMessage reads a PubsubMessage. Id and time are the server's to give: those of the request are passed over.
func readMessage(m *message.Message, data []byte) error {
	err := eachField(data, func(n protowire.Number, v []byte) error {
		switch n {
		case 1:
			m.Body = v
		case 2:
			return readAttribute(m, v)
		case 5:
			if !utf8.Valid(v) {
				return errUTF8
			}
			m.Key = string(v)
		}
		return nil
	})
	if err != nil || len(m.Attributes) < 2 {
		return err
	}
	unique(m)
	return nil
}

// unique sorts the attributes. Of several with one name the last counts, as in any map of Protocol Buffers.
func unique(m *message.Message) {
	slices.SortStableFunc(m.Attributes, func(a, b message.Attribute) int { return strings.Compare(a.Name, b.Name) })
	kept := m.Attributes[:0]
	for i, a := range m.Attributes {
		if i+1 == len(m.Attributes) || m.Attributes[i+1].Name != a.Name {
			kept = append(kept, a)
		}
	}
	m.Attributes = kept
}

func readAttribute(m *message.Message, data []byte) error {
	var name, value []byte
	err := eachField(data, func(n protowire.Number, v []byte) error {
		switch n {
		case 1:
			name = v
		case 2:
			value = v
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !utf8.Valid(name) || !utf8.Valid(value) {
		return errUTF8
	}
	if len(m.Attributes) > 2*maxAttributes {
		if unique(m); len(m.Attributes) > maxAttributes {
			return nil // it is refused for their number
		}
	}
	m.Attributes = append(m.Attributes, message.Attribute{Name: string(name), Value: message.String(string(value))})
	return nil
}

// eachField calls visit for each field that holds bytes and passes over the others.
func eachField(data []byte, visit func(protowire.Number, []byte) error) error {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
				return protowire.ParseError(n)
			}
			data = data[n:]
			continue
		}
		v, n := protowire.ConsumeBytes(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		if err := visit(number, v[:len(v):len(v)]); err != nil {
			return err
		}
	}
	return nil
}
