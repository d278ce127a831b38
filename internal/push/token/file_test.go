package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestReplacedKeyIsUsedWithoutARestart(t *testing.T) {
	_, first := newP8(t)
	key, second := newP8(t)
	path, c := keyPath(t), newClock()
	write(t, path, first)
	a := newApple(t, c, path)
	old := authorization(t, a)
	write(t, path, second)
	if authorization(t, a) != old {
		t.Error("the file was looked at twice within a second")
	}
	c.pass(2 * time.Second)
	verified(t, strings.TrimPrefix(authorization(t, a), "bearer "), key)
}

func TestOldKeyGoesOnWhileTheNewOneIsBroken(t *testing.T) {
	_, first := newP8(t)
	key, second := newP8(t)
	path, c := keyPath(t), newClock()
	write(t, path, first)
	a := newApple(t, c, path)
	old := authorization(t, a)
	for name, text := range map[string][]byte{"empty": nil, "rubbish": []byte("rubbish"),
		"torn": first[:len(first)/2]} {
		write(t, path, text)
		c.pass(2 * time.Second)
		if authorization(t, a) != old {
			t.Errorf("%s: the token changed", name)
		}
		if err := a.Trouble(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: the trouble is %v", name, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	c.pass(2 * time.Second)
	if authorization(t, a) != old || !errors.Is(a.Trouble(), os.ErrNotExist) {
		t.Errorf("a missing file: trouble %v", a.Trouble())
	}
	write(t, path, second)
	c.pass(2 * time.Second)
	verified(t, strings.TrimPrefix(authorization(t, a), "bearer "), key)
	if err := a.Trouble(); err != nil {
		t.Errorf("mended, and still: %v", err)
	}
}

func TestKeysOfEveryUsualFormAreRead(t *testing.T) {
	key, text := newP8(t)
	raw, err := key.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string][]byte{"pkcs8": text, "base64url": []byte(base64URL(raw)),
		"padded": []byte(base64URL(raw) + "=\n")}
	for name, text := range forms {
		got, err := ParseVAPID(text)
		if err != nil || !got.Equal(key) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrongKeysAreNamedForWhatTheyAre(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string][]byte{
		"empty":       []byte(" \n"),
		"P-384":       p8(t, p384),
		"another":     p8(t, r),
		"passphrase":  []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"),
		"no private":  []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
		"cannot be r": []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
	} {
		if _, err := ParseP8(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestWrongServiceAccountsAreNamedForWhatTheyAre(t *testing.T) {
	_, ec := newP8(t)
	for want, a := range map[string]any{
		"no JSON":      "text",
		"client_email": Account{Key: "x"},
		"private_key":  Account{Email: "x@example.com"},
		"authorized":   Account{Type: "authorized_user"},
		"RSA":          Account{Email: "x@example.com", Key: string(ec)},
		"token_uri":    Account{Email: "x@example.com", Key: string(ec), URL: "nowhere"},
	} {
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseAccount(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte(`{"type":"service_account","client_email":"a@b","private_key":"-----BEGIN PRIVATE KEY-----\n"}`))
	f.Add([]byte("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if k, err := ParseP8(text); (k == nil) == (err == nil) {
			t.Errorf("ParseP8: %v, %v", k, err)
		}
		if k, err := ParseVAPID(text); (k == nil) == (err == nil) {
			t.Errorf("ParseVAPID: %v, %v", k, err)
		}
		if a, err := ParseAccount(text); (a == nil) == (err == nil) {
			t.Errorf("ParseAccount: %v, %v", a, err)
		}
	})
}
