package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// What PostgreSQL counts times from.
const (
	epochDays    = 10_957 // from 1970-01-01 to 2000-01-01
	epochSeconds = epochDays * 86_400
)

// isNull is the length of a value that is null.
const isNull = math.MaxUint32

// appendValue appends a value in binary, with its length before it, as COPY, arrays and parameters have it.
func appendValue(dst []byte, f form, v rows.Value) ([]byte, error) {
	if v.IsNull() {
		return binary.BigEndian.AppendUint32(dst, isNull), nil
	}
	put32, put64 := binary.BigEndian.AppendUint32, binary.BigEndian.AppendUint64
	switch f {
	case formBool:
		dst = put32(dst, 1)
		if v.Bool() {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case formInt2:
		return binary.BigEndian.AppendUint16(put32(dst, 2), uint16(v.Int())), nil
	case formInt4:
		return put32(put32(dst, 4), uint32(v.Int())), nil
	case formInt8:
		return put64(put32(dst, 8), uint64(v.Int())), nil
	case formOID:
		return put32(put32(dst, 4), uint32(v.Uint())), nil
	case formFloat4:
		narrow := float32(v.Float())
		if math.IsInf(float64(narrow), 0) && !math.IsInf(v.Float(), 0) {
			return dst, fmt.Errorf("%g is out of the range of type real", v.Float())
		}
		return put32(put32(dst, 4), math.Float32bits(narrow)), nil
	case formFloat8:
		return put64(put32(dst, 8), math.Float64bits(v.Float())), nil
	case formDate:
		days := v.Int() - epochDays
		if days < math.MinInt32 || days > math.MaxInt32 {
			return dst, errors.New("the date is out of the range of type date")
		}
		return put32(put32(dst, 4), uint32(days)), nil
	case formTime:
		return put64(put32(dst, 8), uint64(v.Int()/1000)), nil
	case formTimeTZ: // with a zone, which is UTC
		return put32(put64(put32(dst, 12), uint64(v.Int()/1000)), 0), nil
	case formTimestamp:
		seconds, nanos := v.Moment()
		if seconds < math.MinInt64/1_000_000+epochSeconds || seconds > math.MaxInt64/1_000_000 {
			return dst, errors.New("the time is out of the range of a timestamp")
		}
		return put64(put32(dst, 8), uint64((seconds-epochSeconds)*1_000_000+int64(nanos)/1000)), nil
	case formNumeric:
		return appendNumeric(dst, v.Text())
	case formJSONB:
		dst = append(put32(dst, uint32(len(v.Text()))+1), 1) // the format's version
		return append(dst, v.Text()...), nil
	}
	// formText, formRaw, formBytes, formUUID
	return append(put32(dst, uint32(len(v.Text()))), v.Text()...), nil
}

// errNumber: package rows gives plain decimal numbers only.
var errNumber = errors.New("it is no plain decimal number")

// The most that type numeric holds, and before it the most that our fields can say.
const (
	numericDigits = 131_072
	numericScale  = 16_383
	negative      = 0x4000
)

// appendNumeric appends the text of a decimal number as digits of base 10,000, with the length before them.
func appendNumeric(dst []byte, text string) ([]byte, error) {
	sign := uint16(0)
	switch {
	case text == "":
		return dst, errNumber
	case text[0] == '-':
		sign, text = negative, text[1:]
	case text[0] == '+':
		text = text[1:]
	}
	whole, part := text, ""
	for i := range len(text) {
		if c := text[i]; c == '.' && len(whole) == len(text) {
			whole, part = text[:i], text[i+1:]
		} else if c < '0' || c > '9' {
			return dst, errNumber
		}
	}
	if len(whole)+len(part) == 0 {
		return dst, errNumber
	}
	for len(whole) > 0 && whole[0] == '0' {
		whole = whole[1:]
	}
	if len(whole) > numericDigits || len(part) > numericScale {
		return dst, errors.New("the number is out of the range of type numeric")
	}
	start := len(dst)
	dst = append(dst, make([]byte, 12)...) // length, digits, weight, sign, scale
	weight := (len(whole)+3)/4 - 1
	digits, zeros := 0, 0 // zeros are at the end, and are not written
	put := func(group int) {
		if group == 0 {
			if digits == 0 && zeros == 0 { // at the beginning
				weight--
				return
			}
			zeros++
			return
		}
		for ; zeros > 0; zeros-- {
			dst = append(dst, 0, 0)
			digits++
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(group))
		digits++
	}
	group := 0
	for i := range len(whole) {
		group = group*10 + int(whole[i]-'0')
		if (len(whole)-i-1)%4 == 0 {
			put(group)
			group = 0
		}
	}
	for i := 0; i < (len(part)+3)/4*4; i++ {
		group *= 10
		if i < len(part) {
			group += int(part[i] - '0')
		}
		if i%4 == 3 {
			put(group)
			group = 0
		}
	}
	if digits == 0 {
		weight, sign = 0, 0
	}
	head := dst[start:]
	binary.BigEndian.PutUint32(head, uint32(len(head)-4))
	binary.BigEndian.PutUint16(head[4:], uint16(digits))
	binary.BigEndian.PutUint16(head[6:], uint16(int16(weight)))
	binary.BigEndian.PutUint16(head[8:], sign)
	binary.BigEndian.PutUint16(head[10:], uint16(len(part)))
	return dst, nil
}
