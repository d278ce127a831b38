package tsurugi_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

func TestAFileOfCredentialsLetsIn(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{Users: map[string]string{"tsurugi": "password"}})
	for _, c := range []struct {
		password string
		expires  time.Time
		ok       bool
	}{
		{"password", time.Time{}, true},
		{"password", time.Now().Add(time.Hour), true},
		{"password", time.Now().Add(-time.Hour), false},
		{"another", time.Time{}, false},
	} {
		sealed, err := server.Seal("tsurugi", c.password, c.expires)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "credentials.key")
		if err := os.WriteFile(path, []byte(sealed+"\nexpires some day\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		credential, err := tsurugi.CredentialFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := tsurugi.Connect(t.Context(), server.Endpoint(), tsurugi.Config{Credential: credential})
		var e *tsurugi.Error
		switch {
		case c.ok && err != nil:
			t.Errorf("%+v: %v", c, err)
		case !c.ok && (!errors.As(err, &e) || e.Code != tsurugi.CodeAuthenticationError):
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil {
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	for _, text := range []string{"", "\nx", "no base64!"} {
		path := filepath.Join(t.TempDir(), "credentials.key")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tsurugi.CredentialFile(path); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if _, err := tsurugi.CredentialFile(filepath.Join(t.TempDir(), "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
