package pubsub

import (
	"context"
	"errors"
	"net"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/queue"
)

type userKey struct{}

// userOf is who calls; nil without users.
func userOf(ctx context.Context) *access.User {
	u, _ := ctx.Value(userKey{}).(*access.User)
	return u
}

// admit refuses strangers.
func (d *Server) admit(ctx context.Context) (context.Context, error) {
	if !d.users.Any() {
		return ctx, nil
	}
	token := ""
	for _, header := range metadata.ValueFromIncomingContext(ctx, "authorization") {
		if scheme, text, ok := strings.Cut(header, " "); ok && strings.EqualFold(scheme, "Bearer") {
			token = strings.TrimSpace(text)
			break
		}
	}
	user, err := d.users.Token(ctx, access.Attempt{Door: "pubsub", Address: addressOf(ctx)}, token)
	var slow *access.SlowError
	switch {
	case err == nil:
		return context.WithValue(ctx, userKey{}, user), nil
	case errors.As(err, &slow):
		return nil, status.Error(codes.Unavailable, slow.Error()) // clients try again, with a back-off
	case !errors.Is(err, access.ErrDenied):
		return nil, status.FromContextError(err).Err()
	}
	return nil, status.Error(codes.Unauthenticated, "a user's secret is expected as a bearer token (authorization: "+
		"Bearer SECRET)")
}

// addressOf is where a call comes from.
func addressOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		return p.Addr.String()
	}
	return ""
}

// allow refuses what the caller was not granted.
func (d *Server) allow(ctx context.Context, can access.Action, r resource) error {
	if d.users.Allowed(userOf(ctx), can, d.store.Resolve(r.name())) {
		return nil
	}
	if !d.users.Any() {
		return d.sameAccount(ctx, r)
	}
	return notGranted(can, r)
}

func notGranted(can access.Action, r resource) error {
	return status.Errorf(codes.PermissionDenied, "%s is not granted on %s", can, r)
}

// sameAccount refuses, without users, other accounts of this machine.
func (d *Server) sameAccount(ctx context.Context, r resource) error {
	end := caller.From(ctx)
	if end == nil {
		end = endOf(ctx)
	}
	var other *access.LocalError
	if errors.As(d.users.Local(end), &other) {
		return status.Errorf(codes.PermissionDenied, "%s: %s", r, other.Whole())
	}
	return nil
}

// knowing is a listener whose connections' addresses tell the other end, which is how a call of gRPC finds its
// connection.
type knowing struct{ net.Listener }

// Accept implements net.Listener.
func (l knowing) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	frames, _ := c.(*framedConn)
	return &knownConn{c, &knownAddr{c.RemoteAddr(), caller.Of(c), frames}}, nil
}

type knownConn struct {
	net.Conn
	addr *knownAddr
}

// RemoteAddr implements net.Conn.
func (c *knownConn) RemoteAddr() net.Addr { return c.addr }

type knownAddr struct {
	net.Addr
	end    *caller.End
	frames *framedConn // nil: its frames are not followed
}

// endOf is the other end of a call's connection; nil: it is not known.
func endOf(ctx context.Context) *caller.End {
	if p, ok := peer.FromContext(ctx); ok {
		if a, ok := p.Addr.(*knownAddr); ok {
			return a.end
		}
	}
	return nil
}

// administer begins a call that changes the resource that a field of the request names: the caller may do that, and no
// other such call is under way until end is called. After an error there is nothing to end.
func (d *Server) administer(ctx context.Context, field, name, kind string) (r resource, end func(), err error) {
	if r, err = parseResource(field, name, kind); err != nil {
		return r, nil, err
	}
	if err := d.allow(ctx, access.Admin, r); err != nil {
		return r, nil, err
	}
	d.admin.Lock()
	return r, d.admin.Unlock, nil
}

// seen refuses to show what the caller was granted nothing of.
func (d *Server) seen(ctx context.Context, r resource) error {
	if d.visible(ctx, r) {
		return nil
	}
	return status.Errorf(codes.PermissionDenied, "nothing is granted on %s", r)
}

func (d *Server) visible(ctx context.Context, r resource) bool {
	return d.visibleName(ctx, d.store.Resolve(r.name()))
}

// visibleName tells whether the caller was granted anything on a name, which is resolved.
func (d *Server) visibleName(ctx context.Context, n queue.Name) bool {
	return !d.users.Any() || d.users.Visible(userOf(ctx), n)
}
