// Package postgres is a sink that writes messages into a table of PostgreSQL, 12 or later.
//
//	sinks:
//	  readings: { type: postgres, inputs: [shape], database: "postgres://app:${PASSWORD}@db/app", table: readings, id_column: id }
//
// A batch is one transaction, and one round trip and a half: its rows go by COPY in the binary format, encoded here for
// the types of the table's columns; a table with a column of a type that has no such encoding (an interval, an array,
// an extension's) gets COPY's text format, and the server reads all types as it reads literals. Where rows may be there
// already (mode upsert or once), an INSERT takes an array of each column.
//
// In mode insert, a commit whose answer was lost is looked up by its transaction's number: its rows are not written
// again if it has happened. Only if nobody can say is the batch sent again, which an id_column makes harmless.
//
// What the sinks for databases share is package rows's: which field goes where, types, retries, rows that are refused.
package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
)

// Config is the sink's settings.
type Config struct {
	rows.Config `yaml:",inline"`
	// Database is where the database is. What it does not say is taken from PGHOST and its like.
	Database string     `yaml:"database" secret:"true" doc:"The database, as postgres://user:password@host:port/database?sslmode=verify-full, or as host=… dbname=…; it may name several hosts. application_name is hikyaku where it is not said."`
	TLS      secure.TLS `yaml:"tls" doc:"Asks for TLS with a certificate that names the host, whatever the address says."`
}

// New checks the settings.
func New(c Config, env component.Env) (component.Sink, error) {
	d, err := newDriver(c)
	if err != nil {
		return nil, err
	}
	s, err := rows.New(d, c.Config, env)
	if err != nil {
		return nil, err
	}
	return &Sink{s, d}, nil
}

// Sink is the one of package rows, which has certificates to read first.
type Sink struct {
	*rows.Sink
	driver *driver
}

// Start reads the certificates and looks at the table.
func (s *Sink) Start(ctx context.Context) error {
	if err := s.driver.secure(); err != nil {
		return err
	}
	return s.Sink.Start(ctx)
}

func newDriver(c Config) (*driver, error) {
	if c.Database == "" {
		return nil, component.Setting("database", errors.New("is missing: where is the database? Write "+
			"postgres://host:port/database, with user:password@ before the host"))
	}
	config, err := pgconn.ParseConfig(c.Database)
	if err != nil {
		// err would show what may be secret
		return nil, component.Setting("database", errors.New("cannot be read: write postgres://host:port/database, "+
			"with user:password@ before the host"))
	}
	if _, said := config.RuntimeParams["application_name"]; !said {
		config.RuntimeParams["application_name"] = "hikyaku"
	}
	// Our texts are read as they are written; notices, which nobody reads, could fill the line that we are writing to.
	for name, value := range map[string]string{
		"client_encoding": "UTF8", "standard_conforming_strings": "on", "DateStyle": "ISO, YMD", "TimeZone": "UTC",
		"client_min_messages": "error",
	} {
		config.RuntimeParams[name] = value
	}
	if err := c.TLS.Check(); err != nil {
		return nil, err
	}
	return &driver{config: config, tls: c.TLS}, nil
}

// secure reads the certificates, if there are any to be read.
func (d *driver) secure() (err error) {
	if !d.tls.IsSet() {
		return nil
	}
	to := d.config
	if to.TLSConfig, err = d.tls.Load(to.Host); err != nil {
		return err
	}
	var others []*pgconn.FallbackConfig
	for _, f := range to.Fallbacks {
		if f.Host == to.Host && f.Port == to.Port {
			continue // the same without TLS
		}
		if f.TLSConfig, err = d.tls.Load(f.Host); err != nil {
			return err
		}
		others = append(others, f)
	}
	to.Fallbacks = others
	return nil
}
