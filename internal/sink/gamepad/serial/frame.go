package serial

import "github.com/hikyaku/hikyaku/internal/macro"

// The kinds of messages, each the first byte of one. docs/adapter.md says what follows.
const (
	kindHello   = 0x01
	kindState   = 0x02
	kindWelcome = 0x81
	kindShown   = 0x82
	kindTrouble = 0x83
)

// The versions of the protocol that this side speaks.
const (
	oldest = 1
	newest = 1
)

const (
	// mostMessage is the most bytes that a message has, its checksum included.
	mostMessage = 128

	// mostFrame is the most bytes that it has on the line: the coding adds one, and the zeros two more.
	mostFrame = mostMessage + 3

	sumBytes = 2
)

// sum is the checksum of a message: CRC-16 with the polynomial 0x1021, begun with 0xffff.
func sum(message []byte) uint16 {
	crc := uint16(0xffff)
	for _, b := range message {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// appendFrame appends a message with its checksum as it goes over the line: coded so that it has no zero, and a zero
// before and behind it. The one before ends what is half written. The message, with its checksum, has at most
// mostMessage bytes.
func appendFrame(b, message []byte) []byte {
	s := sum(message)
	b = append(b, 0)
	code := len(b)
	b = append(b, 1)
	put := func(v byte) {
		if v == 0 {
			code = len(b)
			b = append(b, 1)
			return
		}
		b[code]++
		b = append(b, v)
	}
	for _, v := range message {
		put(v)
	}
	put(byte(s))
	put(byte(s >> 8))
	return append(b, 0)
}

func appendHello(b []byte) []byte {
	return appendFrame(b, []byte{kindHello, oldest, newest})
}

// appendState appends the frame of a state: what is not 0 of it.
func appendState(b []byte, number byte, s *macro.State) []byte {
	var message [mostMessage]byte
	m := append(message[:0], kindState, number)
	for in, v := range s {
		if v != 0 {
			m = append(m, byte(in), byte(max(v, -100)))
		}
	}
	return appendFrame(b, m)
}

// decoder finds messages in what comes over a line. What is no frame, too long or has another checksum is passed over.
// The zero decoder is ready.
type decoder struct {
	frame [mostMessage + 2]byte // one more than a frame has without its zeros
	n     int
}

// add takes a byte. A message is returned with the last byte of its frame, without its checksum, and is good until the
// next call.
func (d *decoder) add(v byte) (message []byte, ok bool) {
	if v != 0 {
		if d.n < len(d.frame) {
			d.frame[d.n] = v
			d.n++
		}
		return nil, false
	}
	n := d.n
	d.n = 0
	if n == len(d.frame) {
		return nil, false
	}
	return unpack(d.frame[:n])
}

// unpack decodes a frame without its zero in place, and looks at its checksum.
func unpack(frame []byte) (message []byte, ok bool) {
	m := frame[:0]
	for len(frame) > 0 {
		n := int(frame[0])
		if n > len(frame) {
			return nil, false
		}
		m = append(m, frame[1:n]...)
		if frame = frame[n:]; len(frame) > 0 {
			m = append(m, 0)
		}
	}
	if len(m) < 1+sumBytes {
		return nil, false
	}
	message = m[:len(m)-sumBytes]
	s := sum(message)
	return message, m[len(message)] == byte(s) && m[len(message)+1] == byte(s>>8)
}
