package access

import "context"

// Who is who asks a door for an administrative act, for those who keep a record of it.
type Who struct {
	User    string // "": there are no users
	Address string
	Request string // the id that the client gave the request, as much of it as is kept; "": none
}

type whoKey struct{}

// maxRequestID bounds what is kept of an id that a client chose.
const maxRequestID = 100

// Asked is ctx of a request for an act, which tells who asks. user is nil without users.
func Asked(ctx context.Context, user *User, address, request string) context.Context {
	w := Who{Address: address, Request: request[:min(len(request), maxRequestID)]}
	if user != nil {
		w.User = user.Name
	}
	return context.WithValue(ctx, whoKey{}, w)
}

// WhoOf is who asked for the act that ctx is of; ok is false where no door said so, as for what the process does by
// itself.
func WhoOf(ctx context.Context) (w Who, ok bool) {
	w, ok = ctx.Value(whoKey{}).(Who)
	return w, ok
}
