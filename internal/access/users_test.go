package access_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func list(t *testing.T, users ...access.User) *access.Users {
	t.Helper()
	us, err := access.New(users)
	if err != nil {
		t.Fatal(err)
	}
	return us
}

func byToken(us *access.Users, token string) (*access.User, bool) {
	u, err := us.Token(context.Background(), access.Attempt{Door: "test"}, token)
	return u, err == nil
}

func byPassword(us *access.Users, name, secret string) (*access.User, bool) {
	u, err := us.Login(context.Background(), access.Attempt{Door: "test"}, name, secret)
	return u, err == nil
}

func grant(can, on string) access.Grant {
	return access.Grant{Can: strings.Fields(can), On: strings.Fields(on)}
}

func name(t *testing.T, s string) queue.Name {
	t.Helper()
	n, err := queue.ParseName(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWithoutUsersEveryoneMay(t *testing.T) {
	for what, us := range map[string]*access.Users{"nil": nil, "empty": list(t)} {
		if us.Any() {
			t.Errorf("%s: Any is true", what)
		}
		for _, a := range access.Actions() {
			if !us.Allowed(nil, a, name(t, "news")) || !us.AllowedAll(nil, a) {
				t.Errorf("%s: %s is refused", what, a)
			}
		}
		if !us.Visible(nil, name(t, "news")) {
			t.Errorf("%s: not visible", what)
		}
		if _, ok := byToken(us, "anything"); ok {
			t.Errorf("%s: a token names somebody", what)
		}
		if _, ok := byPassword(us, "a", "anything"); ok {
			t.Errorf("%s: a password names somebody", what)
		}
		if _, ok := us.Named("a"); ok {
			t.Errorf("%s: a name names somebody", what)
		}
	}
}

func TestAUserIsFoundByTokenPasswordAndName(t *testing.T) {
	us := list(t,
		access.User{Name: "ann", Secret: "secret of ann"},
		access.User{Name: "bob", Secret: "secret of bob"})
	if u, ok := byToken(us, "secret of bob"); !ok || u.Name != "bob" {
		t.Errorf("token of bob: %v, %v", u, ok)
	}
	for _, wrong := range []string{"", "secret of", "secret of bob ", "Secret of bob", "ann"} {
		if u, ok := byToken(us, wrong); ok {
			t.Errorf("token %q is %v", wrong, u)
		}
	}
	if u, ok := byPassword(us, "ann", "secret of ann"); !ok || u.Name != "ann" {
		t.Errorf("password of ann: %v, %v", u, ok)
	}
	for _, wrong := range [][2]string{{"ann", "secret of bob"}, {"eve", "secret of ann"}, {"", "secret of ann"},
		{"ann", ""}} {
		if u, ok := byPassword(us, wrong[0], wrong[1]); ok {
			t.Errorf("%q is %v", wrong, u)
		}
	}
	u, ok := us.Named("ann")
	if !ok || u.Secret.Reveal() != "secret of ann" {
		t.Errorf("by name: %v, %v", u, ok)
	}
	if _, ok := us.Named("eve"); ok {
		t.Error("eve was found")
	}
}

func TestGrantsAllowWhatTheyNameAndNothingElse(t *testing.T) {
	us := list(t,
		access.User{Name: "reader", Secret: "reader's",
			Grants: []access.Grant{grant("take", "default/news* shop/a*z")}},
		access.User{Name: "writer", Secret: "writer's",
			Grants: []access.Grant{grant("put", "news"), grant("put take", "*/open")}},
		access.User{Name: "boss", Secret: "boss's secret", Grants: []access.Grant{grant("put take admin", "*")}},
		access.User{Name: "idle", Secret: "idle's"})
	for _, c := range []struct {
		user, can, on string
		want          bool
	}{
		{"reader", "take", "news", true},
		{"reader", "take", "news_dead", true},
		{"reader", "take", "new", false},
		{"reader", "put", "news", false},
		{"reader", "admin", "news", false},
		{"reader", "take", "other/news", false},
		{"reader", "take", "shop/abcz", true},
		{"reader", "take", "shop/az", true},
		{"reader", "take", "shop/abc", false},
		{"writer", "put", "news", true},
		{"writer", "put", "news2", false},
		{"writer", "take", "news", false},
		{"writer", "take", "any/open", true},
		{"writer", "take", "open", true},
		{"boss", "admin", "any/thing", true},
		{"idle", "take", "news", false},
	} {
		u, ok := us.Named(c.user)
		if !ok {
			t.Fatal(c.user)
		}
		if got := us.Allowed(u, access.Action(c.can), name(t, c.on)); got != c.want {
			t.Errorf("%s %s on %s: %v", c.user, c.can, c.on, got)
		}
	}
	reader, _ := us.Named("reader")
	boss, _ := us.Named("boss")
	if us.AllowedAll(reader, access.Take) || !us.AllowedAll(boss, access.Admin) {
		t.Error("AllowedAll")
	}
	if !us.Visible(reader, name(t, "news")) || us.Visible(reader, name(t, "mail")) {
		t.Error("Visible")
	}
	if us.Allowed(nil, access.Put, name(t, "news")) {
		t.Error("nobody may put")
	}
	if us.Allowed(&access.User{Name: "stranger", Grants: []access.Grant{grant("put", "*")}}, access.Put,
		name(t, "news")) {
		t.Error("a user who is not in the list may put")
	}
}

func TestWrongUsersAreRefusedByName(t *testing.T) {
	ok := access.User{Name: "ann", Secret: "secret"}
	for _, c := range []struct {
		users []access.User
		want  string
	}{
		{[]access.User{{Secret: "secret"}}, "no name"},
		{[]access.User{{Name: "a:b", Secret: "secret"}}, "colon"},
		{[]access.User{{Name: "ann"}}, "user ann has no secret"},
		{[]access.User{{Name: "ann", Secret: "short"}}, "shorter than 6"},
		{[]access.User{ok, ok}, "two users are named ann"},
		{[]access.User{ok, {Name: "bob", Secret: "secret"}}, "users ann and bob have the same secret"},
		{[]access.User{{Name: "ann", Secret: "secret", Grants: []access.Grant{{On: []string{"*"}}}}}, "can: is empty"},
		{[]access.User{{Name: "ann", Secret: "secret", Grants: []access.Grant{{Can: []string{"put"}}}}},
			"on: is empty"},
		{[]access.User{{Name: "ann", Secret: "secret", Grants: []access.Grant{grant("putt", "*")}}},
			`"putt" is nothing that can be granted`},
		{[]access.User{{Name: "ann", Secret: "secret", Grants: []access.Grant{grant("put", "a/b/c")}}},
			`"a/b/c" is no pattern`},
		{[]access.User{{Name: "ann", Secret: "secret",
			Grants: []access.Grant{{Can: []string{"put"}, On: []string{""}}}}}, `"" is no pattern`},
	} {
		_, err := access.New(c.users)
		if !errors.Is(err, access.ErrUsers) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.users, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret\"") {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
}
