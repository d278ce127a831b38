package token

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// ParseP8 reads a private key for ES256 as Apple gives it out: PKCS #8 in PEM. A key in SEC 1's form (EC PRIVATE KEY)
// is taken too.
func ParseP8(text []byte) (*ecdsa.PrivateKey, error) {
	block, err := privateBlock(text)
	if err != nil {
		return nil, err
	}
	if block.Type == "EC PRIVATE KEY" {
		key, err := x509.ParseECPrivateKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("its EC private key cannot be read: %w", err)
		}
		return p256(key)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("its private key cannot be read: %w", err)
	}
	return p256(key)
}

func p256(key any) (*ecdsa.PrivateKey, error) {
	ec, ok := key.(*ecdsa.PrivateKey)
	switch {
	case !ok:
		return nil, fmt.Errorf("holds a key of another kind (%T): an elliptic one is wanted", key)
	case ec.Curve != elliptic.P256():
		return nil, fmt.Errorf("holds a key on the curve %s: P-256 is wanted", ec.Curve.Params().Name)
	}
	return ec, nil
}

// privateBlock finds the private key among PEM's blocks.
func privateBlock(text []byte) (*pem.Block, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("is empty")
	}
	for rest := text; ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil:
			return nil, errors.New(`holds no private key in PEM ("-----BEGIN PRIVATE KEY-----")`)
		case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
			return nil, errors.New("holds a key under a passphrase: take the passphrase away, and guard the file " +
				"instead")
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return block, nil
		}
	}
}

// ParseVAPID reads the key of an application server: PEM as ParseP8 takes it, or the 32 bytes of the private key in
// base64 (URL or standard alphabet), as most Web Push tools write it.
func ParseVAPID(text []byte) (*ecdsa.PrivateKey, error) {
	trimmed := strings.TrimSpace(string(text))
	if strings.HasPrefix(trimmed, "-----BEGIN") || trimmed == "" {
		return ParseP8(text)
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(strings.NewReplacer("+", "-", "/",
		"_").Replace(trimmed), "="))
	if err != nil {
		return nil, errors.New("is neither PEM nor base64")
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil {
		return nil, fmt.Errorf("its %d bytes are no private key of P-256: 32 bytes are wanted", len(raw))
	}
	return key, nil
}

// publicText is the public key as VAPID and browsers write it: the uncompressed point in base64url.
func publicText(key *ecdsa.PrivateKey) (string, error) {
	var public *ecdh.PublicKey
	public, err := key.PublicKey.ECDH()
	if err != nil {
		return "", fmt.Errorf("its public key is none of P-256: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(public.Bytes()), nil
}

// Account is a service account's key, as Google gives it out in JSON.
type Account struct {
	Type    string `json:"type"`
	Project string `json:"project_id"`
	Email   string `json:"client_email"`
	KeyID   string `json:"private_key_id"`
	Key     string `json:"private_key"`
	URL     string `json:"token_uri"`
}

const googleTokenURL = "https://oauth2.googleapis.com/token"

// ParseAccount reads the JSON of a service account and checks its key.
func ParseAccount(text []byte) (*Account, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("is empty")
	}
	var a Account
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, errors.New("is no JSON of a service account") // err could show a part of the key
	}
	switch {
	case a.Type != "" && a.Type != "service_account":
		return nil, fmt.Errorf("is for %q: the key of a service account is wanted", a.Type)
	case a.Email == "":
		return nil, errors.New("has no client_email")
	case a.Key == "":
		return nil, errors.New("has no private_key")
	}
	if a.URL == "" {
		a.URL = googleTokenURL
	}
	if u, err := url.Parse(a.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("its token_uri is no URL")
	}
	block, err := privateBlock([]byte(a.Key))
	if err != nil {
		return nil, fmt.Errorf("its private_key %w", err)
	}
	var key any
	if block.Type == "RSA PRIVATE KEY" {
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	} else {
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("its private_key cannot be read: %w", err)
	}
	if _, ok := key.(*rsa.PrivateKey); !ok {
		return nil, fmt.Errorf("its private_key is of another kind (%T): RSA is wanted", key)
	}
	return &a, nil
}
