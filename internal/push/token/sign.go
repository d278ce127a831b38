package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
)

// sign makes a JWT by ES256. The signature is a deterministic one (RFC 6979): whoever signs the same claims with the
// same key makes the same token, be it another sink, or this program after a restart.
func sign(key *ecdsa.PrivateKey, header, claims any) (string, error) {
	h, err := json.Marshal(header)
	if err != nil {
		return "", fmt.Errorf("header of a token: %w", err)
	}
	c, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("claims of a token: %w", err)
	}
	b64 := base64.RawURLEncoding
	text := b64.AppendEncode(nil, h)
	text = append(text, '.')
	text = b64.AppendEncode(text, c)
	digest := sha256.Sum256(text)
	der, err := key.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	var point struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &point); err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	var raw [64]byte
	point.R.FillBytes(raw[:32])
	point.S.FillBytes(raw[32:])
	text = append(text, '.')
	return string(b64.AppendEncode(text, raw[:])), nil
}
