package push

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/hikyaku/hikyaku/internal/push/wire"
)

const (
	readLen    = 64 << 10 // of frames that are read before they are acted upon
	recordLen  = 16384    // what TLS gives at once
	connWindow = 1 << 20  // what the far end may send ahead on a connection
	maxBlock   = 64 << 10 // bytes of a field block in CONTINUATIONs
)

// event is what a frame means.
type event struct {
	kind     eventKind
	end      bool // of the stream, or: an acknowledgement
	stream   uint32
	n        uint32 // a code, an increment, the last stream
	response *Response
	data     []byte // lies in the reader's buffer
	bad      string // why the header is not HTTP
}

type eventKind uint8

const (
	onHeader eventKind = iota + 1
	onData
	onReset
	onWindow
	onSettings
	onPing
	onGoAway
)

// reader turns what the far end sends into events. It knows no streams and takes no lock.
type reader struct {
	config *Config
	dec    *hpack.Decoder
	first  bool // the first frame was seen
	events []event
	credit uint32 // what the far end has sent of the connection's window, until it is given back

	// of the block that is being decoded
	fields []Field
	status int
	pseudo bool // only pseudo-header fields so far
	size   int
	bad    string

	// of a block in several frames
	block  []byte
	stream uint32
	end    bool
}

func newReader(config *Config) *reader {
	r := &reader{config: config}
	r.dec = hpack.NewDecoder(wire.DefaultTableSize, r.field)
	return r
}

// frames makes events of all whole frames in the buffer and tells how many bytes they take.
func (r *reader) frames(buf []byte) (n int, err *ProtocolError) {
	for {
		f, m, bad := wire.Next(buf[n:], wire.DefaultFrameSize)
		if bad != nil {
			return n, &ProtocolError{http2.ErrCodeFrameSize, bad.Error()}
		}
		if m == 0 {
			return n, nil
		}
		if err := r.frame(f); err != nil {
			return n, err
		}
		n += m
	}
}

func (r *reader) frame(f wire.Frame) *ProtocolError {
	if !r.first && (f.Type != wire.TypeSettings || f.Has(wire.FlagAck)) {
		return breach("the first frame is not SETTINGS but of type %d", f.Type)
	}
	r.first = true
	if r.stream != 0 && (f.Type != wire.TypeContinuation || f.Stream != r.stream) {
		return breach("a frame of type %d within a field block", f.Type)
	}
	switch f.Type {
	case wire.TypeData, wire.TypeHeaders, wire.TypeRSTStream, wire.TypePriority, wire.TypeContinuation:
		if f.Stream == 0 || f.Stream%2 == 0 {
			return breach("a frame of type %d on stream %d", f.Type, f.Stream)
		}
	case wire.TypeSettings, wire.TypePing, wire.TypeGoAway:
		if f.Stream != 0 {
			return breach("a frame of type %d on stream %d", f.Type, f.Stream)
		}
	}
	switch f.Type {
	case wire.TypeData:
		return r.data(f)
	case wire.TypeHeaders:
		content, err := f.Content()
		if err != nil {
			return breach("HEADERS: %v", err)
		}
		return r.fragment(f, content, f.Has(wire.FlagEndStream))
	case wire.TypeContinuation:
		if r.stream == 0 {
			return breach("CONTINUATION of nothing")
		}
		return r.fragment(f, f.Payload, r.end)
	case wire.TypePriority:
		return length(f, 5)
	case wire.TypeRSTStream:
		if err := length(f, 4); err != nil {
			return err
		}
		r.events = append(r.events, event{kind: onReset, stream: f.Stream, n: binary.BigEndian.Uint32(f.Payload)})
	case wire.TypeWindowUpdate:
		if err := length(f, 4); err != nil {
			return err
		}
		r.events = append(r.events,
			event{kind: onWindow, stream: f.Stream, n: binary.BigEndian.Uint32(f.Payload) & wire.MaxWindow})
	case wire.TypeSettings:
		return r.settings(f)
	case wire.TypePing:
		if err := length(f, 8); err != nil {
			return err
		}
		r.events = append(r.events, event{kind: onPing, end: f.Has(wire.FlagAck), data: f.Payload})
	case wire.TypeGoAway:
		if len(f.Payload) < 8 {
			return length(f, 8)
		}
		r.events = append(r.events, event{kind: onGoAway, stream: binary.BigEndian.Uint32(f.Payload) & wire.MaxStream,
			n: binary.BigEndian.Uint32(f.Payload[4:]), data: f.Payload[8:]})
	case wire.TypePushPromise:
		return breach("PUSH_PROMISE, which we have forbidden")
	}
	return nil // what is unknown is ignored
}

