// Package secure is TLS with a database: the settings that sinks into databases have for it, under the names that other
// sinks have, and what is made of them.
//
//	type Config struct {
//		…
//		TLS secure.TLS `yaml:"tls"`
//	}
package secure

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/hikyaku/hikyaku/internal/component"
)

// TLS is how the server is known and how we make ourselves known. Any of the settings asks for TLS with a certificate
// that names the host, whatever the address says.
type TLS struct {
	CAFile     string `yaml:"ca_file" file:"read" doc:"Certificates to trust instead of the system's."`
	CertFile   string `yaml:"cert_file" file:"read" doc:"Our certificate, with key_file."`
	KeyFile    string `yaml:"key_file" file:"read" doc:"Its key."`
	ServerName string `yaml:"server_name" doc:"The name to expect in the server's certificate, where it is not the host's."`
}

// Check looks at the settings and reads no file. Errors are *component.SettingError.
func (t TLS) Check() error {
	if (t.CertFile == "") != (t.KeyFile == "") {
		return component.Setting("tls", errors.New("cert_file and key_file belong together"))
	}
	return nil
}

// IsSet tells whether TLS is asked for here.
func (t TLS) IsSet() bool { return t != TLS{} }

// Load reads the files. The name of the host is expected where server_name is not set. Errors are
// *component.SettingError.
func (t TLS) Load(host string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if c.ServerName == "" {
		c.ServerName = host
	}
	if t.CAFile != "" {
		text, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, component.Setting("tls.ca_file", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, component.Setting("tls.ca_file", fmt.Errorf("%s holds no certificate", t.CAFile))
		}
	}
	if t.CertFile != "" {
		ours, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, component.Setting("tls.cert_file", err)
		}
		c.Certificates = []tls.Certificate{ours}
	}
	return c, nil
}
