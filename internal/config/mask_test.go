package config

import (
	"strings"
	"testing"
)

func TestASecretThatIsAPartOfAWordLeavesTheWordAlone(t *testing.T) {
	text := `users:
  producer: { secret: prod, grants: [{ can: [put], on: [orders] }] }
  reproduction: { secret: "${WORD}", grants: [{ can: [eat], on: [orders] }] }
sinks:
  hook: { type: webhook, inputs: [producers], url: "https://${WORD}host/", headers: { X: prod } }
`
	errs := mistakes(t, "a.yaml", text, "WORD=duct")
	all := errs.Error() + "\n" + errs.Pretty([]byte(text))
	for _, word := range []string{"user producer", "reproduction", `"producers"`} {
		if !strings.Contains(all, word) {
			t.Errorf("%q was made unreadable:\n%s", word, all)
		}
	}
	for _, secret := range []string{"prod,", "prod }", `"duct"`, "ducthost"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is shown:\n%s", secret, all)
		}
	}
}

func TestASecretIsNotShownHoweverShortItIs(t *testing.T) {
	for _, secret := range []string{"a", "xyz", "12", "飛脚", "hunter22", "a-b"} {
		text := "users: { shop: { secret: '" + secret + "', grants: [{ can: [eat], on: [orders] }] } }\n"
		errs := mistakes(t, "a.yaml", text)
		if all := errs.Error() + errs.Pretty([]byte(text)); strings.Contains(all, "'"+secret+"'") {
			t.Errorf("%s is shown:\n%s", secret, all)
		}
	}
}

// TestWhatTakesSecretsOutIsReady holds that nothing of a file is made later, when goroutines share it.
func TestWhatTakesSecretsOutIsReady(t *testing.T) {
	env := func(string) (string, bool) { return "yard-of-ale", true }
	f, err := Parse("a.yaml", []byte("data_dir: ${PLACE}\n"), env)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.secrets.kept); n == 0 || f.secrets.made != n {
		t.Errorf("of %d secrets, %d are ready", n, f.secrets.made)
	}
}
