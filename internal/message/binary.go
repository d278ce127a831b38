package message

import (
	"encoding/binary"
	"errors"
	"math"
)

var errBinary = errors.New("not a value as MarshalBinary writes it")

// MarshalBinary implements encoding.BinaryMarshaler: the kind, and behind it what the value is made of. It is for what
// passes between processes of one version or neighbouring ones, not for what is kept.
func (v Value) MarshalBinary() ([]byte, error) {
	b := append(make([]byte, 0, 1+binary.MaxVarintLen64+len(v.str)), byte(v.kind))
	switch v.kind {
	case KindNull:
		return b, nil
	case KindString, KindBytes, KindDecimal:
		return append(b, v.str...), nil
	default:
		return binary.AppendUvarint(b, v.num), nil
	}
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. What is no value is an error.
func (v *Value) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || int(b[0]) >= len(kindNames) {
		return errBinary
	}
	kind, rest := Kind(b[0]), b[1:]
	switch kind {
	case KindString, KindBytes, KindDecimal:
		*v = Value{kind: kind, str: string(rest)}
		return nil
	case KindNull:
		*v = Value{}
		if len(rest) > 0 {
			return errBinary
		}
		return nil
	}
	num, n := binary.Uvarint(rest)
	if n != len(rest) || kind == KindBool && num > 1 || kind == KindUint && num <= math.MaxInt64 {
		return errBinary
	}
	*v = Value{kind: kind, num: num}
	return nil
}
