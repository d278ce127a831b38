package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"
)

// DefaultSkew is how far a client's clock may be from ours, either way.
const DefaultSkew = 15 * time.Minute

// MaxExpires is how long a presigned request may be good for.
const MaxExpires = 7 * 24 * time.Hour

// UnsignedPayload stands for the hash of a body that is not signed.
const UnsignedPayload = "UNSIGNED-PAYLOAD"

const (
	algorithm  = "AWS4-HMAC-SHA256"
	terminator = "aws4_request"
	timeLayout = "20060102T150405Z"
	dateLayout = "20060102"
)

// Verifier checks signatures. Secrets has to be there; the zero value of the rest is useful. It must not be copied once
// it is used.
type Verifier struct {
	// Secrets returns the secrets of an access key, any of which may have been used; ok is false when nobody has that
	// key.
	Secrets func(accessKey string) (secrets []string, ok bool)
	// Service is the one that signatures have to be made for, such as sqs; "": any.
	Service string
	// Region is the one that signatures have to be made for; "": any.
	Region string
	// Skew is how far a client's clock may be from ours, either way; 0: DefaultSkew.
	Skew time.Duration
	// Now tells the time; nil: time.Now.
	Now func() time.Time

	keys keys
}

// Identity is who signed a request, and what for.
type Identity struct {
	AccessKey string
	Region    string
	Service   string
	Time      time.Time // when it was signed, by the client's clock
	Presigned bool
}

// Verify checks the signature of a request, whose whole body is given. Every error is an *Error; with one the Identity
// has the access key that was claimed, if it could be read.
func (v *Verifier) Verify(r *http.Request, body []byte) (Identity, error) {
	s, bad := parse(r)
	if bad == nil {
		bad = v.check(s)
	}
	if bad == nil {
		bad = v.compare(r, s, body)
	}
	if bad != nil {
		if s == nil {
			return Identity{}, bad
		}
		return Identity{AccessKey: s.accessKey}, bad
	}
	return Identity{AccessKey: s.accessKey, Region: s.region, Service: s.service, Time: s.time, Presigned: s.presigned},
		nil
}

// check says what is wrong with a signature before it is computed: its scope and its time.
func (v *Verifier) check(s *signature) *Error {
	if v.Service != "" && s.service != v.Service {
		return mismatch("Credential should be scoped to correct service: '" + v.Service + "'.")
	}
	if v.Region != "" && s.region != v.Region {
		return mismatch("Credential should be scoped to a valid region, not '" + shorten(s.region) + "'.")
	}
	if day := s.time.Format(dateLayout); s.day != day {
		return mismatch("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '" +
			shorten(s.day) + "' != '" + day + "', from '" + s.time.Format(timeLayout) + "'.")
	}
	skew := v.Skew
	if skew == 0 {
		skew = DefaultSkew
	}
	now := time.Now
	if v.Now != nil {
		now = v.Now
	}
	at := now().UTC()
	switch {
	case s.time.After(at.Add(skew)):
		return tooNew(s.time, at, skew)
	case s.presigned && at.After(s.time.Add(s.expires)):
		return expired()
	case !s.presigned && s.time.Before(at.Add(-skew)):
		return tooOld(s.time, at, skew)
	}
	return nil
}

// compare computes the signature, and compares it with the request's.
func (v *Verifier) compare(r *http.Request, s *signature, body []byte) *Error {
	secrets, ok := v.Secrets(s.accessKey)
	switch {
	case !ok:
		return unknownKey()
	case len(secrets) == 0:
		return hashOnly()
	}
	payload, bad := payloadHash(r, s, body)
	if bad != nil {
		return bad
	}
	paths, n := canonicalPaths(r)
	for _, secret := range secrets {
		of := scope{secret, s.day, s.region, s.service}
		key := v.keys.get(of)
		known := key != nil
		if !known {
			key = signingKey(of)
		}
		for _, path := range paths[:n] {
			if hmac.Equal(s.sum[:], sum(key, s.stringToSign(r, path, payload))) {
				if !known {
					v.keys.keep(of, key)
				}
				return nil
			}
		}
	}
	return wrongSignature()
}

// payloadHash is the hash of the body as the client should have signed it.
func payloadHash(r *http.Request, s *signature, body []byte) (string, *Error) {
	claimed := r.Header.Get("X-Amz-Content-Sha256")
	if claimed == "" && s.presigned {
		claimed = s.query.Get("X-Amz-Content-Sha256")
	}
	if claimed == UnsignedPayload {
		return UnsignedPayload, nil
	}
	digest := sha256.Sum256(body)
	actual := hex.EncodeToString(digest[:])
	if claimed != "" && claimed != actual {
		return "", mismatch("The provided 'x-amz-content-sha256' header does not match what was computed.")
	}
	return actual, nil
}

// signingKey is the key that signs for a day, a region and a service.
func signingKey(s scope) []byte {
	key := sum([]byte("AWS4"+s.secret), []byte(s.day))
	key = sum(key, []byte(s.region))
	key = sum(key, []byte(s.service))
	return sum(key, []byte(terminator))
}

func sum(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(text) // a hash takes everything
	return h.Sum(nil)
}
