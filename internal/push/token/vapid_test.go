package token

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func base64URL(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func newVAPID(t *testing.T, c *clock, path string) *VAPID {
	t.Helper()
	v, err := NewVAPID(VAPIDConfig{File: path, Subject: "mailto:push@example.com", Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVAPIDTokenIsForItsPushServiceAndHalfADay(t *testing.T) {
	key, text := newP8(t)
	path, c := keyPath(t), newClock()
	write(t, path, text)
	v := newVAPID(t, c, path)
	endpoint, err := url.Parse("https://push.example.net/send/abc?x=y")
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.Authorization(Audience(endpoint))
	if err != nil {
		t.Fatal(err)
	}
	raw, public, ok := strings.Cut(strings.TrimPrefix(got, "vapid t="), ", k=")
	if want, err := v.Public(); !ok || err != nil || public != want {
		t.Fatalf("%q: %v", got, err)
	}
	claims := verified(t, raw, key).Claims.(jwt.MapClaims)
	expires, err := claims.GetExpirationTime()
	if err != nil || claims["aud"] != "https://push.example.net" || claims["sub"] != "mailto:push@example.com" {
		t.Fatalf("%v: %v", claims, err)
	}
	if left := expires.Sub(c.now()); left > 24*time.Hour || left < time.Hour {
		t.Errorf("good for %v", left)
	}
}

func TestVAPIDTokensAreKeptAndRenewedBeforeTheyEnd(t *testing.T) {
	_, text := newP8(t)
	path, c := keyPath(t), newClock()
	write(t, path, text)
	v := newVAPID(t, c, path)
	ask := func(audience string) string {
		got, err := v.Authorization(audience)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := ask("https://a.example")
	c.pass(9 * time.Hour)
	if ask("https://a.example") != first {
		t.Error("renewed after 9 hours")
	}
	if ask("https://b.example") == first {
		t.Error("one token for two push services")
	}
	c.pass(2 * time.Hour)
	second := ask("https://a.example")
	if second == first {
		t.Error("not renewed after 11 hours")
	}
	c.pass(time.Second)
	v.Refused("https://a.example", first)
	if ask("https://a.example") != second {
		t.Error("a late refusal of the first token took the second one away")
	}
	v.Refused("https://a.example", second)
	if ask("https://a.example") == second {
		t.Error("a refused token is used again")
	}
}

func TestVAPIDKeepsNoMoreThanItsBound(t *testing.T) {
	_, text := newP8(t)
	path := keyPath(t)
	write(t, path, text)
	v := newVAPID(t, newClock(), path)
	for i := range maxAudiences + 10 {
		if _, err := v.Authorization(fmt.Sprintf("https://%d.example", i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(v.tokens) > maxAudiences {
		t.Errorf("%d tokens are kept", len(v.tokens))
	}
}

func TestVAPIDTokensAreNewWithANewKey(t *testing.T) {
	_, first := newP8(t)
	_, second := newP8(t)
	path, c := keyPath(t), newClock()
	write(t, path, first)
	v := newVAPID(t, c, path)
	old, err := v.Authorization("https://a.example")
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, second)
	c.pass(2 * time.Second)
	now, err := v.Authorization("https://a.example")
	public, _ := v.Public()
	if err != nil || now == old || !strings.HasSuffix(now, public) {
		t.Errorf("%s: %v", now, err)
	}
}

func TestVAPIDWantsASubjectThatCanBeReached(t *testing.T) {
	for _, subject := range []string{"", "push@example.com", "http://example.com"} {
		if _, err := NewVAPID(VAPIDConfig{File: "f", Subject: subject}); err == nil {
			t.Errorf("%q was taken", subject)
		}
	}
}
