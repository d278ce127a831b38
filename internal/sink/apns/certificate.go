package apns

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"os"

	"software.sslmate.com/src/go-pkcs12"
)

// certificate reads the text of CertFile: PEM, or PKCS #12 as Keychain exports it.
func certificate(text []byte, c *App) (*tls.Certificate, error) {
	if !bytes.Contains(text, []byte("-----BEGIN ")) {
		return opened(text, c.CertPassword)
	}
	if c.CertPassword != "" {
		return nil, errors.New("is PEM, which cert_password does not open: leave it out")
	}
	keyFile := c.CertKeyFile
	if keyFile == "" {
		keyFile = c.CertFile
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	both, err := tls.X509KeyPair(text, key)
	if err != nil {
		return nil, fmt.Errorf("with the key in %s: %w", keyFile, err)
	}
	return &both, nil
}

// opened reads PKCS #12: a key, its certificate, and perhaps those above.
func opened(text []byte, password string) (*tls.Certificate, error) {
	key, own, above, err := pkcs12.DecodeChain(text, password)
	switch {
	case errors.Is(err, pkcs12.ErrIncorrectPassword) && password == "":
		return nil, errors.New("has a password: set cert_password")
	case errors.Is(err, pkcs12.ErrIncorrectPassword):
		return nil, errors.New("is not opened by cert_password")
	case err != nil:
		return nil, fmt.Errorf("is neither PEM nor PKCS #12: %w", err)
	}
	c := &tls.Certificate{PrivateKey: key, Leaf: own, Certificate: [][]byte{own.Raw}}
	for _, a := range above {
		c.Certificate = append(c.Certificate, a.Raw)
	}
	return c, nil
}
