// Package sqlite is the sink that writes messages as rows into a table of SQLite, in a file of this machine, without a
// server:
//
//	sinks:
//	  archive: { type: sqlite, inputs: [readings], database: readings.db, table: readings, id_column: id,
//	             create: "id text primary key, at timestamp, value real" }
//
// What it has in common with the other sinks into databases (which field goes into which column, refused rows, tables
// that change) is package rows. Its own are one writer, transactions in the write-ahead log that are synced to the disk
// before a message counts as delivered, and what SQLite makes of types: a column's declared type says what it takes, in
// strict tables and others.
//
// Dates and times are texts, as SQLite's own functions write them: 2006-01-02, 15:04:05, 2006-01-02 15:04:05.123 (UTC);
// with a time zone in the declared type they end with Z. Booleans are 0 and 1, UUIDs and JSON are texts.
package sqlite

import (
	"errors"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// Config are the settings.
type Config struct {
	Database    string `yaml:"database" required:"true" doc:"The file. It is made if it is not there and create is set."`
	Synchronous string `yaml:"synchronous" oneof:"full normal off" default:"full" doc:"When a transaction counts as written: full when it is safe on the disk; with normal a power cut may take the last ones back, with off it may damage the file."`
	rows.Config `yaml:",inline"`
}

// busyPatience is how long SQLite itself waits for another writer, before package rows tries again.
const busyPatience = 500 * time.Millisecond

// New checks the settings. Errors are *component.SettingError.
func New(c Config, env component.Env) (component.Sink, error) {
	if c.Database == "" {
		return nil, component.Setting("database", errors.New("is missing: name a file"))
	}
	if c.Database == ":memory:" {
		return nil, component.Setting("database",
			errors.New("has to be a file: what is in memory ends with the session"))
	}
	switch c.Synchronous {
	case "":
		c.Synchronous = "full"
	case "full", "normal", "off":
	default:
		return nil, component.Setting("synchronous",
			errors.New(strconv.Quote(c.Synchronous)+" is none of full, normal and off"))
	}
	switch {
	case c.PoolSize > 1:
		return nil, component.Setting("pool_size", errors.New("is more than 1: SQLite has one writer at a time"))
	case c.PoolSize == 0:
		c.PoolSize = 1
	}
	return rows.New(&database{address: c.address(), file: c.file(), makes: c.makes()}, c.Config, env)
}

// makes tells whether the file is made when it is not there.
func (c *Config) makes() bool { return c.Create != nil && c.Create != false }

// file is the file's path.
func (c *Config) file() string { return strings.TrimPrefix(c.Database, "sqlite://") }

// address is how the library is told of the file, whatever its name.
func (c *Config) address() string {
	mode := "rw"
	if c.makes() {
		mode = "rwc"
	}
	q := url.Values{
		"mode":      {mode},
		"_error_rc": {"1"}, // no message of another operation
		"_pragma": {
			"busy_timeout(" + strconv.FormatInt(busyPatience.Milliseconds(), 10) + ")",
			"journal_mode(wal)",
			"synchronous(" + c.Synchronous + ")",
			"wal_autocheckpoint(4000)", // pages: each time costs two syncs
			"foreign_keys(on)",
		},
	}
	place := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(c.file())}).EscapedPath(),
		RawQuery: q.Encode()}
	return place.String()
}
