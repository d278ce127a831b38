package apns

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// Config is how the far end is started.
type Config struct {
	farend.Config          // a nil Authority: one is made. Clients is always set
	Plain         bool     // no TLS
	Keys          []*Key   // that provider tokens may be signed with
	Topics        []string // of apps that may be pushed to, without what a push type appends; nil: all
	Anybody       bool     // wants no provider token: for h2load and its like
	Production    bool     // answers without apns-unique-id, as Apple does outside its sandbox

	TokenAge time.Duration // after which a provider token has expired; 0: an hour
	// a key's tokens may not change more often (Apple: 20 minutes); 0: as often as they like
	TokenUpdates time.Duration
	Now          func() time.Time // the clock for tokens; nil: the machine's
}

// Server is a far end that runs.
type Server struct {
	*farend.Server
	Authority *farend.Authority // that clients have to trust; nil without TLS
}

// Start listens. Close the server.
func Start(c Config) (*Server, error) {
	if c.TokenAge == 0 {
		c.TokenAge = time.Hour
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := c.Secure(c.Plain); err != nil {
		return nil, err
	}
	c.Clients = true
	s, err := farend.Start(c.Config, newProvider(c))
	if err != nil {
		return nil, err
	}
	return &Server{s, c.Authority}, nil
}
