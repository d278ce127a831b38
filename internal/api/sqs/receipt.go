package sqs

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// receipt is what a receipt handle says: which claim it is of, and enough of the message to know it again when the
// claim is over.
type receipt struct {
	token    queue.Token
	received time.Time // to the millisecond
	attempt  uint32
	id       uint64 // the last half of the message's id
}

// The parts of a handle, in bytes.
const (
	receiptBytes = 20 + 8 + 4 + 8
	sealBytes    = 8 // 64 bits cannot be guessed over a network
	handleBytes  = receiptBytes + sealBytes
	keyBytes     = 32
)

// receiptKey is the key under which the door's secret is kept; the receipts of every process of a store are good in the
// next.
const receiptKey = "receipts"

// receipts makes and reads receipt handles. A handle is sealed for one queue: it names nothing at another, and none can
// be invented.
type receipts struct{ key [keyBytes]byte }

func newReceipts() (r receipts) {
	_, _ = rand.Read(r.key[:]) // never fails
	return r
}

// handle writes a receipt of a queue.
func (r *receipts) handle(n queue.Name, rc *receipt) string {
	var b [handleBytes]byte
	rc.token.Put(b[:])
	binary.BigEndian.PutUint64(b[20:], uint64(rc.received.UnixMilli()))
	binary.BigEndian.PutUint32(b[28:], rc.attempt)
	binary.BigEndian.PutUint64(b[32:], rc.id)
	seal := r.seal(n, b[:receiptBytes])
	copy(b[receiptBytes:], seal[:])
	var text [handleBytes / 3 * 4]byte
	base64.URLEncoding.Encode(text[:], b[:])
	return string(text[:])
}

// read reads a handle; ok is false for one that was not given for this queue.
func (r *receipts) read(n queue.Name, handle string) (rc receipt, ok bool) {
	var b [handleBytes]byte
	if len(handle) != handleBytes/3*4 {
		return rc, false
	}
	if _, err := base64.URLEncoding.Strict().Decode(b[:], []byte(handle)); err != nil {
		return rc, false
	}
	seal := r.seal(n, b[:receiptBytes])
	if subtle.ConstantTimeCompare(seal[:], b[receiptBytes:]) != 1 {
		return rc, false
	}
	rc.token = queue.TokenOf(b[:])
	rc.received = time.UnixMilli(int64(binary.BigEndian.Uint64(b[20:])))
	rc.attempt = binary.BigEndian.Uint32(b[28:])
	rc.id = binary.BigEndian.Uint64(b[32:])
	return rc, true
}

// seal is a part of a hash over the secret, the queue and the receipt. What is hashed has one form only, and the hash
// is cut: knowing one seal helps nobody to another.
func (r *receipts) seal(n queue.Name, receipt []byte) (seal [sealBytes]byte) {
	var room [keyBytes + receiptBytes + 2*queue.MaxNameBytes + 1]byte
	b := append(room[:0], r.key[:]...)
	b = append(b, receipt...)
	b = append(b, n.Namespace...)
	b = append(b, '/')
	b = append(b, n.Name...)
	sum := sha256.Sum256(b)
	return [sealBytes]byte(sum[:])
}

// idTail is the last half of a message's id: the random part of it.
func idTail(id message.ID) uint64 { return binary.BigEndian.Uint64(id[8:]) }

// receiptOf is the receipt of a claim.
func receiptOf(c *queue.Claim, now time.Time) receipt {
	return receipt{token: c.Token, received: now, attempt: uint32(c.Attempt), id: idTail(c.Message.ID)}
}
