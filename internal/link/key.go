package link

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/argon2"
)

// What making a key costs: who guesses secrets pays it for each guess.
const (
	keyMemory, keyRounds, keyThreads = 19 << 10, 2, 1 // KiB
	keyPurpose                       = "hikyaku link 1\x00"
)

// CheckSecret is ErrSecret for a secret that is too short.
func CheckSecret(secret string) error {
	if len([]rune(secret)) < leastSecret {
		return ErrSecret
	}
	return nil
}

// identity is what all nodes of a cluster prove who they are with.
type identity struct {
	key  ed25519.PrivateKey
	cert tls.Certificate
}

// identify makes the identity of a cluster. It takes some ten milliseconds and keyMemory.
func identify(cluster, secret string) (*identity, error) {
	if err := CheckSecret(secret); err != nil {
		return nil, err
	}
	salt := sha256.Sum256([]byte(keyPurpose + cluster))
	seed := argon2.IDKey([]byte(secret), salt[:], keyRounds, keyMemory, keyThreads, ed25519.SeedSize)
	key := ed25519.NewKeyFromSeed(seed)
	// Nobody looks at anything in it but the key, so its dates say nothing.
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hikyaku"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<37, 0)}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &identity{key, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}, nil
}

// tls is how both ends speak. The handshake proves that the other end has the key of the certificate it shows, and this
// sees to it that it is the cluster's key. There are no tickets: every connection proves it anew.
func (i *identity) tls() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{i.cert},
		ClientAuth:   tls.RequireAnyClientCert,
		// No authority has signed for it: the key itself is compared.
		InsecureSkipVerify:     true,
		VerifyConnection:       i.verify,
		SessionTicketsDisabled: true,
	}
}

func (i *identity) verify(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 1 {
		if key, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey); ok && key.Equal(i.key.Public()) {
			return nil
		}
	}
	return ErrStranger
}
