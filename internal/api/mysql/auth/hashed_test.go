package auth_test

import (
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/access"
)

func TestAHashedSecretOpensToThoseWhoSendIt(t *testing.T) {
	hashed := access.Secret(access.HashSecret(annSecret))
	fresh := func() *access.Users {
		users, err := access.New([]access.User{{Name: "ann", SecretHash: []access.Secret{hashed}},
			{Name: "bob", Secret: bobSecret}})
		if err != nil {
			t.Fatal(err)
		}
		return users
	}
	everyWay(t, fresh, func(t *testing.T, _ string, take func(*mysql.Config)) {
		for range 2 {
			if got, err := who(t, take, "ann", annSecret); err != nil || got != "ann" {
				t.Errorf("ann is %q: %v", got, err)
			}
			if got, err := who(t, take, "bob", bobSecret); err != nil || got != "bob" {
				t.Errorf("bob is %q: %v", got, err)
			}
		}
		for _, c := range [][2]string{{"ann", wrongSecret}, {"ann", ""}, {"eve", annSecret}, {"bob", annSecret}} {
			if got, err := who(t, take, c[0], c[1]); err == nil {
				t.Errorf("%q comes in as %s", c, got)
			}
		}
	})
}

func TestWrongPasswordsAreCountedAndLogged(t *testing.T) {
	var mu sync.Mutex
	counts := map[string]int{}
	users := someUsers(t)
	var logged []access.Failure
	users.Watch(func(door, reason string) { mu.Lock(); defer mu.Unlock(); counts[door+" "+reason]++ },
		func(f access.Failure) { logged = append(logged, f) })
	everyWay(t, func() *access.Users { return users }, func(t *testing.T, _ string, take func(*mysql.Config)) {
		mu.Lock()
		clear(counts)
		mu.Unlock()
		if _, err := who(t, take, "ann", wrongSecret); err == nil {
			t.Error("a wrong password opens")
		}
		mu.Lock()
		defer mu.Unlock()
		if counts["mysql secret"] != 1 || len(counts) != 1 {
			t.Errorf("counted: %v", counts)
		}
	})
	if len(logged) == 0 || logged[0].Name != "ann" || logged[0].Address != "127.0.0.1" {
		t.Errorf("logged: %+v", logged)
	}
}
