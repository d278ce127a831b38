// Package eventstream writes messages in the framing that AWS calls event streams (application/vnd.amazon.eventstream):
// lengths, a checksum of them, headers, a payload, and a checksum of all.
//
//	frame := eventstream.Append(nil, []eventstream.Header{{":event-type", "PayloadChunk"}}, payload)
//	headers, payload, rest, err := eventstream.Read(frame)
package eventstream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Type is the content type of a stream.
const Type = "application/vnd.amazon.eventstream"

// Header is a header whose value is a string: no other kind is needed.
type Header struct{ Name, Value string }

const (
	prelude    = 12 // two lengths and their checksum
	stringKind = 7
	// MaxPayload and MaxHeaders bound a message, as the format does.
	MaxPayload = 16 << 20
	MaxHeaders = 128 << 10
)

// Append appends a message. Names have at most 255 bytes and values 65,535: longer ones are cut.
func Append(dst []byte, headers []Header, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, prelude)...)
	for _, h := range headers {
		name, value := h.Name[:min(len(h.Name), 255)], h.Value[:min(len(h.Value), 1<<16-1)]
		dst = append(dst, byte(len(name)))
		dst = append(dst, name...)
		dst = append(dst, stringKind)
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(value)))
		dst = append(dst, value...)
	}
	head := len(dst) - start - prelude
	dst = append(dst, payload...)
	message := dst[start:]
	binary.BigEndian.PutUint32(message, uint32(len(message)+4))
	binary.BigEndian.PutUint32(message[4:], uint32(head))
	binary.BigEndian.PutUint32(message[8:], crc32.ChecksumIEEE(message[:8]))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(message))
}

// ErrShort: the message is not whole yet.
var ErrShort = errors.New("eventstream: there is no whole message")

// Read reads the first message of data. What is returned lies in data.
func Read(data []byte) (headers []Header, payload, rest []byte, err error) {
	if len(data) < prelude+4 {
		return nil, nil, nil, ErrShort
	}
	total, head := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	switch {
	case crc32.ChecksumIEEE(data[:8]) != binary.BigEndian.Uint32(data[8:]):
		return nil, nil, nil, errors.New("eventstream: the checksum of the lengths is wrong")
	case head > MaxHeaders || total > MaxPayload+MaxHeaders+prelude+4 || total < prelude+4+head:
		return nil, nil, nil, fmt.Errorf("eventstream: lengths %d and %d cannot be", total, head)
	case uint64(len(data)) < uint64(total):
		return nil, nil, nil, ErrShort
	}
	message := data[:total]
	if end := total - 4; crc32.ChecksumIEEE(message[:end]) != binary.BigEndian.Uint32(message[end:]) {
		return nil, nil, nil, errors.New("eventstream: the checksum of the message is wrong")
	}
	for h := message[prelude : prelude+head]; len(h) > 0; {
		n := int(h[0])
		if len(h) < 1+n+3 || h[1+n] != stringKind {
			return nil, nil, nil, errors.New("eventstream: a header is cut off, or is no string")
		}
		value := int(binary.BigEndian.Uint16(h[2+n:]))
		if len(h) < 4+n+value {
			return nil, nil, nil, errors.New("eventstream: a header is cut off")
		}
		headers = append(headers, Header{string(h[1 : 1+n]), string(h[4+n : 4+n+value])})
		h = h[4+n+value:]
	}
	return headers, message[prelude+head : total-4], data[total:], nil
}
