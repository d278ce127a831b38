// Package mysql is a sink that writes messages into a table of MySQL (8 or later) or MariaDB (10.5 or later).
//
//	sinks:
//	  readings: { type: mysql, inputs: [shape], database: "mysql://app:${PASSWORD}@db/app", table: readings, id_column: id }
//
// A batch is one transaction of a few prepared inserts of many rows each, whose sizes are powers of two, so that a
// dozen statements serve batches of any size. With load_data: true and mode insert it is one LOAD DATA LOCAL, where the
// server allows that; what would be a warning then is found, undone, and written by inserts, which say what is wrong
// with which row.
//
// Sessions are strict (a value that does not fit is an error), speak UTF-8 and live in UTC, whatever the server's
// settings are. Tables have to be of an engine with transactions, such as InnoDB: of another, a part of a batch that
// failed stays.
//
// What the sinks for databases share is package rows's: which field goes where, types, retries, rows that are refused.
package mysql

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
)

// Config is the sink's settings.
type Config struct {
	rows.Config `yaml:",inline"`
	// Database is where the database is.
	Database string     `yaml:"database" secret:"true" doc:"The database, as mysql://user:password@host:port/database, or as user:password@tcp(host:port)/database or user:password@unix(/path)/database. Behind a ? stand settings of the session and of the connection (tls=true, readTimeout=30s)."`
	TLS      secure.TLS `yaml:"tls" doc:"Asks for TLS with a certificate that names the host, whatever the address says."`
	LoadData bool       `yaml:"load_data" doc:"Writes batches by LOAD DATA LOCAL where mode is insert and the server allows it (local_infile=ON). Where it does not, they are inserted as ever."`
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

// Sink is the one of package rows, with counts of its own.
type Sink struct {
	*rows.Sink
	driver *sessions
}

// Start reads the certificates and looks at the table.
func (s *Sink) Start(ctx context.Context) error {
	if err := s.driver.secure(); err != nil {
		return err
	}
	return s.Sink.Start(ctx)
}

// Counts are those of package rows, and what has become of LOAD DATA: sessions for which the server refused it, and
// batches that were undone since a row of them did not go in as it was.
func (s *Sink) Counts() map[string]uint64 {
	counts := s.Sink.Counts()
	if s.driver.load {
		counts["load_data_refused"], counts["load_data_undone"] = s.driver.denied.Load(), s.driver.undone.Load()
	}
	return counts
}

// sessionSettings are those that what we write, and how we judge it, depends on. They are expressions of SQL.
var sessionSettings = map[string]string{
	"sql_mode":    "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'",
	"time_zone":   "'+00:00'",
	"lc_messages": "'en_US'", // numbers of rows are read from messages
	"autocommit":  "1",
}

const dialPatience = 30 * time.Second

func newDriver(c Config) (*sessions, error) {
	config, err := parse(c.Database)
	if err != nil {
		return nil, component.Setting("database", err)
	}
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	for name, value := range sessionSettings {
		config.Params[name] = value
	}
	config.Loc, config.ParseTime, config.InterpolateParams, config.MultiStatements = time.UTC, false, false, false
	config.ClientFoundRows, config.AllowAllFiles = c.Mode == "update", false // a row that is as it should be is there
	config.Logger = &mysql.NopLogger{}
	if config.ConnectionAttributes == "" {
		config.ConnectionAttributes = "program_name:hikyaku"
	}
	if config.Timeout == 0 {
		config.Timeout = dialPatience
	}
	if err := c.TLS.Check(); err != nil {
		return nil, err
	}
	return &sessions{config: config, tls: c.TLS, load: c.LoadData}, nil
}

// errUnreadable shows nothing of what may be secret.
var errUnreadable = errors.New("cannot be read: write mysql://host:port/database, with user:password@ before the host")

// parse reads both forms of an address.
func parse(address string) (*mysql.Config, error) {
	scheme, _, isURL := strings.Cut(address, "://")
	switch {
	case address == "":
		return nil, errors.New("is missing: where is the database? Write mysql://host:port/database, with " +
			"user:password@ before the host")
	case !isURL || strings.ContainsAny(scheme, "@(/"):
		c, err := mysql.ParseDSN(address)
		if err != nil {
			return nil, errUnreadable
		}
		return naming(c)
	case scheme != "mysql" && scheme != "mariadb":
		return nil, errUnreadable
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, errUnreadable
	}
	c, err := mysql.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return nil, errUnreadable
	}
	c.Net, c.Addr, c.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	if u.Port() == "" {
		c.Addr += ":3306"
	}
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	return naming(c)
}

func naming(c *mysql.Config) (*mysql.Config, error) {
	if c.DBName == "" {
		return nil, errors.New("names no database: write it behind the host, as in mysql://host:port/database")
	}
	return c, nil
}

// newReader is a name for what LOAD DATA reads: the library keeps them for the whole process.
func newReader() string { return "hikyaku-" + rand.Text() }
