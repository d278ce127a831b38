package wire

import (
	"encoding/binary"
	"errors"
)

// HeaderLen is the length of a frame's header in bytes.
const HeaderLen = 9

// Preface is what a client says first.
const Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// The types of frames.
const (
	TypeData         = 0x0
	TypeHeaders      = 0x1
	TypePriority     = 0x2
	TypeRSTStream    = 0x3
	TypeSettings     = 0x4
	TypePushPromise  = 0x5
	TypePing         = 0x6
	TypeGoAway       = 0x7
	TypeWindowUpdate = 0x8
	TypeContinuation = 0x9
)

// The flags of frames.
const (
	FlagEndStream  = 0x1 // DATA, HEADERS
	FlagAck        = 0x1 // SETTINGS, PING
	FlagEndHeaders = 0x4 // HEADERS, CONTINUATION
	FlagPadded     = 0x8 // DATA, HEADERS
	FlagPriority   = 0x20
)

// The settings.
const (
	SettingHeaderTableSize   = 0x1
	SettingEnablePush        = 0x2
	SettingMaxStreams        = 0x3
	SettingInitialWindowSize = 0x4
	SettingMaxFrameSize      = 0x5
	SettingMaxHeaderListSize = 0x6
)

// What holds before the far end says otherwise, and the bounds of what it may say.
const (
	DefaultWindow     = 65535
	MaxWindow         = 1<<31 - 1
	DefaultFrameSize  = 16384
	MaxFrameSize      = 1<<24 - 1
	DefaultTableSize  = 4096
	MaxStream         = 1<<31 - 1
	settingLen        = 6
	priorityLen       = 5
	streamMask        = 1<<31 - 1
	frameTypeAt       = 3
	frameFlagsAt      = 4
	frameStreamAt     = 5
	goAwayFixedLen    = 8
	maxPaddingLenByte = 1
)

// A Frame is one frame. Its payload lies in the buffer it was read from.
type Frame struct {
	Type, Flags uint8
	Stream      uint32
	Payload     []byte
}

// Has tells whether the flag is set.
func (f Frame) Has(flag uint8) bool { return f.Flags&flag != 0 }

// The reasons for which Next and Content refuse.
var (
	ErrTooLarge = errors.New("a frame is larger than was allowed")
	ErrPadding  = errors.New("the padding of a frame is longer than the frame")
)

// Next reads the frame at the start of the buffer and tells how many bytes it takes; n is 0 while it is not there
// whole. A payload over limit bytes is ErrTooLarge, as soon as its header is there.
func Next(buf []byte, limit int) (f Frame, n int, err error) {
	if len(buf) < HeaderLen {
		return Frame{}, 0, nil
	}
	size := int(buf[0])<<16 | int(buf[1])<<8 | int(buf[2])
	if size > limit {
		return Frame{}, 0, ErrTooLarge
	}
	if len(buf) < HeaderLen+size {
		return Frame{}, 0, nil
	}
	f.Type, f.Flags = buf[frameTypeAt], buf[frameFlagsAt]
	f.Stream = binary.BigEndian.Uint32(buf[frameStreamAt:]) & streamMask
	f.Payload = buf[HeaderLen : HeaderLen+size : HeaderLen+size]
	return f, HeaderLen + size, nil
}

// Content is the payload of a DATA or HEADERS frame without padding and priority.
func (f Frame) Content() ([]byte, error) {
	p := f.Payload
	if f.Has(FlagPadded) {
		if len(p) < 1 || int(p[0]) > len(p)-1 {
			return nil, ErrPadding
		}
		p = p[1 : len(p)-int(p[0])]
	}
	if f.Type == TypeHeaders && f.Has(FlagPriority) {
		if len(p) < priorityLen {
			return nil, ErrPadding
		}
		p = p[priorityLen:]
	}
	return p, nil
}

// AppendHeader appends the header of a frame whose payload of size bytes follows.
func AppendHeader(buf []byte, size int, kind, flags uint8, stream uint32) []byte {
	return append(buf, byte(size>>16), byte(size>>8), byte(size), kind, flags,
		byte(stream>>24), byte(stream>>16), byte(stream>>8), byte(stream))
}

// AppendFrame appends a whole frame.
func AppendFrame(buf []byte, kind, flags uint8, stream uint32, payload []byte) []byte {
	return append(AppendHeader(buf, len(payload), kind, flags, stream), payload...)
}

// AppendRST appends a RST_STREAM.
func AppendRST(buf []byte, stream, code uint32) []byte {
	return binary.BigEndian.AppendUint32(AppendHeader(buf, 4, TypeRSTStream, 0, stream), code)
}

// AppendWindowUpdate appends a WINDOW_UPDATE; stream 0 is the connection.
func AppendWindowUpdate(buf []byte, stream, by uint32) []byte {
	return binary.BigEndian.AppendUint32(AppendHeader(buf, 4, TypeWindowUpdate, 0, stream), by)
}

// AppendGoAway appends a GOAWAY without debug data.
func AppendGoAway(buf []byte, last, code uint32) []byte {
	buf = AppendHeader(buf, goAwayFixedLen, TypeGoAway, 0, 0)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(buf, last), code)
}

// A Setting is one entry of a SETTINGS frame.
type Setting struct {
	ID    uint16
	Value uint32
}

// AppendSettings appends a SETTINGS frame.
func AppendSettings(buf []byte, settings ...Setting) []byte {
	buf = AppendHeader(buf, settingLen*len(settings), TypeSettings, 0, 0)
	for _, s := range settings {
		buf = binary.BigEndian.AppendUint16(buf, s.ID)
		buf = binary.BigEndian.AppendUint32(buf, s.Value)
	}
	return buf
}

// EachSetting calls f for each whole entry in the payload of a SETTINGS frame, in order, until it answers false.
func EachSetting(payload []byte, f func(Setting) bool) {
	for ; len(payload) >= settingLen; payload = payload[settingLen:] {
		if !f(Setting{binary.BigEndian.Uint16(payload), binary.BigEndian.Uint32(payload[2:])}) {
			return
		}
	}
}
