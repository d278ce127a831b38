package pubsub

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/access"
)

// Config holds the settings of the door. The zero value listens on DefaultListen.
type Config struct {
	Off            bool   `yaml:"off"`
	Listen         string `yaml:"listen"` // address and port; "": 127.0.0.1:8085
	TLS            TLS    `yaml:"tls"`
	MaxConnections int    `yaml:"max_connections"` // more wait for one to end; 0: 10,000
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
	base := func(protocol string) *tls.Config {
		return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}, NextProtos: []string{protocol}}
	}
	grpc, rest := base(protoGRPC), base(protoREST)
	config := base(protoREST)
	// REST is served over HTTP/1.1 alone, gRPC over HTTP/2 alone: who can speak the first comes for REST.
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if slices.Contains(hello.SupportedProtos, protoGRPC) && !slices.Contains(hello.SupportedProtos, protoREST) {
			return grpc, nil
		}
		return rest, nil
	}
	return config, nil
}

// The names of both protocols in ALPN.
const (
	protoGRPC = "h2"
	protoREST = "http/1.1"
)

// DefaultListen is where the door listens unless told otherwise: where Google's emulator does.
const DefaultListen = "127.0.0.1:8085"

// ErrConfig is what every complaint about a Config is.
var ErrConfig = errors.New("pubsub door: settings are not valid")

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
