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
	Off            bool       `yaml:"off"`
	Listen         string     `yaml:"listen"` // address and port; "": 127.0.0.1:8085
	TLS            access.TLS `yaml:"tls"`
	MaxConnections int        `yaml:"max_connections"` // more wait for one to end; 0: 10,000
}

// tls reads the certificate; nil without one. REST is served over HTTP/1.1 alone, gRPC over HTTP/2 alone: who can speak
// the first comes for REST.
func (d *Server) tls() (*tls.Config, error) {
	rest, err := d.config.TLS.Open(ErrConfig, d.report, protoREST)
	if rest == nil || err != nil {
		return nil, err
	}
	grpc, config := rest.Clone(), rest.Clone()
	grpc.NextProtos = []string{protoGRPC}
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

// Check says what is wrong with the settings. The error is ErrConfig, or access.ErrExposed for a door that would be
// open to strangers.
func (c Config) Check(hasUsers bool) error {
	if c.Off {
		return nil
	}
	if err := access.CheckDoor(ErrConfig, c.withDefaults().Listen, DefaultListen, c.TLS, hasUsers); err != nil {
		return err
	}
	if c.MaxConnections < 0 {
		return fmt.Errorf("%w: max_connections cannot be negative", ErrConfig)
	}
	return nil
}
