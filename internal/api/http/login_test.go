package http

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
)

func TestWrongLoginsAreCountedAndThenSlowed(t *testing.T) {
	users, err := access.New([]access.User{{Name: "ann", Secret: "secret of ann"},
		{Name: "bob", SecretHash: []access.Secret{access.Secret(access.HashSecret("secret of bob"))}}})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	counts := map[string]int{}
	users.Watch(func(door, reason string) {
		mu.Lock()
		defer mu.Unlock()
		counts[door+" "+reason]++
	}, nil)
	s := &Server{users: users}
	try := func(address, token string) error {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = address
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		c := &call{d: s, w: newResponse(httptest.NewRecorder(), 0), r: r.WithContext(t.Context())}
		return s.admit(c, route{})
	}
	for _, token := range []string{"secret of ann", "secret of bob", "bob:secret of bob"} {
		if err := try("192.0.2.1:1", token); err != nil {
			t.Errorf("%s: %v", token, err)
		}
	}
	for range 30 {
		// nothing is guessed, nobody is slowed
		users.Proved(t.Context(), access.Attempt{Door: "test", Address: "192.0.2.2:1"}, "ann", access.BadProof)
	}
	for _, token := range []string{"wrong", ""} {
		if err := try("192.0.2.2:1", token); err == nil {
			t.Errorf("%q is let in", token)
		}
	}
	mu.Lock()
	if counts["http secret"] != 1 || counts["http missing"] != 1 {
		t.Error(counts)
	}
	mu.Unlock()
	done := make(chan error, 200)
	for range cap(done) {
		go func() { done <- try("192.0.2.3:1", "secret of bob?") }()
	}
	slow := 0
	for range cap(done) {
		if p, ok := problemOf(<-done); ok && p.Status == http.StatusTooManyRequests {
			slow++
		}
	}
	if slow < cap(done)/2 {
		t.Errorf("%d of %d guesses at once were refused unlooked at", slow, cap(done))
	}
	if err := try("192.0.2.1:2", "secret of ann"); err != nil {
		t.Errorf("ann, from elsewhere: %v", err)
	}
}
