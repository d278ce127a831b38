package pubsub

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// ackID is what an ack id says: a claim, the stream that it went to (0: none) and the attempt.
type ackID struct {
	token   queue.Token
	stream  uint32
	attempt uint16
}

const (
	ackIDBytes = 26
	ackIDChars = 35
)

var errBadAckID = errors.New("not an ack id")

func newAckID(c *queue.Claim, stream uint32) ackID {
	return ackID{c.Token, stream, uint16(min(c.Attempt, math.MaxUint16))}
}

// text is the id as the user gets it.
func (a ackID) text(user *access.User) string {
	var raw [ackIDBytes]byte
	a.token.Put(raw[:])
	binary.BigEndian.PutUint32(raw[20:], a.stream)
	binary.BigEndian.PutUint16(raw[24:], a.attempt)
	var out [ackIDChars]byte
	base64.RawURLEncoding.Encode(out[:], raw[:])
	return user.Seal(string(out[:]))
}

// parseAckID reads what text wrote for the same user.
func parseAckID(s string, user *access.User) (a ackID, err error) {
	s, ok := user.Unseal(s)
	if !ok || len(s) != ackIDChars {
		return a, errBadAckID
	}
	var raw [ackIDBytes]byte
	var in [ackIDChars]byte
	copy(in[:], s)
	if _, err := base64.RawURLEncoding.Strict().Decode(raw[:], in[:]); err != nil {
		return a, errBadAckID
	}
	return ackID{
		token:  queue.TokenOf(raw[:]),
		stream: binary.BigEndian.Uint32(raw[20:]), attempt: binary.BigEndian.Uint16(raw[24:]),
	}, nil
}
