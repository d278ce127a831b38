package push

import (
	"encoding/base64"
	"encoding/json"
	"time"
)

// tokenLife is how long a token is good for.
const tokenLife = time.Hour

// token is an unsecured JSON Web Token with the claims that Google's have. Endpoints can read who is meant; none can
// verify it.
func (p *Pusher) token(now time.Time) string {
	audience := p.config.OIDC.Audience
	if audience == "" {
		audience = p.config.Endpoint
	}
	claims, err := json.Marshal(struct {
		Audience string `json:"aud"`
		Party    string `json:"azp"`
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
		Expires  int64  `json:"exp"`
		Issued   int64  `json:"iat"`
		Issuer   string `json:"iss"`
		Subject  string `json:"sub"`
	}{
		audience, p.config.OIDC.ServiceAccountEmail, p.config.OIDC.ServiceAccountEmail, true,
		now.Add(tokenLife).Unix(), now.Unix(), "https://accounts.google.com", p.config.OIDC.ServiceAccountEmail,
	})
	if err != nil {
		return "" // strings and numbers can always be written
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + encode(claims) + "."
}