func (r *reader) data(f wire.Frame) *ProtocolError {
	// It counts as taken at once, so the connection's window is never the narrow one: what is kept is bounded by the
	// streams and their windows.
	r.credit += uint32(len(f.Payload))
	content, err := f.Content()
	if err != nil {
		return breach("DATA: %v", err)
	}
	r.events = append(r.events, event{kind: onData, end: f.Has(wire.FlagEndStream), stream: f.Stream, data: content})
	return nil
}

// update is by how much the connection's window is to be opened; 0: not yet.
func (r *reader) update() uint32 {
	if r.credit < connWindow/2 {
		return 0
	}
	n := r.credit
	r.credit = 0
	return n
}

func (r *reader) settings(f wire.Frame) *ProtocolError {
	if f.Has(wire.FlagAck) {
		return length(f, 0)
	}
	if len(f.Payload)%6 != 0 {
		return length(f, 6)
	}
	var bad *ProtocolError
	wire.EachSetting(f.Payload, func(s wire.Setting) bool {
		switch {
		case s.ID == wire.SettingInitialWindowSize && s.Value > wire.MaxWindow:
			bad = &ProtocolError{http2.ErrCodeFlowControl, fmt.Sprintf("an initial window of %d", s.Value)}
		case s.ID == wire.SettingMaxFrameSize && (s.Value < wire.DefaultFrameSize || s.Value > wire.MaxFrameSize):
			bad = breach("frames of %d bytes", s.Value)
		case s.ID == wire.SettingEnablePush && s.Value != 0:
			bad = breach("a far end that wants to be pushed to")
		}
		return bad == nil
	})
	r.events = append(r.events, event{kind: onSettings, data: f.Payload})
	return bad
}

// fragment takes a part of a field block.
func (r *reader) fragment(f wire.Frame, part []byte, end bool) *ProtocolError {
	whole := f.Has(wire.FlagEndHeaders)
	if r.stream == 0 && whole {
		return r.decode(f.Stream, part, end)
	}
	if len(r.block)+len(part) > maxBlock || len(part) == 0 && r.stream != 0 && !whole {
		return &ProtocolError{http2.ErrCodeEnhanceYourCalm, "a field block that does not end"}
	}
	r.stream, r.end = f.Stream, end
	r.block = append(r.block, part...)
	if !whole {
		return nil
	}
	err := r.decode(r.stream, r.block, r.end)
	r.block, r.stream = r.block[:0], 0
	return err
}

// decode makes the event of a whole block.
func (r *reader) decode(stream uint32, block []byte, end bool) *ProtocolError {
	r.fields, r.status, r.size, r.bad, r.pseudo = r.fields[:0], 0, 0, "", true
	r.dec.SetEmitEnabled(true)
	_, err := r.dec.Write(block)
	if err == nil {
		err = r.dec.Close()
	}
	if err != nil {
		return &ProtocolError{http2.ErrCodeCompression, err.Error()}
	}
	if r.status >= 100 && r.status < 200 && r.bad == "" {
		if !end {
			return nil // an interim response: the final one follows
		}
		r.bad = "an interim response that ends the stream"
	}
	e := event{kind: onHeader, end: end, stream: stream, bad: r.bad}
	if r.bad == "" {
		e.response = &Response{Status: r.status}
		if len(r.fields) > 0 && r.status != 0 {
			e.response.Header = append(make([]Field, 0, len(r.fields)), r.fields...)
		}
	}
	r.events = append(r.events, e)
	return nil
}

// field takes one field of the block that is being decoded.
func (r *reader) field(f hpack.HeaderField) {
	r.size += int(f.Size())
	switch {
	case r.size > r.config.MaxResponseHeader:
		r.bad = fmt.Sprintf("its fields are more than %d bytes", r.config.MaxResponseHeader)
		r.dec.SetEmitEnabled(false)
	case f.Name == ":status":
		if r.status = statusOf(f.Value); r.status == 0 || !r.pseudo {
			r.bad = fmt.Sprintf("status %.20q", f.Value)
		}
	case f.IsPseudo() || !isFieldName(f.Name) || !isFieldValue(f.Value) && r.bad == "":
		r.bad = fmt.Sprintf("field %.50q", f.Name)
	default:
		r.pseudo = false
		r.fields = append(r.fields, Field{f.Name, f.Value, f.Sensitive})
	}
}

func statusOf(s string) int {
	if len(s) != 3 || s[0] < '1' || s[0] > '5' || s[1] < '0' || s[1] > '9' || s[2] < '0' || s[2] > '9' {
		return 0
	}
	return int(s[0]-'0')*100 + int(s[1]-'0')*10 + int(s[2]-'0')
}

func breach(format string, args ...any) *ProtocolError {
	return &ProtocolError{http2.ErrCodeProtocol, fmt.Sprintf(format, args...)}
}

func length(f wire.Frame, want int) *ProtocolError {
	if len(f.Payload) == want {
		return nil
	}
	return &ProtocolError{http2.ErrCodeFrameSize,
		fmt.Sprintf("a frame of type %d with %d bytes", f.Type, len(f.Payload))}
}
