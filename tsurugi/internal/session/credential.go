package session

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// maxName is how long the official clients let a user's name and a password be: more does not fit into what the key can
// encrypt.
const maxName = 60

// validity is how long what was encrypted is good for: whoever reads it on the line can use it no longer than that.
const validity = 5 * time.Minute

// seal encrypts a user's name and password with the server's public key, in PEM.
func seal(key, user, password string) (string, error) {
	block, _ := pem.Decode([]byte(key))
	if block == nil {
		return "", errors.New("tsurugi: the server's key is no PEM")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("tsurugi: the server's key: %w", err)
	}
	public, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return "", fmt.Errorf("tsurugi: the server's key is a %T, not one of RSA", parsed)
	}
	text, err := json.Marshal(struct {
		Version  int    `json:"format_version"`
		User     string `json:"user"`
		Password string `json:"password"`
		Expires  string `json:"expiration_date"`
	}{1, user, password, time.Now().Add(validity).UTC().Format("2006-01-02T15:04:05.000000Z")})
	if err != nil {
		return "", fmt.Errorf("tsurugi: the credentials: %w", err)
	}
	sealed, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, public, text, nil)
	if err != nil {
		return "", fmt.Errorf("tsurugi: the credentials cannot be encrypted: %w", err)
	}
	return base64.RawStdEncoding.EncodeToString(sealed), nil
}
