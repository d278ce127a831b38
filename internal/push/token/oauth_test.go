package token

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// issuer is a token endpoint that checks the grant and counts.
type issuer struct {
	*httptest.Server
	key    *rsa.PrivateKey
	asked  atomic.Int64
	fail   atomic.Int64  // status to answer with
	hold   chan struct{} // nil: answers at once
	begun  chan struct{}
	expire atomic.Int64
}

func newIssuer(t *testing.T) (*issuer, []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key, begun: make(chan struct{}, 1000)}
	i.expire.Store(3600)
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	text, err := json.Marshal(Account{
		Type: "service_account", Project: "campaign", Email: "push@campaign.example", KeyID: "k1",
		Key: string(p8(t, key)), URL: i.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	return i, text
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := i.asked.Add(1)
	i.begun <- struct{}{}
	if i.hold != nil {
		select {
		case <-i.hold:
		case <-r.Context().Done():
			return
		}
	}
	if code := i.fail.Load(); code != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(code))
		fmt.Fprint(w, `{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`)
		return
	}
	claims := jwt.MapClaims{}
	_, err := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"})).ParseWithClaims(r.FormValue("assertion"), claims,
		func(*jwt.Token) (any, error) { return &i.key.PublicKey, nil })
	if err != nil || claims["iss"] != "push@campaign.example" || claims["scope"] != "send" {
		http.Error(w, fmt.Sprint(err, claims), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"access_token": fmt.Sprintf("t%d", n), "token_type": "Bearer",
		"expires_in": i.expire.Load()})
}

func keeperOf(t *testing.T, c *clock, path string) *OAuth {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	o, err := NewOAuth(OAuthConfig{File: path, Scopes: []string{"send"}, Client: client, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.Close()
		client.CloseIdleConnections()
	})
	return o
}

// use waits for Use's answer.
func use(o *OAuth) (string, error) {
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	o.Use(func(text string, err error) { got <- answer{text, err} })
	a := <-got
	return a.text, a.err
}

func TestAccessTokenIsFetchedOnceForAllWhoWait(t *testing.T) {
	i, account := newIssuer(t)
	i.hold = make(chan struct{})
	path := filepath.Join(t.TempDir(), "account.json")
	write(t, path, account)
	o := keeperOf(t, newClock(), path)
	var wg sync.WaitGroup
	for range 100 {
		wg.Add(1)
		o.Use(func(text string, err error) {
			defer wg.Done()
			if text != "Bearer t1" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	close(i.hold)
	wg.Wait()
	if n := i.asked.Load(); n != 1 {
		t.Errorf("%d tokens were fetched", n)
	}
	if p, err := o.Project(); p != "campaign" || err != nil {
		t.Errorf("project %q, %v", p, err)
	}
}

func TestAccessTokenIsRenewedAheadWhileTheOldOneIsUsed(t *testing.T) {
	i, account := newIssuer(t)
	path, c := filepath.Join(t.TempDir(), "account.json"), newClock()
	write(t, path, account)
	o := keeperOf(t, c, path)
	if text, err := use(o); text != "Bearer t1" || err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	<-i.begun
	c.pass(55 * time.Minute)
	if text, err := use(o); text != "Bearer t1" || err != nil {
		t.Fatalf("in its last minutes: %q, %v", text, err)
	}
	<-i.begun // somebody fetches the next one
	o.all.Wait()
	if text, err := use(o); text != "Bearer t2" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestRefusedAccountIsNotAskedForInAStorm(t *testing.T) {
	i, account := newIssuer(t)
	i.fail.Store(400)
	path, c := filepath.Join(t.TempDir(), "account.json"), newClock()
	write(t, path, account)
	o := keeperOf(t, c, path)
	for range 100 {
		_, err := use(o)
		var failed *FetchError
		if !errors.As(err, &failed) || !failed.Final || failed.After <= 0 {
			t.Fatalf("%v", err)
		}
	}
	if n := i.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	i.fail.Store(0)
	c.pass(2 * time.Second)
	if text, err := use(o); err != nil {
		t.Errorf("mended: %q, %v", text, err)
	}
}

func TestFailedRenewalLeavesTheOldTokenInUse(t *testing.T) {
	i, account := newIssuer(t)
	path, c := filepath.Join(t.TempDir(), "account.json"), newClock()
	write(t, path, account)
	o := keeperOf(t, c, path)
	use(o)
	i.fail.Store(503)
	c.pass(52 * time.Minute)
	for range 20 {
		if text, err := use(o); text != "Bearer t1" || err != nil {
			t.Fatalf("%q, %v", text, err)
		}
		o.all.Wait()
	}
	if n := i.asked.Load(); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

func TestRefusedAccessTokenIsFetchedAnew(t *testing.T) {
	_, account := newIssuer(t)
	path := filepath.Join(t.TempDir(), "account.json")
	write(t, path, account)
	o := keeperOf(t, newClock(), path)
	first, _ := use(o)
	o.Refused(first)
	second, err := use(o)
	if second == first || err != nil {
		t.Fatalf("%q, %v", second, err)
	}
	o.Refused(first) // late
	if third, _ := use(o); third != second {
		t.Error("a late refusal of the first token took the second one away")
	}
}

func TestCloseEndsAFetchUnderWay(t *testing.T) {
	i, account := newIssuer(t)
	i.hold = make(chan struct{})
	defer close(i.hold)
	path := filepath.Join(t.TempDir(), "account.json")
	write(t, path, account)
	o := keeperOf(t, newClock(), path)
	told := make(chan error, 1)
	o.Use(func(_ string, err error) { told <- err })
	<-i.begun
	o.Close()
	if err := <-told; err == nil {
		t.Error("a token came after all")
	}
	if _, err := use(o); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestWhoWaitsForATokenIsToldOnceByTheDeadline(t *testing.T) {
	i, account := newIssuer(t)
	i.hold = make(chan struct{})
	path := filepath.Join(t.TempDir(), "account.json")
	write(t, path, account)
	o := keeperOf(t, newClock(), path)
	told := make(chan error, 4)
	tell := func(_ string, err error) { told <- err }
	o.UseBy(time.Now().Add(time.Millisecond), tell)
	if err := <-told; !errors.Is(err, ErrLate) {
		t.Errorf("while no token comes: %v", err)
	}
	o.UseBy(time.Now().Add(time.Hour), tell)
	close(i.hold)
	if err := <-told; err != nil {
		t.Errorf("when a token comes: %v", err)
	}
	o.UseBy(time.Now().Add(-time.Hour), tell)
	if err := <-told; err != nil {
		t.Errorf("when there is a token: %v", err)
	}
	o.Close()
	if n := len(told); n != 0 {
		t.Errorf("%d answers too many", n)
	}
}
