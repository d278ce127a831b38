package sqldriver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi"
)

// Driver opens connections by a data source name,
// tcp://user:password@host:port?label=…&application=…&token=…&timeout=10s&keepalive=1m&relay=true&relayendpoint=…;
// all but the host may be left out.
type Driver struct{}

// Open connects. database/sql calls OpenConnector instead.
func (d Driver) Open(name string) (driver.Conn, error) {
	c, err := d.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

// OpenConnector reads a data source name.
func (Driver) OpenConnector(name string) (driver.Connector, error) {
	u, err := url.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("tsurugi: the data source name: %w", err)
	}
	var cfg tsurugi.Config
	if u.User != nil {
		password, _ := u.User.Password()
		cfg.Credential = tsurugi.UserPassword(u.User.Username(), password)
	}
	for key, values := range u.Query() {
		v := values[len(values)-1]
		switch key {
		case "label":
			cfg.Label = v
		case "application":
			cfg.Application = v
		case "token":
			cfg.Credential = tsurugi.Token(v)
		case "timeout":
			cfg.Timeout, err = time.ParseDuration(v)
		case "keepalive":
			cfg.KeepAlive, err = time.ParseDuration(v)
		case "relay":
			cfg.Relay, err = strconv.ParseBool(v)
		case "relayendpoint":
			cfg.RelayEndpoint = v
		default:
			err = fmt.Errorf("there is no option %q; there are label, application, token, timeout, keepalive, relay and "+
				"relayendpoint", key)
		}
		if err != nil {
			return nil, fmt.Errorf("tsurugi: the data source name: %w", err)
		}
	}
	return NewConnector((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), cfg)
}

// A Connector opens sessions with one server.
type Connector struct {
	endpoint string
	cfg      tsurugi.Config
}

// NewConnector makes a connector for an endpoint as tsurugi.Connect takes it. It does not connect yet.
func NewConnector(endpoint string, cfg tsurugi.Config) (*Connector, error) {
	// it looks at the endpoint and does no more
	if _, err := tsurugi.NewPool(endpoint, tsurugi.PoolConfig{Idle: -1}); err != nil {
		return nil, err
	}
	return &Connector{endpoint, cfg}, nil
}

// Connect opens a session.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	s, err := tsurugi.Connect(ctx, c.endpoint, c.cfg)
	if err != nil {
		return nil, err
	}
	return &conn{s: s}, nil
}

// Driver is a Driver.
func (c *Connector) Driver() driver.Driver { return Driver{} }
