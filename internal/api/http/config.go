package http

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
)

// Config holds the settings of the door. The zero value listens on DefaultListen.
type Config struct {
	Off            bool       `yaml:"off"`
	Listen         string     `yaml:"listen"` // address and port; "": 127.0.0.1:7700
	TLS            access.TLS `yaml:"tls"`
	MaxBodyBytes   int64      `yaml:"max_body_bytes"`   // one request, or one line of NDJSON; 0: 64 MiB
	MaxHeaderBytes int        `yaml:"max_header_bytes"` // 0: 64 KiB
	MaxConnections int        `yaml:"max_connections"`  // more wait for one to end; 0: 10,000
	// what requests and answers of this door may take of limits: busy_bytes; 0: all of it
	MaxBusyBytes  int64         `yaml:"max_busy_bytes"`
	HeaderTimeout time.Duration `yaml:"header_timeout"` // to send the header of a request; 0: 10 s
	BodyTimeout   time.Duration `yaml:"body_timeout"`   // to send a body, but for NDJSON; 0: 60 s
	IdleTimeout   time.Duration `yaml:"idle_timeout"`   // between two requests; 0: 2 min
	StallTimeout  time.Duration `yaml:"stall_timeout"`  // to take each 32 KiB of an answer; 0: 10 s
	MaxWait       time.Duration `yaml:"max_wait"`       // a claim that wants to wait longer waits so long; 0: 5 min
	// the pages at /console: "read" leaves all acts out, "off" the pages; "": on
	Console string `yaml:"console" oneof:"on read off"`
}

// DefaultListen is where the door listens unless told otherwise.
const DefaultListen = "127.0.0.1:7700"

// ErrConfig is what every complaint about a Config is.
var ErrConfig = errors.New("http door: settings are not valid")

// withDefaults fills in what was not said.
func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = DefaultListen
	}
	c.MaxBodyBytes = or(c.MaxBodyBytes, 64<<20)
	c.MaxHeaderBytes = or(c.MaxHeaderBytes, 64<<10)
	c.MaxConnections = or(c.MaxConnections, 10_000)
	c.HeaderTimeout = or(c.HeaderTimeout, door.HeaderTime)
	c.BodyTimeout = or(c.BodyTimeout, time.Minute)
	c.IdleTimeout = or(c.IdleTimeout, door.IdleTime)
	c.StallTimeout = or(c.StallTimeout, door.StallTime)
	c.MaxWait = or(c.MaxWait, 5*time.Minute)
	return c
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Check says what is wrong with the settings. The error is ErrConfig, or access.ErrExposed for a door that would be
// open to strangers.
func (c Config) Check(hasUsers bool) error {
	if c.Off {
		return nil
	}
	if err := access.CheckDoor(ErrConfig, or(c.Listen, DefaultListen), DefaultListen, c.TLS, hasUsers); err != nil {
		return err
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"max_body_bytes", c.MaxBodyBytes}, {"max_header_bytes", int64(c.MaxHeaderBytes)},
		{"max_connections", int64(c.MaxConnections)}, {"max_busy_bytes", c.MaxBusyBytes},
		{"header_timeout", int64(c.HeaderTimeout)}, {"body_timeout", int64(c.BodyTimeout)},
		{"idle_timeout", int64(c.IdleTimeout)}, {"stall_timeout", int64(c.StallTimeout)},
		{"max_wait", int64(c.MaxWait)},
	} {
		if n.value < 0 {
			return fmt.Errorf("%w: %s cannot be negative", ErrConfig, n.name)
		}
	}
	return nil
}
