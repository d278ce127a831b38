// Package link connects the nodes of a cluster: streams over TLS 1.3 of which both ends have proved that they know the
// cluster's secret, and lanes of messages over them.
//
//	l, err := link.Listen(ctx, link.Options{Listen: ":6222", Cluster: "prod", Node: "a", Secret: secret})
//	l.Handle("door", func(ctx context.Context, peer string, c net.Conn) { … })
//	c, err := l.Dialer().Dial(ctx, link.Peer{Node: "b", Address: "10.0.0.2:6222"}, "door")
//
// Everybody who knows the secret has the same key, which is made from the secret and the cluster's name; nothing has to
// be handed out but the secret. Whoever does not know it is told nothing, takes little memory, and is cut after some
// seconds. What a stream is for is said once, as it begins, by its kind.
//
// Lanes are for what may be lost and is sent again by who needs it: messages of a replicated log. A peer that is away
// or slow holds up nobody.
package link

import (
	"errors"
	"time"
)

// Errors of connections.
var (
	// ErrSecret: the secret is too short to be one.
	ErrSecret = errors.New("the secret of a cluster needs at least 32 characters (openssl rand -base64 32 makes one)")
	// ErrStranger: the other end does not know the secret, or is of another cluster.
	ErrStranger = errors.New("the other end does not know the secret of this cluster")
	// ErrRefused: the other end knows the secret and does not take this stream.
	ErrRefused = errors.New("the node refuses the connection")
	// ErrClosed: Close was called.
	ErrClosed = errors.New("the link is closed")
)

// Bounds of connections.
const (
	leastSecret = 32
	mostName    = 64 // bytes of a name or a kind

	// mostStrangers is how many connections may be open that have not said who they are. One more cuts the oldest of
	// the network that has the most.
	mostStrangers = 128
	// strangerTime is how long a connection may take until it has, and strangerBytes what it may send for it.
	strangerTime  = 5 * time.Second
	strangerBytes = 64 << 10
)

// CheckName tells whether a cluster, a node or a kind of stream may be called so.
func CheckName(name string) error {
	if name == "" || len(name) > mostName {
		return errName
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
		default:
			return errName
		}
	}
	return nil
}

var errName = errors.New("a name has 1 to 64 letters, digits, hyphens, underscores and dots")
