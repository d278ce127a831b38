package lambda

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/lambda/s3"
)

// Config holds the settings of the door. The zero value listens on DefaultListen.
type Config struct {
	Off            bool       `yaml:"off"`
	Listen         string     `yaml:"listen"` // address and port; "": 127.0.0.1:9001
	TLS            access.TLS `yaml:"tls"`
	MaxConnections int        `yaml:"max_connections"` // more wait for one to end; 0: 10,000
	// In the ARNs that clients and functions see; "": us-east-1.
	Region string `yaml:"region"`
	// How many invocations may run at once, in all functions; 0: 1,000.
	Concurrency int `yaml:"concurrency"`
	// Keeps functions apart from this machine and from each other. full: a function is refused where part of it is not
	// permitted; none: functions may do what hikyaku may; not set: with users full, without them as far as the machine
	// permits.
	Isolation string `yaml:"isolation"`
	// none: functions reach no network, and no door of hikyaku, but have their Runtime API; not set: they reach what
	// this machine reaches.
	Network string `yaml:"network"`
	// More files and folders of this machine that isolated functions see, and can read.
	See []string `yaml:"see"`
	// How long an event that nobody waits for rests after its function failed, before it is tried again, and twice that
	// before the last time; 0: 1 min.
	RetryDelay time.Duration `yaml:"retry_delay"`
	// Where code is that clients name by a bucket and a key.
	S3 s3.Config `yaml:"s3"`
}

// DefaultListen is where the door listens unless told otherwise.
const DefaultListen = "127.0.0.1:9001"

// ErrConfig is what every complaint about a Config is.
var ErrConfig = errors.New("lambda door: settings are not valid")

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
	switch {
	case c.MaxConnections < 0:
		return fmt.Errorf("%w: max_connections cannot be negative", ErrConfig)
	case c.Concurrency < 0:
		return fmt.Errorf("%w: concurrency cannot be negative", ErrConfig)
	case slices.ContainsFunc(c.See, func(p string) bool { return !filepath.IsAbs(p) }):
		return fmt.Errorf("%w: see: each is a whole path, from / on", ErrConfig)
	case c.S3.Check() != nil:
		return fmt.Errorf("%w: s3: %w", ErrConfig, c.S3.Check())
	case c.RetryDelay < 0:
		return fmt.Errorf("%w: retry_delay cannot be negative", ErrConfig)
	case !slices.Contains([]string{"", "full", "none"}, c.Isolation):
		return fmt.Errorf("%w: isolation: %q is neither full nor none", ErrConfig, c.Isolation)
	case !slices.Contains([]string{"", "none"}, c.Network):
		return fmt.Errorf("%w: network: %q is not none", ErrConfig, c.Network)
	case c.Network == "none" && c.Isolation == "none":
		return fmt.Errorf("%w: network: none is a part of isolation, which isolation: none switches off", ErrConfig)
	case strings.ContainsAny(c.Region, ":/ \t\r\n"):
		return fmt.Errorf("%w: region: %q cannot stand in an ARN (us-east-1 can)", ErrConfig, c.Region)
	}
	return nil
}
