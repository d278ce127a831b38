package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A RequestInfo says what a client's frame is.
type RequestInfo uint8

// What clients send.
const (
	RequestPayload   RequestInfo = 2 // a header and a message
	RequestByeOK     RequestInfo = 3 // the result set of the slot has been received
	RequestGoodbye   RequestInfo = 4 // the session ends
	firstRequestInfo             = RequestPayload
	lastRequestInfo              = RequestGoodbye
)

// A ResponseInfo says what a server's frame is.
type ResponseInfo uint8

// What servers send.
const (
	ResponsePayload   ResponseInfo = 1 // a header and the final answer of a slot
	ResultSetPayload  ResponseInfo = 2 // a part of a result set; empty: what the writer sent so far is whole
	ResultSetHello    ResponseInfo = 5 // a result set begins; the payload is its name
	ResultSetBye      ResponseInfo = 6 // it has ended; the client confirms with RequestByeOK
	ResponseBodyHead  ResponseInfo = 7 // a header and what comes before a result set: its columns
	ResponseGoodbyeOK ResponseInfo = 8 // the server knows that the session has ended
)

// requestAlive is what the official client for Java sends to see whether the connection is there: a frame that ends
// after the slot.
const requestAlive = 5

const (
	headerSize = 7       // of a frame without a writer
	aliveSize  = 3       // of a frame that ends after the slot
	bufferSize = 1 << 16 // of a Reader
)

// ErrMalformed tells that the other side does not keep to the protocol; the connection cannot be used any more.
var ErrMalformed = errors.New("tsurugi: malformed data on the connection")

// malformed makes an ErrMalformed with details.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// A Request is a frame that a client sent.
type Request struct {
	Info    RequestInfo
	Slot    uint16
	Payload []byte // the receiver's own
}

// A Response is a frame that a server sent.
type Response struct {
	Info    ResponseInfo
	Slot    uint16
	Writer  uint8  // of ResultSetPayload
	Payload []byte // the receiver's own
}

// BeginRequest appends the head of a client's frame; EndRequest, given the length that the buffer had before, completes
// it when the payload has been appended.
func BeginRequest(buf []byte, info RequestInfo, slot uint16) []byte {
	buf = append(buf, byte(info))
	buf = binary.LittleEndian.AppendUint16(buf, slot)
	return append(buf, 0, 0, 0, 0)
}

// EndRequest writes the length of the payload into the frame that begins at start.
func EndRequest(buf []byte, start int) {
	binary.LittleEndian.PutUint32(buf[start+3:], uint32(len(buf)-start-headerSize))
}

// AppendResponse appends a server's frame.
func AppendResponse(buf []byte, r Response) []byte {
	buf = append(buf, byte(r.Info))
	buf = binary.LittleEndian.AppendUint16(buf, r.Slot)
	if r.Info == ResultSetPayload {
		buf = append(buf, r.Writer)
	}
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(r.Payload)))
	return append(buf, r.Payload...)
}

// A Reader reads the frames of one side. It is for one goroutine.
type Reader struct {
	src *bufio.Reader
	max int
}

// NewReader reads from src frames whose payload has at most max bytes; a longer one is ErrMalformed.
func NewReader(src io.Reader, max int) *Reader {
	return &Reader{src: bufio.NewReaderSize(src, bufferSize), max: max}
}

// Request reads a client's frame; what only asks whether the server is there is skipped, as nobody answers that. At the
// end of the stream, before a frame, the error is io.EOF.
func (r *Reader) Request() (Request, error) {
	var head [headerSize]byte
	for {
		if _, err := io.ReadFull(r.src, head[:aliveSize]); err != nil {
			return Request{}, err
		}
		if head[0] != requestAlive {
			break
		}
	}
	if _, err := io.ReadFull(r.src, head[aliveSize:]); err != nil {
		return Request{}, cut(err)
	}
	info := RequestInfo(head[0])
	if info < firstRequestInfo || info > lastRequestInfo {
		return Request{}, malformed("a request's frame begins with %d", head[0])
	}
	payload, err := r.payload(binary.LittleEndian.Uint32(head[3:]))
	return Request{Info: info, Slot: binary.LittleEndian.Uint16(head[1:]), Payload: payload}, err
}

// Response reads a server's frame. At the end of the stream, before a frame, the error is io.EOF.
func (r *Reader) Response() (Response, error) {
	var head [headerSize + 1]byte
	if _, err := io.ReadFull(r.src, head[:headerSize]); err != nil {
		return Response{}, err
	}
	f := Response{Info: ResponseInfo(head[0]), Slot: binary.LittleEndian.Uint16(head[1:])}
	length := head[3:headerSize]
	switch f.Info {
	case ResponsePayload, ResultSetHello, ResultSetBye, ResponseBodyHead, ResponseGoodbyeOK:
	case ResultSetPayload:
		last, err := r.src.ReadByte()
		if err != nil {
			return Response{}, cut(err)
		}
		head[headerSize] = last
		f.Writer, length = head[3], head[4:]
	default:
		return Response{}, malformed("an answer's frame begins with %d", head[0])
	}
	var err error
	f.Payload, err = r.payload(binary.LittleEndian.Uint32(length))
	return f, err
}

// Buffered is how many bytes can be read without waiting for the other side.
func (r *Reader) Buffered() int { return r.src.Buffered() }

// payload reads n bytes. What is allocated before they have arrived is bounded, whatever a broken frame says.
func (r *Reader) payload(n uint32) ([]byte, error) {
	if int64(n) > int64(r.max) {
		return nil, malformed("a frame of %d bytes; at most %d are taken", n, r.max)
	}
	const step = 1 << 20
	if n <= step {
		b := make([]byte, n)
		_, err := io.ReadFull(r.src, b)
		return b, cut(err)
	}
	b := make([]byte, 0, step)
	for len(b) < int(n) {
		more := min(int(n)-len(b), max(step, len(b)))
		b = append(b, make([]byte, more)...)
		if _, err := io.ReadFull(r.src, b[len(b)-more:]); err != nil {
			return nil, cut(err)
		}
	}
	return b, nil
}

// cut tells an end in the middle of a frame from one between frames.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
