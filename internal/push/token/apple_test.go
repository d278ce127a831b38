package token

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"pgregory.net/rapid"
)

func newApple(t *testing.T, c *clock, path string) *Apple {
	t.Helper()
	a, err := NewApple(AppleConfig{Team: "TEAM123456", Key: "KEY1234567", File: path, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func authorization(t *testing.T, a *Apple) string {
	t.Helper()
	text, err := a.Authorization()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAppleTokenIsWhatAppleAsksFor(t *testing.T) {
	key, text := newP8(t)
	path, c := keyPath(t), newClock()
	write(t, path, text)
	bearer := authorization(t, newApple(t, c, path))
	raw, ok := strings.CutPrefix(bearer, "bearer ")
	if !ok {
		t.Fatalf("%q is no bearer token", bearer)
	}
	parsed := verified(t, raw, key)
	if parsed.Header["kid"] != "KEY1234567" || parsed.Header["alg"] != "ES256" {
		t.Errorf("header %v", parsed.Header)
	}
	claims := parsed.Claims.(jwt.MapClaims)
	issued, err := claims.GetIssuedAt()
	if claims["iss"] != "TEAM123456" || err != nil || issued == nil {
		t.Fatalf("claims %v: %v", claims, err)
	}
	if age := c.now().Sub(issued.Time); age < 0 || age > 55*time.Minute {
		t.Errorf("issued %v ago", age)
	}
}

func TestAppleTokenChangesBetween20And60Minutes(t *testing.T) {
	_, text := newP8(t)
	path := keyPath(t)
	write(t, path, text)
	rapid.Check(t, func(rt *rapid.T) {
		c := newClock()
		a, err := NewApple(AppleConfig{
			Team: rapid.StringN(1, 10, -1).Draw(rt, "team"), Key: "K", File: path, Now: c.now,
			Renew: time.Duration(rapid.IntRange(21*60, 55*60).Draw(rt, "renew")) * time.Second,
		})
		if err != nil {
			rt.Fatal(err)
		}
		var last time.Time // when the token in use was issued
		for range 100 {
			text, err := a.Authorization()
			if err != nil {
				rt.Fatal(err)
			}
			issued := claimTime(rt, text)
			if apart := issued.Sub(last); !last.IsZero() && apart != 0 && apart < 20*time.Minute {
				rt.Fatalf("two tokens %v apart", apart)
			}
			last = issued
			if age := c.now().Sub(issued); age < 0 || age >= time.Hour {
				rt.Fatalf("a token %v old", age)
			}
			if rapid.IntRange(0, 40).Draw(rt, "expired") == 0 && a.Expired(text) {
				last = claimTime(rt, authorizationOf(rt, a)) // the far end asked for it
			}
			c.pass(time.Duration(rapid.IntRange(1, 600).Draw(rt, "pass")) * time.Second)
		}
	})
}

func authorizationOf(t *rapid.T, a *Apple) string {
	text, err := a.Authorization()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func claimTime(t *rapid.T, bearer string) time.Time {
	var claims jwt.RegisteredClaims
	if _, _, err := jwt.NewParser().ParseUnverified(strings.TrimPrefix(bearer, "bearer "), &claims); err != nil {
		t.Fatal(err)
	}
	return claims.IssuedAt.Time
}

func TestAppleTokenIsTheSameForEverybodyWhoHoldsTheKey(t *testing.T) {
	_, text := newP8(t)
	one, two, c := keyPath(t), keyPath(t), newClock()
	write(t, one, text)
	write(t, two, text)
	first := newApple(t, c, one)
	want := authorization(t, first)
	c.pass(time.Second)
	if got := authorization(t, newApple(t, c, two)); got != want && got != authorization(t, first) {
		t.Errorf("a second keeper has another token:\n%s\n%s", got, want)
	}
}

func TestAppleTokenIsMadeOnceForAllWhoAskAtOnce(t *testing.T) {
	_, text := newP8(t)
	path, c := keyPath(t), newClock()
	write(t, path, text)
	a := newApple(t, c, path)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]bool{}
	for range 50 {
		wg.Go(func() {
			text, err := a.Authorization()
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[text] = true
		})
	}
	wg.Wait()
	if len(seen) != 1 {
		t.Errorf("%d tokens at once", len(seen))
	}
}

func TestExpiredProviderTokenRenewsOnce(t *testing.T) {
	_, text := newP8(t)
	path, c := keyPath(t), newClock()
	write(t, path, text)
	a := newApple(t, c, path)
	first := authorization(t, a)
	c.pass(7 * time.Second)
	if !a.Expired(first) {
		t.Fatal("it was not renewed")
	}
	second := authorization(t, a)
	if second == first {
		t.Fatal("the renewed token is the old one")
	}
	if !a.Expired(first) || authorization(t, a) != second {
		t.Error("a late answer to the first token changed the second one")
	}
	c.pass(time.Minute)
	if a.Expired(second) {
		t.Error("renewed a second time within 20 minutes")
	}
	if authorization(t, a) != second {
		t.Error("the token changed")
	}
	c.pass(19 * time.Minute)
	if authorization(t, a) != second {
		t.Error("the token changed within 20 minutes of the renewal")
	}
	c.pass(25 * time.Minute)
	if authorization(t, a) == second {
		t.Error("after 45 minutes it is still the same token")
	}
}

func TestTooManyUpdatesKeepsTheTokenAndRestsLonger(t *testing.T) {
	_, text := newP8(t)
	path, c := keyPath(t), newClock()
	write(t, path, text)
	a := newApple(t, c, path)
	token := authorization(t, a)
	if rest := a.TooManyUpdates(); rest != time.Minute {
		t.Errorf("rests for %v", rest)
	}
	c.pass(10 * time.Second)
	if rest := a.TooManyUpdates(); rest != 50*time.Second {
		t.Errorf("another answer of the same time: rests for %v", rest)
	}
	if authorization(t, a) != token {
		t.Error("the token changed")
	}
	c.pass(time.Minute)
	if rest := a.TooManyUpdates(); rest != 2*time.Minute {
		t.Errorf("the second rest is %v", rest)
	}
	for range 10 {
		c.pass(20 * time.Minute)
		if rest := a.TooManyUpdates(); rest > 20*time.Minute {
			t.Errorf("rests for %v", rest)
		}
	}
	c.pass(time.Hour)
	if rest := a.TooManyUpdates(); rest != time.Minute {
		t.Errorf("after an hour in peace it rests for %v", rest)
	}
}

func TestAppleTokenSurvivesAClockThatIsSetBack(t *testing.T) {
	_, text := newP8(t)
	path, c := keyPath(t), newClock()
	write(t, path, text)
	a := newApple(t, c, path)
	authorization(t, a)
	c.pass(-5 * time.Hour)
	bearer := authorization(t, a)
	var claims jwt.RegisteredClaims
	if _, _, err := jwt.NewParser().ParseUnverified(strings.TrimPrefix(bearer, "bearer "), &claims); err != nil {
		t.Fatal(err)
	}
	if age := c.now().Sub(claims.IssuedAt.Time); age < 0 || age > time.Hour {
		t.Errorf("the token is %v old", age)
	}
}

func TestAppleRefusesWrongSettings(t *testing.T) {
	for name, c := range map[string]AppleConfig{
		"team":  {Key: "k", File: "f"},
		"id":    {Team: "t", File: "f"},
		"file":  {Team: "t", Key: "k"},
		"renew": {Team: "t", Key: "k", File: "f", Renew: time.Minute},
	} {
		if _, err := NewApple(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without a good %s: %v", name, err)
		}
	}
}

func TestMissingKeyNamesTheFile(t *testing.T) {
	path := keyPath(t)
	_, err := newApple(t, newClock(), path).Authorization()
	var bad *KeyError
	if !errors.As(err, &bad) || bad.File != path || strings.Count(err.Error(), path) != 1 {
		t.Errorf("the error is %v", err)
	}
}
