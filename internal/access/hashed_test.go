package access_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
)

func TestAHashServesWhereTheSecretIsSent(t *testing.T) {
	us := list(t,
		access.User{Name: "ann", SecretHash: []access.Secret{access.Secret(access.HashSecret("secret of ann"))}},
		access.User{Name: "bob", Secret: "secret of bob"},
	)
	for range 2 { // computed, and then remembered
		for _, token := range []string{"secret of ann", "ann:secret of ann"} {
			if u, ok := byToken(us, token); !ok || u.Name != "ann" {
				t.Errorf("%s finds nobody", token)
			}
		}
		if u, ok := byPassword(us, "ann", "secret of ann"); !ok || u.Name != "ann" {
			t.Error("the password finds nobody")
		}
		for _, wrong := range []string{"secret of anna", "ann:secret of bob", "bob:secret of ann", "eve:secret of ann",
			"secret of"} {
			if u, ok := byToken(us, wrong); ok {
				t.Errorf("%s finds %s", wrong, u.Name)
			}
		}
		for _, wrong := range [][2]string{{"ann", "secret of bob"}, {"bob", "secret of ann"}, {"eve", "secret of ann"},
			{"", "secret of ann"}} {
			if u, ok := byPassword(us, wrong[0], wrong[1]); ok {
				t.Errorf("%q finds %s", wrong, u.Name)
			}
		}
	}
	ann, _ := us.Named("ann")
	if !ann.HashOnly() || len(ann.Known()) != 0 {
		t.Error("it is not told that only the hash is known")
	}
	if text, ok := ann.Unseal(ann.Seal("text")); !ok || text != "text" {
		t.Error("seals do not open")
	}
}

// The hash was made by the reference implementation: echo -n "correct horse" | argon2 somesalt12345678 -id -t 2 -k 1024
// -p 2 -l 24 -e is of the same form.
func TestHashesThatCannotBeAreRefusedWithoutBeingShown(t *testing.T) {
	good := access.HashSecret("correct horse")
	parts := strings.Split(good, "$")
	for _, bad := range []string{
		"", "$argon2i$" + strings.Join(parts[2:], "$"), strings.Replace(good, "v=19", "v=16", 1),
		strings.Replace(good, "m=19456", "m=9999999", 1),
		strings.Replace(good, "t=2", "t=1000", 1), strings.Replace(good, "t=2", "t=0", 1),
		strings.Replace(good, "p=1", "p=300", 1), good + "$x", good[:len(good)-40],
		strings.Replace(good, "m=19456,t=2", "t=2,m=19456", 1), "plain-secret",
		strings.Replace(good, "m=19456", "m=4", 1),
	} {
		_, err := access.New([]access.User{{Name: "ann", SecretHash: []access.Secret{access.Secret(bad)}}})
		if !errors.Is(err, access.ErrUsers) {
			t.Errorf("%s is taken", bad)
		} else if strings.Contains(err.Error(), parts[5]) || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("the hash is shown: %v", err)
		}
	}
}

func FuzzSecretHash(f *testing.F) {
	f.Add("$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$$")
	f.Fuzz(func(t *testing.T, text string) {
		us, err := access.New([]access.User{{Name: "ann", SecretHash: []access.Secret{access.Secret(text)}}})
		if (err == nil) != (us != nil) || err != nil && !errors.Is(err, access.ErrUsers) {
			t.Errorf("%v", err)
		}
	})
}

func TestSecretsAreReplacedWithoutARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	until := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !done(); {
			if time.Now().After(end) {
				t.Fatal(what)
			}
			time.Sleep(250 * time.Millisecond) // a look at the file is good for a second, and guesses cost
		}
	}
	comesIn := func(us *access.Users, secret string) bool { _, ok := byPassword(us, "ann", secret); return ok }
	write("the first secret\n")
	us := list(t, access.User{Name: "ann", SecretFile: path, Grants: []access.Grant{grant("put", "*")}})
	reports := make(chan error, 1000)
	us.Follow(func(err error) { reports <- err })
	if !comesIn(us, "the first secret") {
		t.Fatal("the file's secret is not taken")
	}
	ann, _ := us.Named("ann")
	sealed := ann.Seal("text")
	write("the first secret\r\n\n" + access.HashSecret("the second secret") + "\n")
	until("the new secret is not taken", func() bool { return comesIn(us, "the second secret") })
	if !comesIn(us, "the first secret") {
		t.Error("the old secret has ended too early")
	}
	write(access.HashSecret("the second secret") + "\nthe first secret")
	until("the order is not read again", func() bool { now, _ := us.Named("ann"); return now.Seal("text") != sealed })
	if now, _ := us.Named("ann"); now != nil {
		if _, ok := now.Unseal(sealed); !ok {
			t.Error("what was sealed with the old secret does not open while it is there")
		}
	}
	write("short")
	until("nobody is told that the file is wrong",
		func() bool { comesIn(us, "the second secret"); return len(reports) > 0 })
	if err := <-reports; !strings.Contains(err.Error(), "user ann") || strings.Contains(err.Error(), "short\n") {
		t.Errorf("told: %v", err)
	}
	if !comesIn(us, "the second secret") {
		t.Error("a file that is wrong has locked the user out")
	}
	write("another secret")
	until("the old secret does not end",
		func() bool { return !comesIn(us, "the second secret") && comesIn(us, "another secret") })
}

func TestUsersAreReplacedWhileTheyComeIn(t *testing.T) {
	us := list(t, access.User{Name: "ann", Secret: "secret of ann", Grants: []access.Grant{grant("put", "news")}})
	ann, _ := us.Named("ann")
	if err := us.Replace(nil); !errors.Is(err, access.ErrAnyOrNone) {
		t.Errorf("all users are gone: %v", err)
	}
	if err := us.Replace([]access.User{{Name: "ann", Secret: "x"}}); !errors.Is(err, access.ErrUsers) {
		t.Errorf("%v", err)
	}
	if _, ok := byToken(us, "secret of ann"); !ok || !us.Allowed(ann, access.Put, name(t, "news")) {
		t.Error("a list that is wrong has changed something")
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				byToken(us, "secret of ann")
			}
		}
	})
	if err := us.Replace([]access.User{{Name: "ann", Secrets: []access.Secret{"a new secret", "and another"},
		Grants: []access.Grant{grant("take", "news")}}}); err != nil {
		t.Fatal(err)
	}
	close(stop)
	all.Wait()
	if _, ok := byToken(us, "secret of ann"); ok {
		t.Error("the old secret is good")
	}
	if _, ok := byToken(us, "and another"); !ok {
		t.Error("the new secret is not good")
	}
	if us.Allowed(ann, access.Put, name(t, "news")) || !us.Allowed(ann, access.Take, name(t, "news")) {
		t.Error("who came in before has the old grants")
	}
}
