package farend

import (
	"strconv"

	"golang.org/x/net/http2"
)

// Answers are encoded without the dynamic table of HPACK: then they can be made by anybody, and written in any order.

// statuses are the ones that HPACK's static table holds, with their places.
var statuses = map[int]byte{200: 8, 204: 9, 206: 10, 304: 11, 400: 12, 404: 13, 500: 14}

const statusName = 8 // place of :status in the static table

// appendHeader appends the header block of an answer.
func appendHeader(b []byte, a *Answer) []byte {
	if place, ok := statuses[a.Status]; ok {
		b = append(b, 0x80|place)
	} else {
		b = append(b, statusName) // literal without indexing, indexed name
		b = append(b, 3)
		b = strconv.AppendInt(b, int64(a.Status), 10)
	}
	for i := range a.Fields {
		b = append(b, 0) // literal without indexing, new name
		b = appendText(b, a.Fields[i].Name)
		b = appendText(b, a.Fields[i].Value)
	}
	return b
}

// appendText appends a string as HPACK does without Huffman's code.
func appendText(b []byte, s string) []byte {
	const most = 1<<7 - 1
	if len(s) < most {
		b = append(b, byte(len(s)))
		return append(b, s...)
	}
	b = append(b, most)
	n := len(s) - most
	for n >= 128 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	b = append(b, byte(n))
	return append(b, s...)
}

// appendFrame appends the nine bytes before a frame's payload of n bytes.
func appendFrame(b []byte, n int, kind http2.FrameType, flags http2.Flags, stream uint32) []byte {
	return append(b, byte(n>>16), byte(n>>8), byte(n), byte(kind), byte(flags),
		byte(stream>>24), byte(stream>>16), byte(stream>>8), byte(stream))
}

func appendUint32(b []byte, v uint32) []byte {
	return append(b, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}
