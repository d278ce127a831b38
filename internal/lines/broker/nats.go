// Package broker is how sources and sinks reach servers that keep messages of others: the settings of a connection,
// and how it is kept up. It knows neither subjects nor messages.
package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/component"
)

// NATS says where servers of NATS are, and who we are there.
type NATS struct {
	// URL of the servers, as nats://host:4222 or tls://host:4222, with commas between several of one cluster.
	URL string `yaml:"url"`
	// User that we are, with Password.
	User string `yaml:"user"`
	// Password of User.
	Password access.Secret `yaml:"password"`
	// Token that the server wants instead of a user.
	Token access.Secret `yaml:"token"`
	// CredentialsFile is a file of credentials (JWT and seed) that a server with operators gave out.
	CredentialsFile string `yaml:"credentials_file" file:"read"`
}

const (
	dialTime     = 5 * time.Second
	writeTime    = 10 * time.Second // that a server may take nothing of what is written
	pingEvery    = 15 * time.Second // after two without an answer a connection is dead
	reconnectMin = 100 * time.Millisecond
	reconnectMax = 5 * time.Second
)

// Check looks at the settings and opens nothing. Errors are *component.SettingError.
func (n NATS) Check() error {
	if n.URL == "" {
		return component.Setting("url", errors.New("is missing: where are the servers? Write nats://host:4222"))
	}
	for u := range strings.SplitSeq(n.URL, ",") {
		if strings.Contains(u, "@") {
			return component.Setting("url",
				errors.New("has a user in it: write user and password, or token, as settings of their own"))
		}
	}
	ways := 0
	for _, given := range []bool{n.User != "", n.Token != "", n.CredentialsFile != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways > 1:
		return component.Setting("user", errors.New("user, token and credentials_file exclude each other"))
	case n.User == "" && n.Password != "":
		return component.Setting("password", errors.New("is there without a user"))
	}
	return nil
}

// Connect connects, and goes on trying in the background where no server can be reached. A server that refuses us is
// an error. name is what servers call the connection; secure is nil where the URL alone says whether TLS is spoken.
func (n NATS) Connect(ctx context.Context, name string, secure *tls.Config, more ...nats.Option) (*nats.Conn, error) {
	options := append([]nats.Option{
		nats.Name(name), nats.Timeout(dialTime), nats.FlusherTimeout(writeTime), nats.PingInterval(pingEvery),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.CustomReconnectDelay(func(n int) time.Duration {
			return min(reconnectMin<<min(n, 10), reconnectMax)
		}),
	}, more...)
	if secure != nil {
		options = append(options, nats.Secure(secure))
	}
	switch {
	case n.User != "":
		options = append(options, nats.UserInfo(n.User, n.Password.Reveal()))
	case n.Token != "":
		options = append(options, nats.Token(n.Token.Reveal()))
	case n.CredentialsFile != "":
		options = append(options, nats.UserCredentials(n.CredentialsFile))
	}
	conn, err := nats.Connect(n.URL, options...)
	if err == nil || ctx.Err() != nil {
		return conn, err
	}
	if refused(err) {
		return nil, fmt.Errorf("%s refuses us: %w", n.URL, err)
	}
	conn, err = nats.Connect(n.URL, append(options, nats.RetryOnFailedConnect(true))...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.URL, err)
	}
	return conn, nil
}

// refused tells errors that do not pass by themselves from those of servers that cannot be reached.
func refused(err error) bool {
	for _, e := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked,
		nats.ErrAccountAuthExpired, nats.ErrSecureConnRequired, nats.ErrSecureConnWanted} {
		if errors.Is(err, e) {
			return true
		}
	}
	// A certificate that is not trusted, a file of credentials that cannot be read.
	verify := (*tls.CertificateVerificationError)(nil)
	return errors.As(err, &verify) || strings.Contains(err.Error(), "credentials")
}

// Away tells why nothing can be sent now; nil: there is a connection.
func Away(c *nats.Conn) error {
	if c == nil || c.IsConnected() {
		return nil
	}
	if err := c.LastError(); err != nil {
		return fmt.Errorf("no connection with NATS: %w", err)
	}
	return errors.New("no connection with NATS")
}
