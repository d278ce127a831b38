package sqs

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
)

// Config holds the settings of the door. The zero value listens on DefaultListen.
type Config struct {
	Off            bool       `yaml:"off"`
	Listen         string     `yaml:"listen"` // address and port; "": 127.0.0.1:9324
	TLS            access.TLS `yaml:"tls"`
	MaxConnections int        `yaml:"max_connections"` // more wait for one to end; 0: 10,000
	// In the ARNs that clients see, unless their requests are signed for another; "": us-east-1.
	Region string `yaml:"region"`
	// So long after a queue was deleted none of its name can be made, and so long after a purge none follows: 60s is
	// what the service does; 0: at once.
	Rest time.Duration `yaml:"rest"`
}

// DefaultListen is where the door listens unless told otherwise: where ElasticMQ does.
const DefaultListen = "127.0.0.1:9324"

// ErrConfig is what every complaint about a Config is.
var ErrConfig = errors.New("sqs door: settings are not valid")

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = DefaultListen
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 10_000
	}
	if c.Region == "" {
		c.Region = "us-east-1"
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
	switch {
	case c.MaxConnections < 0:
		return fmt.Errorf("%w: max_connections cannot be negative", ErrConfig)
	case c.Rest < 0:
		return fmt.Errorf("%w: rest cannot be negative", ErrConfig)
	case strings.ContainsAny(c.Region, ":/ \t\r\n"):
		return fmt.Errorf("%w: region: %q cannot stand in an ARN (us-east-1 can)", ErrConfig, c.Region)
	}
	return nil
}
