package token

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"github.com/hikyaku/hikyaku/internal/message"
)

const (
	fetchTime   = 20 * time.Second // for one access token
	aheadMost   = 10 * time.Minute // before a token ends, the next one is fetched
	firstPause  = time.Second      // after a fetch that failed, with full jitter
	longestWait = time.Minute
)

// ErrClosed is what a keeper answers after Close.
var ErrClosed = errors.New("the keeper of access tokens is closed")

// ErrLate is the error of who did not wait any longer for an access token.
var ErrLate = errors.New("no access token came in time")

// A FetchError says that no access token was to be had. It passes, or wants the account or the clock to be put right.
type FetchError struct {
	Account string
	Err     error
	After   time.Duration // before which nobody asks again
	Final   bool          // the token endpoint refused the account
}

func (e *FetchError) Error() string {
	return fmt.Sprintf("access token for %s: %v", e.Account, e.Err)
}

// Unwrap is what went wrong.
func (e *FetchError) Unwrap() error { return e.Err }

// Passing tells whether an error may pass by itself: that of a fetch that was not refused, or of a connection.
func Passing(err error) bool {
	var key *KeyError
	var fetch *FetchError
	if errors.As(err, &fetch) {
		return !fetch.Final
	}
	return !errors.As(err, &key) && !errors.Is(err, ErrClosed) && !errors.Is(err, context.Canceled)
}

// OAuthConfig describes a service account.
type OAuthConfig struct {
	File   string       // its key, as JSON
	Scopes []string     // what its tokens are good for
	URL    string       // of the token endpoint, instead of the file's
	Client *http.Client // that asks for tokens; nil: http.DefaultClient
	Now    func() time.Time
}

// OAuth keeps the access token of a service account, or of a client with a secret. It is fetched when it is first
// wanted, and again before it ends, by one goroutine at a time; nobody else waits while an old one is good.
type OAuth struct {
	credential func() (*credential, uint64, error)
	trouble    func() error
	client     *http.Client
	now        func() time.Time
	ctx        context.Context
	cancel     context.CancelFunc
	all        sync.WaitGroup

	mu       sync.Mutex
	token    string // of the authorization field; "": none
	fetched  time.Time
	ahead    time.Time
	ends     time.Time
	version  uint64 // of the key that it was fetched with
	fetching bool
	pause    time.Duration // after the last failure
	next     time.Time     // before which nobody asks
	failure  *FetchError
	waiting  []func(string, error)
	closed   bool
}

// credential is what a token is asked for with.
type credential struct {
	name    string // whose, for errors
	project string // of a service account
	source  func(ctx context.Context) oauth2.TokenSource
}

// NewOAuth makes a keeper for a service account. Close it.
func NewOAuth(c OAuthConfig) (*OAuth, error) {
	if c.File == "" {
		return nil, errors.New("service account: the key file is missing")
	}
	file := NewFile(c.File, ParseAccount, c.Now)
	o := newOAuth(c.Client, c.Now, file.Trouble)
	o.credential = func() (*credential, uint64, error) {
		a, version, err := file.Get()
		if err != nil {
			return nil, 0, err
		}
		grant := jwt.Config{Email: a.Email, PrivateKey: []byte(a.Key), PrivateKeyID: a.KeyID, Scopes: c.Scopes,
			TokenURL: cmp.Or(c.URL, a.URL)}
		return &credential{a.Email, a.Project, grant.TokenSource}, version, nil
	}
	return o, nil
}

func newOAuth(client *http.Client, now func() time.Time, trouble func() error) *OAuth {
	o := &OAuth{client: cmp.Or(client, http.DefaultClient), now: now, trouble: trouble}
	if now == nil {
		o.now = time.Now
	}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	return o
}

// Project is the project of the service account, as its file says.
func (o *OAuth) Project() (string, error) {
	c, _, err := o.credential()
	if err != nil {
		return "", err
	}
	return c.project, nil
}

// Use calls done once with the value of the authorization field: at once when there is a good token, else when it has
// been fetched, or could not be. The error is a *KeyError, a *FetchError or ErrClosed. done must be quick, and may be
// called from another goroutine.
func (o *OAuth) Use(done func(authorization string, err error)) {
	from, version, err := o.credential()
	if err != nil {
		done("", err)
		return
	}
	o.mu.Lock()
	now := o.now()
	good := o.token != "" && now.Before(o.ends)
	switch {
	case o.closed:
		o.mu.Unlock()
		done("", ErrClosed)
	case good:
		text := o.token
		if (!now.Before(o.ahead) || o.version != version) && !now.Before(o.next) {
			o.fetch(from, version)
		}
		o.mu.Unlock()
		done(text, nil)
	case !o.fetching && now.Before(o.next) && o.failure != nil:
		failure := *o.failure
		failure.After = o.next.Sub(now)
		o.mu.Unlock()
		done("", &failure)
	default:
		o.waiting = append(o.waiting, done)
		o.fetch(from, version)
		o.mu.Unlock()
	}
}

