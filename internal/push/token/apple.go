package token

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"
)

// Apple takes a token for an hour, and wants a new one no more often than every 20 minutes.
const (
	defaultRenew = 40 * time.Minute
	leastRenew   = 21 * time.Minute
	mostRenew    = 55 * time.Minute
	appleUpdates = 20 * time.Minute
	firstRest    = time.Minute
)

// AppleConfig describes a key for provider tokens.
type AppleConfig struct {
	Team string // its id: ten characters
	Key  string // the key's id: ten characters
	File string // its .p8 file
	// Renew is how old a token becomes: 21 to 55 minutes. 0: 40 minutes.
	Renew time.Duration
	Now   func() time.Time // nil: the machine's clock
}

// Apple keeps the provider token of one key.
//
// A token's time is no matter of when somebody first asked: it is the beginning of a stretch of time that follows from
// the clock and the key's name. With the deterministic signature this makes everybody who holds the key send the same
// token, though they do not know of each other: sinks, processes on several machines, and a program that was started
// again. Tokens that follow each other are Renew apart.
type Apple struct {
	config AppleConfig
	file   *File[*ecdsa.PrivateKey]
	now    func() time.Time
	ready  atomic.Pointer[bearer]

	mu     sync.Mutex
	phase  time.Duration // of the stretches of time, against the Unix epoch
	forced time.Time     // when a token was last renewed before its time
	rest   time.Duration // the last one that was asked for
	rested time.Time     // when it was asked for
}

// bearer is a token in use. It is immutable.
type bearer struct {
	text    string // of the authorization field
	issued  time.Time
	until   time.Time // after which the next one takes its place
	version uint64    // of the key
}

// NewApple checks the configuration. Nothing is read yet.
func NewApple(c AppleConfig) (*Apple, error) {
	switch {
	case c.Team == "":
		return nil, errors.New("apple provider token: the team is missing")
	case c.Key == "":
		return nil, errors.New("apple provider token: the id of the key is missing")
	case c.File == "":
		return nil, errors.New("apple provider token: the key file is missing")
	case c.Renew == 0:
		c.Renew = defaultRenew
	case c.Renew < leastRenew || c.Renew > mostRenew:
		return nil, fmt.Errorf("apple provider token: renewing after %v is not between %v and %v", c.Renew, leastRenew,
			mostRenew)
	}
	a := &Apple{config: c, now: c.Now, file: NewFile(c.File, ParseP8, c.Now)}
	if a.now == nil {
		a.now = time.Now
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s", c.Team, c.Key)
	// so that not all keys of the world change at once
	a.phase = time.Duration(h.Sum64()%uint64(c.Renew/time.Second)) * time.Second
	return a, nil
}

// Authorization is the value of the authorization field. An error is a *KeyError: there was never a good key.
func (a *Apple) Authorization() (string, error) {
	key, version, err := a.file.Get()
	if err != nil {
		return "", err
	}
	now := a.now()
	if b := a.ready.Load(); b.good(version, now) {
		return b.text, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if b := a.ready.Load(); b.good(version, now) {
		return b.text, nil
	}
	b, err := a.make(key, version, a.begin(now))
	if err != nil {
		return "", err
	}
	return b.text, nil
}

// Age is how old the present token is; 0: there is none.
func (a *Apple) Age() time.Duration {
	if b := a.ready.Load(); b != nil {
		return max(0, a.now().Sub(b.issued))
	}
	return 0
}

// good tells whether a token may be used. One from the future was made before the clock was set back.
func (b *bearer) good(version uint64, now time.Time) bool {
	return b != nil && b.version == version && now.Before(b.until) && !now.Before(b.issued)
}

// begin is when the present stretch of time began.
func (a *Apple) begin(now time.Time) time.Time {
	since := time.Duration(now.UnixNano()) - a.phase
	return time.Unix(0, int64(since-since%a.config.Renew+a.phase))
}

// make signs a token and puts it to use. a.mu is held.
func (a *Apple) make(key *ecdsa.PrivateKey, version uint64, issued time.Time) (*bearer, error) {
	type header struct {
		Algorithm string `json:"alg"`
		Key       string `json:"kid"`
	}
	type claims struct {
		Team   string `json:"iss"`
		Issued int64  `json:"iat"`
	}
	text, err := sign(key, header{"ES256", a.config.Key}, claims{a.config.Team, issued.Unix()})
	if err != nil {
		return nil, bad(a.config.File, err)
	}
	b := &bearer{"bearer " + text, issued, issued.Add(a.config.Renew), version}
	a.ready.Store(b)
	return b, nil
}

// Expired is for the answer ExpiredProviderToken to a request that bore an authorization. It tells whether sending the
// request again has a point: the token was renewed, now or since. A token is renewed before its time once in 20
// minutes, whoever asks: if it has expired again by then, our clock is wrong, and the answer is false.
func (a *Apple) Expired(authorization string) bool {
	key, version, err := a.file.Get()
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if b := a.ready.Load(); b != nil && b.text != authorization {
		return true
	}
	now := a.now()
	if since := now.Sub(a.forced); !a.forced.IsZero() && since >= 0 && since < appleUpdates {
		return false
	}
	a.forced = now
	// the stretches begin anew, so that the next renewal is not soon
	a.phase = time.Duration(now.Truncate(time.Second).UnixNano()) % a.config.Renew
	_, err = a.make(key, version, now.Truncate(time.Second))
	return err == nil
}

// TooManyUpdates is for the answer TooManyProviderTokenUpdates. The token stays; the result is how long nothing should
// be sent with it, from a minute to twenty: longer each time that a rest has not helped.
func (a *Apple) TooManyUpdates() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	since := now.Sub(a.rested)
	switch {
	case a.rest == 0 || since < 0 || since > a.rest+appleUpdates:
		a.rest = firstRest
	case since < a.rest:
		return a.rest - since // this rest has not ended: the answer is to an earlier request
	default:
		a.rest = min(2*a.rest, appleUpdates)
	}
	a.rested = now
	return a.rest
}

// Trouble says why the key file as it stands cannot be used; nil when it can. The last good key goes on.
func (a *Apple) Trouble() error { return a.file.Trouble() }
