package mysql

import (
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/access"
)

// Config holds the settings of the door. The zero value listens on DefaultListen.
type Config struct {
	Off            bool   `yaml:"off"`
	Listen         string `yaml:"listen"` // address and port; "": 127.0.0.1:3306
	Socket         string `yaml:"socket"` // path of a Unix socket besides; "": /run/mysqld/mysqld.sock if it can be made; "none": none
	TLS            TLS    `yaml:"tls"`
	MaxConnections int    `yaml:"max_connections"` // further ones are refused; 0: 10,000
}

// TLS names the files of a certificate.
type TLS struct {
	Cert string `yaml:"cert" file:"read"` // PEM, with the chain
	Key  string `yaml:"key" file:"read"`  // PEM
}

// On tells whether TLS is wanted.
func (t TLS) On() bool { return t.Cert != "" || t.Key != "" }

// open reads the certificate; nil without one.
func (t TLS) open() (*tls.Config, error) {
	if !t.On() {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("%w: tls: %w", ErrConfig, err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}, nil
}

// Where the door listens unless told otherwise.
const (
	DefaultListen = "127.0.0.1:3306"
	DefaultSocket = "/run/mysqld/mysqld.sock" // where clients look that are given the host "localhost"
	NoSocket      = "none"
)

// ErrConfig is what every complaint about a Config is.
var ErrConfig = errors.New("mysql door: settings are not valid")

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = DefaultListen
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 10_000
	}
	return c
}

// Check says what is wrong with the settings. The error is ErrConfig, or access.ErrExposed for a door that would be open to strangers.
func (c Config) Check(hasUsers bool) error {
	if c.Off {
		return nil
	}
	if err := access.CheckDoor(ErrConfig, c.withDefaults().Listen, DefaultListen, c.TLS.Cert, c.TLS.Key, hasUsers); err != nil {
		return err
	}
	if c.MaxConnections < 0 {
		return fmt.Errorf("%w: max_connections cannot be negative", ErrConfig)
	}
	return nil
}