// UseBy is Use for who waits until deadline at most: then done is called with ErrLate.
func (o *OAuth) UseBy(deadline time.Time, done func(authorization string, err error)) {
	var (
		mu     sync.Mutex
		over   bool
		waited *time.Timer
	)
	first := func(authorization string, err error) { // of the two that may come
		mu.Lock()
		was := over
		over = true
		if waited != nil {
			waited.Stop()
		}
		mu.Unlock()
		if !was {
			done(authorization, err)
		}
	}
	o.Use(first)
	mu.Lock()
	defer mu.Unlock()
	if !over {
		waited = time.AfterFunc(time.Until(deadline), func() { first("", ErrLate) })
	}
}

// fetch begins to fetch a token, unless somebody does. o.mu is held.
func (o *OAuth) fetch(from *credential, version uint64) {
	if o.fetching || o.closed {
		return
	}
	o.fetching = true
	o.all.Go(func() {
		t, err := o.ask(from)
		o.mu.Lock()
		o.fetching = false
		if err == nil {
			o.take(t, version)
		} else {
			o.fail(from, err)
		}
		text, failure, waiting := o.token, o.failure, o.waiting
		o.waiting = nil
		o.mu.Unlock()
		for _, done := range waiting {
			if err == nil {
				done(text, nil)
			} else {
				done("", failure)
			}
		}
	})
}

// ask fetches a token.
func (o *OAuth) ask(from *credential) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(o.ctx, fetchTime)
	defer cancel()
	client := *o.client
	client.Transport = bound{ctx, client.Transport}
	return from.source(context.WithValue(ctx, oauth2.HTTPClient, &client)).Token()
}

// bound makes requests end with a context: the library makes its own without one.
type bound struct {
	ctx context.Context
	to  http.RoundTripper
}

// RoundTrip sends a request.
func (b bound) RoundTrip(r *http.Request) (*http.Response, error) {
	to := b.to
	if to == nil {
		to = http.DefaultTransport
	}
	return to.RoundTrip(r.WithContext(b.ctx))
}

// take puts a token to use. o.mu is held.
func (o *OAuth) take(t *oauth2.Token, version uint64) {
	now := o.now()
	life := time.Until(t.Expiry)
	if t.Expiry.IsZero() {
		life = time.Hour
	}
	o.token, o.version = t.Type()+" "+t.AccessToken, version
	o.ends = now.Add(life - min(life/10, 30*time.Second)) // a request takes its time
	o.ahead = now.Add(life - min(life/4, aheadMost))
	o.pause, o.next, o.failure = 0, time.Time{}, nil
	o.fetched = o.now()
}

// Age is how long ago the present token was fetched; 0: there is none.
func (o *OAuth) Age() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.token == "" {
		return 0
	}
	return max(0, o.now().Sub(o.fetched))
}

// fail remembers why there is no token, and keeps everybody from asking again at once. o.mu is held.
func (o *OAuth) fail(from *credential, err error) {
	o.pause = min(max(2*o.pause, firstPause), longestWait)
	wait := o.pause/2 + rand.N(o.pause/2)
	o.next = o.now().Add(wait)
	o.failure = &FetchError{Account: from.name, Err: err, After: wait}
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil {
		code := refused.Response.StatusCode
		o.failure.Final = code == http.StatusBadRequest || code == http.StatusUnauthorized ||
			code == http.StatusForbidden
		o.failure.Err = errors.New(strings.TrimSpace(fmt.Sprintf("the token endpoint answered %d %s", code,
			refusal(refused.Body))))
	}
}

const mostRefusal = 200 // bytes of what a token endpoint said that are shown

// refusal is what a token endpoint said, on one line; "": it said nothing that is known. The standard has a text for
// the error, and Huawei a number.
func refusal(body []byte) string {
	var said struct {
		Error       json.RawMessage `json:"error"`
		Description json.RawMessage `json:"error_description"`
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	text := strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(plain(said.Error)+" "+plain(said.Description), "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > mostRefusal {
		text = message.Shorten(text, mostRefusal-len("…"))
	}
	return text
}

// plain is a text in JSON without its quotes, or other JSON as it is.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// Refused is for an answer that an authorization is not good: the token is fetched anew for the next request.
func (o *OAuth) Refused(authorization string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.token == authorization {
		o.token = ""
	}
}

// Trouble says why the key file as it stands cannot be used; nil when it can. The last good key goes on.
func (o *OAuth) Trouble() error { return o.trouble() }

// Close ends a fetch under way, whose waiters are told, and waits for it.
func (o *OAuth) Close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.cancel()
	o.all.Wait()
}

// Failed says of an error of Use after what time there is a point in asking again (0: any), and whether the token
// endpoint has refused who asked.
func Failed(err error) (after time.Duration, final bool) {
	var failed *FetchError
	if errors.As(err, &failed) {
		return failed.After, failed.Final
	}
	return 0, false
}
