package sqs

import (
	"errors"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/access/sigv4"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
)

// newVerifier makes what checks signatures: the access key is a user's name, the signing key the user's secret.
func (d *Server) newVerifier() sigv4.Verifier {
	return sigv4.Verifier{
		Service: "sqs",
		Secret: func(key string) (string, bool) {
			user, ok := d.users.ByName(key)
			if !ok {
				return "", false
			}
			return user.Secret.Reveal(), true
		},
	}
}

// authenticate finds the user whose signature a request has.
func (c *call) authenticate(body []byte) (*access.User, error) {
	who, err := c.d.verifier.Verify(c.r, body)
	if err != nil {
		var refused *sigv4.Error
		if errors.As(err, &refused) {
			return nil, wire.Refused(refused.Code, refused.Status, refused.Message)
		}
		return nil, err
	}
	user, ok := c.d.users.ByName(who.AccessKey)
	if !ok {
		return nil, wire.InvalidSecurity("the user is not there any more")
	}
	return user, nil
}
