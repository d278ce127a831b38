package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// errTruncated is what decoding says of bytes that end too early or do not mean anything.
var errTruncated = errors.New("this one does not understand it")

// later tells what was read of the journal, whose checksums fit, and cannot be understood: a later version wrote it.
// Other errors, such as those of the disk, stay what they are.
func later(where, what string, err error) error {
	if err == nil || !errors.Is(err, errTruncated) { // errors.As makes an allocation
		return err
	}
	var format *journal.FormatError
	if errors.As(err, &format) {
		return err
	}
	return &journal.FormatError{Where: where, What: what, Reason: err.Error()}
}

// reader takes a record's head apart. After a mistake every call returns zero values and err says what happened.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail(errTruncated)
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail(errTruncated)
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) uint32() uint32 {
	v := r.uint()
	if v > math.MaxUint32 {
		r.fail(errTruncated)
		return 0
	}
	return uint32(v)
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail(errTruncated)
		return 0
	}
	r.b = r.b[n:]
	return v
}

// take returns the next n bytes, sharing the reader's memory.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail(errTruncated)
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) bytes() []byte  { return r.take(r.uint()) }
func (r *reader) string() string { return string(r.bytes()) }

func (r *reader) bool() bool {
	c := r.byte()
	if c > 1 {
		r.fail(fmt.Errorf("%w: %d where 0 or 1 was expected", errTruncated, c))
	}
	return c == 1
}

// count reads a number of things of at least min bytes each, so that a damaged number can not ask for endless memory.
func (r *reader) count(min int) int {
	n := r.uint()
	if n > uint64(len(r.b)/min) {
		r.fail(errTruncated)
		return 0
	}
	return int(n)
}

// done returns the mistake, if any; bytes left over are one.
func (r *reader) done() error {
	if r.err == nil && len(r.b) != 0 {
		return fmt.Errorf("%w: %d bytes too many", errTruncated, len(r.b))
	}
	return r.err
}

func putUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }
func putInt(b []byte, v int64) []byte   { return binary.AppendVarint(b, v) }

func putString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func putBytes(b, s []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func putBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// putValue writes a value as its kind and content.
func putValue(b []byte, v message.Value) []byte {
	b = append(b, byte(v.Kind()))
	switch v.Kind() {
	case message.KindNull:
	case message.KindBool:
		b = putBool(b, v.AsBool())
	case message.KindInt:
		b = putInt(b, v.AsInt())
	case message.KindUint:
		b = putUint(b, v.AsUint())
	case message.KindFloat:
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v.AsFloat()))
	case message.KindTime:
		b = putInt(b, v.AsTime().UnixMicro())
	default: // text, bytes, decimal
		b = putString(b, v.AsString())
	}
	return b
}

func (r *reader) value() message.Value {
	kind := message.Kind(r.byte())
	switch kind {
	case message.KindNull:
		return message.Null()
	case message.KindBool:
		return message.Bool(r.bool())
	case message.KindInt:
		return message.Int(r.int())
	case message.KindUint:
		return message.Uint(r.uint())
	case message.KindFloat:
		p := r.take(8)
		if p == nil {
			return message.Null()
		}
		return message.Float(math.Float64frombits(binary.LittleEndian.Uint64(p)))
	case message.KindTime:
		return message.Time(time.UnixMicro(r.int())) // not timeOf: 1970 is a time like any other
	case message.KindString:
		return message.String(r.string())
	case message.KindBytes:
		return message.Bytes(r.bytes())
	case message.KindDecimal:
		return message.Decimal(r.string())
	}
	r.fail(fmt.Errorf("%w: value of unknown kind %d", errTruncated, kind))
	return message.Null()
}

// skipValue moves past a value without making it.
func (r *reader) skipValue() {
	switch kind := message.Kind(r.byte()); kind {
	case message.KindNull, kindLarge:
	case message.KindBool:
		r.take(1)
	case message.KindInt, message.KindUint, message.KindTime:
		r.uint()
	case message.KindFloat:
		r.take(8)
	case message.KindString, message.KindBytes, message.KindDecimal:
		r.bytes()
	default:
		r.fail(fmt.Errorf("%w: value of unknown kind %d", errTruncated, kind))
	}
}
