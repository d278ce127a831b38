package queue

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Token names a claim: the queue, the message, the number of the claim, and the start of the store that numbered it. A
// token of an ended claim never fits another one, so a late reader can not settle somebody else's claim. (Attempts
// would not do: a hand-out that does not count is followed by one with the same attempt.)
type Token struct {
	Queue    uint32
	Sequence uint64
	Serial   uint32
	Epoch    uint32
}

// TokenBytes is how many bytes a token takes in texts that protocols have of their own.
const TokenBytes = 20

// Put writes the token into TokenBytes at the beginning of b, which is that long.
func (t Token) Put(b []byte) {
	_ = b[TokenBytes-1]
	binary.BigEndian.PutUint32(b[0:], t.Queue)
	binary.BigEndian.PutUint64(b[4:], t.Sequence)
	binary.BigEndian.PutUint32(b[12:], t.Serial)
	binary.BigEndian.PutUint32(b[16:], t.Epoch)
}

// TokenOf reads what Put wrote.
func TokenOf(b []byte) Token {
	_ = b[TokenBytes-1]
	return Token{
		Queue:    binary.BigEndian.Uint32(b[0:]),
		Sequence: binary.BigEndian.Uint64(b[4:]),
		Serial:   binary.BigEndian.Uint32(b[12:]),
		Epoch:    binary.BigEndian.Uint32(b[16:]),
	}
}

// String is an opaque text for protocols, 40 characters of hexadecimal.
func (t Token) String() string {
	var b [TokenBytes]byte
	t.Put(b[:])
	return hex.EncodeToString(b[:])
}

// ParseToken reads what String wrote.
func ParseToken(s string) (Token, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != TokenBytes {
		return Token{}, fmt.Errorf("%w: %.60q", ErrBadToken, s)
	}
	return TokenOf(b), nil
}
