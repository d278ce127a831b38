package sqs

import (
	"errors"
	"net/http"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/access/sigv4"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
)

// newVerifier makes what checks signatures: the access key is a user's name, the signing key the user's secret.
func (d *Server) newVerifier() sigv4.Verifier {
	return sigv4.Verifier{
		Service: "sqs",
		Secrets: d.users.Signing,
	}
}

// authenticate finds the user whose signature a request has.
func (c *call) authenticate(body []byte) (*access.User, error) {
	who, err := c.d.verifier.Verify(c.r, body)
	var refused *sigv4.Error
	if err != nil && !errors.As(err, &refused) {
		return nil, err
	}
	user, err := c.d.users.Proved(c.r.Context(), access.Attempt{Door: "sqs", Address: c.r.RemoteAddr}, who.AccessKey,
		refused.Reason())
	var slow *access.SlowError
	switch {
	case errors.As(err, &slow):
		return nil, wire.Refused("RequestThrottled", http.StatusTooManyRequests, slow.Error())
	case errors.Is(err, access.ErrDenied) && refused != nil:
		return nil, wire.Refused(refused.Shown(), refused.Status, refused.Message)
	case errors.Is(err, access.ErrDenied):
		return nil, wire.InvalidSecurity("the user is not there any more")
	}
	return user, err
}
