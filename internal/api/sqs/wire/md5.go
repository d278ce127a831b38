package wire

import (
	"crypto/md5" // the protocol has it; nothing is kept secret or safe by it
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strings"
)

// MD5OfBody is the MD5 of a message's body in hexadecimal digits.
func MD5OfBody(body []byte) string {
	sum := md5.Sum(body)
	return hexDigits(sum[:])
}

// MD5OfAttributes is the MD5 of message attributes, or of system attributes, as SQS computes it: ordered by name, of
// each the name, the data type, a byte for the kind of its value, and the value; name, type and value with their length
// in four bytes, big endian, before them. It returns "" when there are no attributes. The slice is not changed.
func MD5OfAttributes(attributes []Attribute) string {
	if len(attributes) == 0 {
		return ""
	}
	if !slices.IsSortedFunc(attributes, byName) {
		attributes = slices.Clone(attributes)
		slices.SortStableFunc(attributes, byName)
	}
	sum := md5.New()
	for i := range attributes {
		a := &attributes[i]
		hashString(sum, a.Name)
		hashString(sum, a.DataType)
		if a.Binary != nil {
			_, _ = sum.Write([]byte{2})
			hashLength(sum, len(a.Binary))
			_, _ = sum.Write(a.Binary)
		} else {
			_, _ = sum.Write([]byte{1})
			hashString(sum, a.Text)
		}
	}
	var digest [md5.Size]byte
	return hexDigits(sum.Sum(digest[:0]))
}

func byName(a, b Attribute) int { return strings.Compare(a.Name, b.Name) }

func hashString(h hash.Hash, s string) {
	hashLength(h, len(s))
	_, _ = h.Write([]byte(s)) // a hash takes everything
}

func hashLength(h hash.Hash, n int) {
	var raw [4]byte
	binary.BigEndian.PutUint32(raw[:], uint32(n)) // bounded by the size of a request
	_, _ = h.Write(raw[:])
}

func hexDigits(sum []byte) string {
	var text [2 * md5.Size]byte
	return string(hex.AppendEncode(text[:0], sum))
}
