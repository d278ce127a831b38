package schema

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/hamba/avro/v2"
)

func (t *avroType) validateBinary(data []byte) *MessageError {
	r := &avroReader{data: data}
	if err := r.check(t, 0); err != nil {
		return err
	}
	if r.pos < len(data) {
		return wrong("%d bytes are left behind the value, which ends at byte %d", len(data)-r.pos, r.pos)
	}
	return nil
}

// avroReader reads Avro's binary form without keeping anything of it.
type avroReader struct {
	data []byte
	pos  int
}

func (r *avroReader) check(t *avroType, nested int) *MessageError {
	if nested > MaxNesting {
		return wrong("it is nested deeper than %d levels", MaxNesting)
	}
	if t.empty { // looking into it could take for ever: a record of records of records of null has many
		return nil
	}
	switch t.kind {
	case avro.Boolean:
		if r.pos == len(r.data) {
			return r.short()
		}
		if b := r.data[r.pos]; b > 1 {
			return wrong("the byte %#02x at %d is no boolean", b, r.pos)
		}
		r.pos++
		return nil
	case avro.Int:
		start := r.pos
		n, err := r.long()
		if err == nil && (n < math.MinInt32 || n > math.MaxInt32) {
			return wrong("the number %d at byte %d is too large for an int", n, start)
		}
		return err
	case avro.Long:
		_, err := r.long()
		return err
	case avro.Float:
		return r.skip(4)
	case avro.Double:
		return r.skip(8)
	case avro.Bytes:
		_, err := r.bytes()
		return err
	case avro.String:
		start := r.pos
		b, err := r.bytes()
		if err == nil && !utf8.Valid(b) {
			return wrong("the string at byte %d is not valid UTF-8", start)
		}
		return err
	case avro.Fixed:
		return r.skip(int64(t.size))
	case avro.Enum:
		_, err := r.index(len(t.symbols), "symbol of the enum "+t.name)
		return err
	case avro.Union:
		i, err := r.index(len(t.options), "branch of the union")
		if err != nil {
			return err
		}
		return r.check(t.options[i], nested+1)
	case avro.Array, avro.Map:
		return r.blocks(t, nested)
	default:
		for _, f := range t.fields {
			if err := r.check(f.of, nested+1); err != nil {
				return err.in(f.name)
			}
		}
		return nil
	}
}

func (r *avroReader) short() *MessageError {
	return wrong("it ends at byte %d, in the middle of a value", len(r.data))
}

// long reads a variable-length integer.
func (r *avroReader) long() (int64, *MessageError) {
	n, size := binary.Varint(r.data[r.pos:])
	if size == 0 {
		return 0, r.short()
	}
	if size < 0 {
		return 0, wrong("the number at byte %d has more than 64 bits", r.pos)
	}
	r.pos += size
	return n, nil
}

// index reads the number of one of so many things.
func (r *avroReader) index(count int, of string) (int64, *MessageError) {
	start := r.pos
	n, err := r.long()
	if err == nil && (n < 0 || n >= int64(count)) {
		return 0, wrong("%d at byte %d is no %s", n, start, of)
	}
	return n, err
}

func (r *avroReader) skip(n int64) *MessageError {
	if n > int64(len(r.data)-r.pos) {
		return r.short()
	}
	r.pos += int(n)
	return nil
}

// bytes reads a length and as many bytes.
func (r *avroReader) bytes() ([]byte, *MessageError) {
	start := r.pos
	n, err := r.long()
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, wrong("the length %d at byte %d is negative", n, start)
	}
	from := r.pos
	if err := r.skip(n); err != nil {
		return nil, err
	}
	return r.data[from:r.pos], nil
}

// blocks reads the items of an array or a map: blocks of a count and as many items, until a count is 0. A negative
// count has the block's size behind it.
func (r *avroReader) blocks(t *avroType, nested int) *MessageError {
	var number int64
	for {
		start := r.pos
		count, err := r.long()
		if err != nil {
			return err
		}
		if count == 0 {
			return nil
		}
		end := int64(-1)
		if count < 0 {
			size, err := r.long()
			if err != nil {
				return err
			}
			if size < 0 || size > int64(len(r.data)-r.pos) {
				return wrong("the size %d of the block at byte %d does not fit the message", size, start)
			}
			end = int64(r.pos) + size
			if count = -count; count < 0 {
				return wrong("the block at byte %d has too many items", start)
			}
		}
		if err := r.items(t, count, &number, nested); err != nil {
			return err
		}
		if end >= 0 && end != int64(r.pos) {
			return wrong("the block at byte %d ends at byte %d and not at %d, as its size says", start, r.pos, end)
		}
	}
}

func (r *avroReader) items(t *avroType, count int64, number *int64, nested int) *MessageError {
	if t.kind == avro.Array && t.items.empty {
		return nil // there are as many as the count says
	}
	for range count {
		before := r.pos
		name := ""
		if t.kind == avro.Map {
			b, err := r.bytes()
			if err == nil && !utf8.Valid(b) {
				err = wrong("the name at byte %d is not valid UTF-8", before)
			}
			if err != nil {
				return err.at(*number)
			}
			name = string(b)
		}
		if err := r.check(t.items, nested+1); err != nil {
			if t.kind == avro.Map {
				return err.in(shorten(name))
			}
			return err.at(*number)
		}
		*number++
	}
	return nil
}
