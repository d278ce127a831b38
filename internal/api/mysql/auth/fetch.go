package auth

import (
	"bytes"
	"context"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

// keyRequest is a client's packet that asks for the RSA key.
const keyRequest = 2

// fetch has the client send its password: caching_sha2_password's long form. A client may ask for the key right away,
// also where it would not need it. A password that nobody can read, because it was sent under another key, comes back
// empty.
func (s *Server) fetch(c *vmysql.Conn, salt, answer []byte) (password []byte, err error) {
	asks := func() bool { return len(answer) == 1 && answer[0] == keyRequest }
	if !asks() {
		if err := sendMoreData(c, []byte{vmysql.CachingSha2FullAuth}); err != nil {
			return nil, err
		}
		if answer, err = read(c); err != nil {
			return nil, err
		}
	}
	if !asks() && secure(c) {
		return withoutZero(answer), nil
	}
	key, err := s.key()
	if err != nil {
		return nil, fmt.Errorf("make a key for passwords: %w", err)
	}
	if asks() {
		if err := sendKey(c, &key.PublicKey); err != nil {
			return nil, err
		}
		if answer, err = read(c); err != nil {
			return nil, err
		}
	}
	return decrypt(key, salt, answer), nil
}

// read reads the client's next packet. What is wrong with it is told to nobody: it may hold a part of a password.
func read(c *vmysql.Conn) ([]byte, error) {
	packet, err := c.ReadPacket(context.Background()) // the connection's own deadline bounds it
	if err != nil {
		return nil, errBroken()
	}
	return packet, nil
}

func sendKey(c *vmysql.Conn, key *rsa.PublicKey) error {
	text, err := keyText(key)
	if err != nil {
		return err
	}
	return sendMoreData(c, text)
}

// keyText is a key as clients read it.
func keyText(key *rsa.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("write down the key for passwords: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// decrypt opens a password that was mixed with the salt and encrypted.
func decrypt(key *rsa.PrivateKey, salt, sealed []byte) (password []byte) {
	mixed, err := rsa.DecryptOAEP(sha1.New(), nil, key, sealed, nil)
	if err != nil {
		return nil
	}
	for i := range mixed {
		mixed[i] ^= salt[i%len(salt)]
	}
	return withoutZero(mixed)
}

// withoutZero takes away the zero that ends a password on the wire, and what is behind it, as clients that count in C
// do.
func withoutZero(b []byte) []byte {
	text, _, _ := bytes.Cut(b, []byte{0})
	return text
}
