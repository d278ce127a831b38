// Package settings has the settings of the MySQL door. It is apart from the door, so that a program without the door
// can read a configuration that has them.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
)

// Config holds the settings of the door. The zero value listens on DefaultListen.
type Config struct {
	Off    bool   `yaml:"off"`
	Listen string `yaml:"listen"` // address and port; "": 127.0.0.1:3306
	// path of a Unix socket besides; "": /run/mysqld/mysqld.sock if it can be made; "none": none
	Socket         string     `yaml:"socket"`
	TLS            access.TLS `yaml:"tls"`
	MaxConnections int        `yaml:"max_connections"` // further ones are refused; 0: 10,000

	// one statement with its values, and one value that an expression makes: max_allowed_packet; 0: 129 MiB, or an
	// eighth of limits: busy_bytes if that is less
	MaxPacketBytes int64 `yaml:"max_packet_bytes"`
	// what statements, what they keep and their answers may take of limits: busy_bytes; 0: 512 MiB, or eight times
	// max_packet_bytes
	MaxBusyBytes int64 `yaml:"max_busy_bytes"`
	// what one statement may keep in memory besides, to sort, to join and to group; 0: 256 MiB
	StatementBytes int64 `yaml:"statement_bytes"`
	MaxJoinSize    int64 `yaml:"max_join_size"` // rows that one statement may read; 0: 100,000,000
	// a statement that takes longer ends, but for waits in queue_wait(); 0: 5 min
	StatementTimeout time.Duration `yaml:"statement_timeout"`
}

// MaxPacket is a row of the largest size with every byte escaped, and some room.
const MaxPacket = 129 << 20

// Where the door listens unless told otherwise.
const (
	DefaultListen = "127.0.0.1:3306"
	DefaultSocket = "/run/mysqld/mysqld.sock" // where clients look that are given the host "localhost"
	NoSocket      = "none"
)

// Copies is how many of a command's bytes are in memory while it is worked on: as it came, as a statement, its words
// and values, as rows, and what the journal writes. Measured: 40 INSERT of 12 MB at once, in a control group of 300 MB.
const Copies = 8

// ErrConfig is what every complaint about a Config is.
var ErrConfig = errors.New("mysql door: settings are not valid")

// Wanted tells whether somebody says where the door has to listen.
func (c Config) Wanted() bool {
	return !c.Off && (c.Listen != "" || c.Socket != "" && c.Socket != NoSocket)
}

// WithDefaults is c with the values of what is not set.
func (c Config) WithDefaults() Config {
	if c.Listen == "" {
		c.Listen = DefaultListen
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 10_000
	}
	c.MaxPacketBytes = cmp.Or(c.MaxPacketBytes, MaxPacket)
	c.MaxBusyBytes = max(cmp.Or(c.MaxBusyBytes, 512<<20), Copies*c.MaxPacketBytes)
	c.StatementBytes = cmp.Or(c.StatementBytes, 256<<20)
	c.MaxJoinSize = cmp.Or(c.MaxJoinSize, 100_000_000)
	c.StatementTimeout = cmp.Or(c.StatementTimeout, 5*time.Minute)
	return c
}

// Check says what is wrong with the settings. The error is ErrConfig, or access.ErrExposed for a door that would be
// open to strangers.
func (c Config) Check(hasUsers bool) error {
	if c.Off {
		return nil
	}
	if err := access.CheckDoor(ErrConfig, c.WithDefaults().Listen, DefaultListen, c.TLS, hasUsers); err != nil {
		return err
	}
	if c.MaxConnections < 0 {
		return fmt.Errorf("%w: max_connections cannot be negative", ErrConfig)
	}
	for name, n := range map[string]int64{"max_packet_bytes": c.MaxPacketBytes, "max_busy_bytes": c.MaxBusyBytes,
		"statement_bytes": c.StatementBytes,
		"max_join_size":   c.MaxJoinSize, "statement_timeout": int64(c.StatementTimeout)} {
		if n < 0 {
			return fmt.Errorf("%w: %s cannot be negative", ErrConfig, name)
		}
	}
	if c.MaxPacketBytes > 0 && c.MaxPacketBytes < 64<<10 || c.MaxPacketBytes > 1<<30 {
		return fmt.Errorf("%w: max_packet_bytes has to be between 64 KiB and 1 GiB, as max_allowed_packet", ErrConfig)
	}
	return nil
}
