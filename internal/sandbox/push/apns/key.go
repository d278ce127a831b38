package apns

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

// Key is an authentication token signing key of a team, as Apple gives them out.
type Key struct {
	Team, ID string
	Public   *ecdsa.PublicKey
	PEM      []byte // the private key, as it stands in a .p8 file
}

// NewKey makes one.
func NewKey(team, id string) (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key %s of team %s: %w", id, team, err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("key %s of team %s: %w", id, team, err)
	}
	return &Key{team, id, &private.PublicKey, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})}, nil
}

// ReadKey takes up one that was made before, by what its PEM was.
func ReadKey(team, id string, text []byte) (*Key, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("key %s of team %s: no PEM", id, team)
	}
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("key %s of team %s: %w", id, team, err)
	}
	ec, ok := private.(*ecdsa.PrivateKey)
	if !ok || ec.Curve != elliptic.P256() {
		return nil, fmt.Errorf("key %s of team %s: is no key for ES256", id, team)
	}
	return &Key{team, id, &ec.PublicKey, text}, nil
}
