package access_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/hikyaku/hikyaku/internal/access"
)

func TestASecretIsNeverPrinted(t *testing.T) {
	const secret = "open sesame"
	u := access.User{Name: "ali", Secret: secret, Grants: []access.Grant{grant("take", "*")}}
	var out bytes.Buffer
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%X", "%d", "%T"} {
		fmt.Fprintf(&out, verb+"\n", u)
		fmt.Fprintf(&out, verb+"\n", &u)
		fmt.Fprintf(&out, verb+"\n", u.Secret)
		fmt.Fprintf(&out, verb+"\n", []access.User{u})
		fmt.Fprintf(&out, verb+"\n", struct{ S access.Secret }{u.Secret})
	}
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.Info("user", "user", u, "secret", u.Secret, "grants", u.Grants)
	slog.New(slog.NewTextHandler(&out, nil)).Info("user", "user", u, "secret", u.Secret)
	if err := json.NewEncoder(&out).Encode(u); err != nil {
		t.Fatal(err)
	}
	if err := yaml.NewEncoder(&out).Encode(u); err != nil {
		t.Fatal(err)
	}
	for _, leak := range []string{secret, "sesame", fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), "111 112"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q is in:\n%s", leak, out.String())
		}
	}
	if u.Secret.Reveal() != secret {
		t.Error("Reveal does not")
	}
	if access.Secret("").String() != "" {
		t.Error("an empty secret looks like one")
	}
}

func TestUsersAreReadFromYAML(t *testing.T) {
	var users []access.User
	err := yaml.Unmarshal([]byte(`
- name: reader
  secret: s3cret
  grants:
    - { can: [take], on: ["default/news*"] }
`), &users)
	if err != nil {
		t.Fatal(err)
	}
	us := list(t, users...)
	u, ok := byToken(us, "s3cret")
	if !ok || !us.Allowed(u, access.Take, name(t, "news")) {
		t.Errorf("%v, %v", u, ok)
	}
}

func TestASealedTextIsItsOwnersAlone(t *testing.T) {
	ann := &access.User{Name: "ann", Secret: "secret of ann"}
	bob := &access.User{Name: "bob", Secret: "secret of bob"}
	sealed := ann.Seal("token")
	if text, ok := ann.Unseal(sealed); !ok || text != "token" {
		t.Errorf("%q, %v", text, ok)
	}
	for _, c := range []struct {
		user   *access.User
		sealed string
	}{
		{bob, sealed}, {ann, "token"}, {ann, "token-"}, {ann, "tokem" + sealed[5:]}, {ann, sealed + "0"}, {ann, ""},
		{ann, "-"},
		{&access.User{Name: "ann", Secret: "changed"}, sealed},
	} {
		if text, ok := c.user.Unseal(c.sealed); ok {
			t.Errorf("%v takes %q as %q", c.user, c.sealed, text)
		}
	}
	var nobody *access.User
	if got := nobody.Seal("token"); got != "token" {
		t.Errorf("nobody's seal: %q", got)
	}
	if text, ok := nobody.Unseal("token"); !ok || text != "token" {
		t.Errorf("nobody's unseal: %q, %v", text, ok)
	}
}
