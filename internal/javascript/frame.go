package javascript

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// A process reads requests and writes answers: frames of a length of four bytes and a body. A request has functions and
// messages; each message is answered by a frame of its own, as soon as it is done, in their order. A request without
// messages asks whether the functions can be run, and has one answer.

// request is what a process is asked.
type request struct {
	time      time.Duration // for each message
	functions []Function
	messages  []Message
}

// kind says what an answer is.
type kind byte

const (
	isMessage kind = iota
	isDropped
	isFailed
)

// answer is what became of one message.
type answer struct {
	kind       kind
	function   string // isFailed: the one that failed
	reason     string
	data       []byte
	attributes map[string]string
}

var errFrame = errors.New("a frame of a process for JavaScript is damaged")

// writeFrame writes a body with its length before it. b has frameHead bytes of room in front.
func writeFrame(w io.Writer, b []byte) error {
	n := len(b) - frameHead
	if n > maxFrame {
		return ErrTooLarge
	}
	binary.BigEndian.PutUint32(b, uint32(n))
	_, err := w.Write(b)
	return err
}

const (
	frameHead = 4
	maxMillis = 60_000
)

// readFrame reads a body.
func readFrame(r io.Reader) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return nil, fmt.Errorf("%w: it says that it has %d bytes", errFrame, n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

func putText[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func putAttributes(b []byte, attributes map[string]string) []byte {
	b = binary.AppendUvarint(b, uint64(len(attributes)))
	for k, v := range attributes {
		b = putText(putText(b, k), v)
	}
	return b
}

// append writes the request behind b.
func (q *request) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(q.time.Milliseconds()))
	b = binary.AppendUvarint(b, uint64(len(q.functions)))
	for _, f := range q.functions {
		b = putText(putText(b, f.Name), f.Code)
	}
	b = binary.AppendUvarint(b, uint64(len(q.messages)))
	for i := range q.messages {
		m := &q.messages[i]
		b = putText(putText(putText(b, m.Data), m.ID), m.Key)
		b = binary.AppendVarint(b, m.Time.UnixMicro())
		b = putAttributes(b, m.Attributes)
	}
	return b
}

// readRequest reads what append wrote. What it returns lies in b.
func readRequest(b []byte) (*request, error) {
	r, q := reader{b: b}, new(request)
	q.time = time.Duration(min(r.uint(), maxMillis)) * time.Millisecond
	for range r.count(2) {
		q.functions = append(q.functions, Function{Name: string(r.bytes()), Code: string(r.bytes())})
	}
	for range r.count(5) {
		m := Message{Data: r.bytes(), ID: string(r.bytes()), Key: string(r.bytes())}
		m.Time = time.UnixMicro(r.int()).UTC()
		m.Attributes = r.attributes()
		q.messages = append(q.messages, m)
	}
	return q, r.end()
}

// append writes the answer behind b.
func (a *answer) append(b []byte) []byte {
	b = append(b, byte(a.kind))
	switch a.kind {
	case isMessage:
		b = putAttributes(putText(b, a.data), a.attributes)
	case isFailed:
		b = putText(putText(b, a.function), a.reason)
	}
	return b
}

// readAnswer reads what append wrote. What it returns lies in b.
func readAnswer(b []byte) (*answer, error) {
	if len(b) == 0 {
		return nil, errFrame
	}
	r, a := reader{b: b[1:]}, &answer{kind: kind(b[0])}
	switch a.kind {
	case isMessage:
		a.data, a.attributes = r.bytes(), r.attributes()
	case isDropped:
	case isFailed:
		a.function, a.reason = string(r.bytes()), string(r.bytes())
	default:
		return nil, errFrame
	}
	return a, r.end()
}

// reader reads a body. After an error all that it reads is empty.
type reader struct {
	b     []byte
	wrong bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.wrong = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.b, r.wrong = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) bytes() []byte {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.b, r.wrong = nil, true
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// count is how many things follow of which each takes so many bytes at least.
func (r *reader) count(least int) int {
	n := r.uint()
	if n > uint64(len(r.b)/least) {
		r.b, r.wrong = nil, true
		return 0
	}
	return int(n)
}

func (r *reader) attributes() map[string]string {
	n := r.count(2)
	all := make(map[string]string, n)
	for range n {
		k := string(r.bytes())
		all[k] = string(r.bytes())
	}
	return all
}

func (r *reader) end() error {
	if r.wrong || len(r.b) > 0 {
		return errFrame
	}
	return nil
}
