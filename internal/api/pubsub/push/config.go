package push

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Config says where a subscription's messages go, and how.
type Config struct {
	Endpoint     string        // http:// or https://
	Subscription string        // its full name, as messages show it
	AckDeadline  time.Duration // how long an answer is waited for; 0: 10 s

	Unwrapped bool // the data alone instead of JSON
	Metadata  bool // with Unwrapped: headers tell the rest
	OIDC      *OIDC

	// RetryPolicy: the source makes messages that were given back wait by themselves, so failures do not stop the
	// others.
	RetryPolicy bool

	MaxWindow int               // requests at once; 0: 1,000
	Grace     time.Duration     // how long requests may go on when Run's context has ended; 0: 5 s
	Transport http.RoundTripper // nil: one of its own, as NewTransport makes it
	// Report is told what a person should know: the source's errors, and when deliveries begin to fail or to work
	// again. It may be called from several goroutines. nil: nobody is told.
	Report func(error)
}

// OIDC asks for a token in the Authorization header. The package's documentation says what kind of token it is.
type OIDC struct {
	ServiceAccountEmail string
	Audience            string // "": the endpoint
}

// ErrEndpoint is what every complaint about an endpoint is.
var ErrEndpoint = errors.New("push endpoint is not valid")

// CheckEndpoint refuses an address that messages cannot be sent to.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrEndpoint, err)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w: %q begins with neither https:// nor http://", ErrEndpoint, endpoint)
	case u.Hostname() == "":
		return fmt.Errorf("%w: %q names no host", ErrEndpoint, endpoint)
	case u.User != nil:
		return fmt.Errorf(
			"%w: a name or a password in the address would be seen by everyone who reads the subscription", ErrEndpoint)
	case u.Fragment != "":
		return fmt.Errorf("%w: %q has a fragment, which no server gets", ErrEndpoint, endpoint)
	}
	return nil
}

// withDefaults fills in what was not said.
func (c Config) withDefaults() Config {
	if c.AckDeadline <= 0 {
		c.AckDeadline = 10 * time.Second
	}
	if c.MaxWindow <= 0 {
		c.MaxWindow = 1000
	}
	if c.Grace <= 0 {
		c.Grace = 5 * time.Second
	}
	if c.Transport == nil {
		c.Transport = NewTransport(TransportOptions{})
	}
	if c.Report == nil {
		c.Report = func(error) {}
	}
	return c
}
