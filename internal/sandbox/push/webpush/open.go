package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// The header of a body: a salt, the size of records, and the length of the key that follows.
const (
	saltBytes   = 16
	headerBytes = saltBytes + 4 + 1
	tagBytes    = 16
	keyBytes    = 65 // an uncompressed point of P-256
)

// Open decrypts a body that was encrypted for a subscription (RFC 8291: one record of aes128gcm).
func Open(private *ecdh.PrivateKey, auth, body []byte) ([]byte, error) {
	if len(body) < headerBytes {
		return nil, errors.New("the body is shorter than its header")
	}
	salt, size, n := body[:saltBytes], binary.BigEndian.Uint32(body[saltBytes:]), int(body[headerBytes-1])
	if n != keyBytes || len(body) < headerBytes+n+tagBytes+1 {
		return nil, errors.New("the body holds no key of the sender, or nothing after it")
	}
	record := body[headerBytes+n:]
	if size < tagBytes+2 || len(record) > int(size) {
		return nil, fmt.Errorf("a record of %d bytes where %d were announced", len(record), size)
	}
	sender, err := ecdh.P256().NewPublicKey(body[headerBytes : headerBytes+n])
	if err != nil {
		return nil, fmt.Errorf("the sender's key: %w", err)
	}
	secret, err := private.ECDH(sender)
	if err != nil {
		return nil, fmt.Errorf("the sender's key: %w", err)
	}
	info := "WebPush: info\x00" + string(private.PublicKey().Bytes()) + string(sender.Bytes())
	key, nonce, err := derive(secret, auth, salt, info)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	text, err := gcm.Open(nil, nonce, record, nil)
	if err != nil {
		return nil, errors.New("the body was not encrypted for this subscription")
	}
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case 0: // padding
		case 2: // the end of the last record
			return text[:i], nil
		default:
			return nil, errors.New("the padding is wrong")
		}
	}
	return nil, errors.New("the padding never ends")
}

func derive(secret, auth, salt []byte, info string) (key, nonce []byte, err error) {
	ikm, err := hkdf.Key(sha256.New, secret, auth, info, 32)
	if err != nil {
		return nil, nil, err
	}
	prk, err := hkdf.Extract(sha256.New, ikm, salt)
	if err != nil {
		return nil, nil, err
	}
	if key, err = hkdf.Expand(sha256.New, prk, "Content-Encoding: aes128gcm\x00", 16); err != nil {
		return nil, nil, err
	}
	nonce, err = hkdf.Expand(sha256.New, prk, "Content-Encoding: nonce\x00", 12)
	return key, nonce, err
}
