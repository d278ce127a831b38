package push

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Trust makes TLS settings that trust the certificates of a file, in PEM; "": those of the system. The settings are the
// caller's. Its errors name the file.
func Trust(caFile string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile == "" {
		return c, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", caFile)
	}
	return c, nil
}
