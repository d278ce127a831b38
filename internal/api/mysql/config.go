package mysql

import (
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/access"
)

// Config holds the settings of the door. The zero value listens on DefaultListen.
type Config struct {
	Off            bool       `yaml:"off"`
	Listen         string     `yaml:"listen"` // address and port; "": 127.0.0.1:3306
	Socket         string     `yaml:"socket"` // path of a Unix socket besides; "": /run/mysqld/mysqld.sock if it can be made; "none": none
	TLS            access.TLS `yaml:"tls"`
	MaxConnections int        `yaml:"max_connections"` // further ones are refused; 0: 10,000
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
	if err := access.CheckDoor(ErrConfig, c.withDefaults().Listen, DefaultListen, c.TLS, hasUsers); err != nil {
		return err
	}
	if c.MaxConnections < 0 {
		return fmt.Errorf("%w: max_connections cannot be negative", ErrConfig)
	}
	return nil
}
