package evdev

import (
	"encoding/binary"
	"strconv"
	"time"
)

// Types and codes of <linux/input-event-codes.h>.
const (
	evSyn = 0x00
	evKey = 0x01
	evAbs = 0x03

	synReport  = 0
	synDropped = 3
)

// event is the kernel's struct input_event.
type event struct {
	at    time.Duration // on the clock of the device
	kind  uint16
	code  uint16
	value int32
}

// The time of a struct input_event is two of C's long.
const (
	longBytes  = strconv.IntSize / 8
	eventBytes = 2*longBytes + 8
)

// decode reads one event from the front of b, which has eventBytes at least.
func decode(b []byte) event {
	var seconds, micros int64
	if longBytes == 8 {
		seconds, micros = int64(binary.NativeEndian.Uint64(b)), int64(binary.NativeEndian.Uint64(b[longBytes:]))
	} else { // unsigned, as the kernel has it after 2038
		seconds, micros = int64(binary.NativeEndian.Uint32(b)), int64(binary.NativeEndian.Uint32(b[longBytes:]))
	}
	b = b[2*longBytes:]
	return event{
		at:   time.Duration(seconds)*time.Second + time.Duration(micros)*time.Microsecond,
		kind: binary.NativeEndian.Uint16(b), code: binary.NativeEndian.Uint16(b[2:]),
		value: int32(binary.NativeEndian.Uint32(b[4:])),
	}
}

// append appends the event as the kernel writes it.
func (e event) append(b []byte) []byte {
	seconds, micros := e.at/time.Second, e.at%time.Second/time.Microsecond
	if longBytes == 8 {
		b = binary.NativeEndian.AppendUint64(b, uint64(seconds))
		b = binary.NativeEndian.AppendUint64(b, uint64(micros))
	} else {
		b = binary.NativeEndian.AppendUint32(b, uint32(seconds))
		b = binary.NativeEndian.AppendUint32(b, uint32(micros))
	}
	b = binary.NativeEndian.AppendUint16(b, e.kind)
	b = binary.NativeEndian.AppendUint16(b, e.code)
	return binary.NativeEndian.AppendUint32(b, uint32(e.value))
}
