package config

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestNoSecretIsShownOfAFileThatIsWrong: whatever is wrong with it, in its message and in the line that is quoted.
func TestNoSecretIsShownOfAFileThatIsWrong(t *testing.T) {
	const secret = "Zq9-topsecret-value"
	for name, texts := range map[string][]string{
		"a.yaml": {
			"users:\n  ann: { secret: \"SECRET, grants: [] }\n",
			"users:\n  ann:\n    secret: SECRET\n\tgrants: x\n",
			"users:\n  ann:\n    secrets:\n      - \"SECRET\n      - x\n",
			"users:\n  ann: { secrt: SECRET }\n",
			"users:\n  ann: SECRET\n",
			"users: [ann, SECRET]\n",
			"users:\n  ann: { secret: '${NOPE:?SECRET}' }\n",
			"users:\n  ann: { secrets: [{ a: SECRET }], nope: 1 }\n",
			"sinks:\n  t: { type: tsurugidb, token: \"SECRET }\n",
			"sinks:\n  t: { type: tsurugidb, tokn: SECRET, inputs: [] }\n",
			"sinks:\n  t:\n    type: mysql\n    database: \"user:SECRET@tcp(db)/x\n    table: t\n",
			"sinks:\n  t:\n    databse: SECRET\n    type: mysql\n",
			"sinks:\n  t:\n    type: tsurugidb\n    token: |\n      eyJ\n   SECRET\n    table: t\n",
			"sinks:\n  t:\n    token: |\n      eyJ\n   SECRET==\n    table: t\n",
			"sinks:\n  t:\n    headers:\n      X-Key: \"SECRET\n      a: b\n",
			"functions:\n  f: { environment: { DB_PASSWORD: SECRET }, code: /nope, runtime: x }\n",
		},
		"a.toml": {
			"[users.ann]\nsecret = \"SECRET\ngrants = []\n", "[users.ann]\nsecret = SECRET\n",
			"[users.ann]\nsecret = \"SECRET\" grants\n",
		},
		"a.json": {
			`{"users": {"ann": {"secret": "SECRET" "grants": 7}}}`, `{"users": {"ann": {"secret": "SECRET`,
		},
	} {
		for _, text := range texts {
			text = strings.ReplaceAll(text, "SECRET", secret)
			_, err := Parse(name, []byte(text), os.LookupEnv)
			var mistakes Errors
			if !errors.As(err, &mistakes) {
				t.Errorf("%s: nothing is wrong with it: %v", text, err)
				continue
			}
			if shown := mistakes.Pretty([]byte(text)); strings.Contains(shown+err.Error(), "topsecret") {
				t.Errorf("it is shown:\n%s\n%v", shown, err)
			}
		}
	}
	// What is no secret stays readable.
	for text, want := range map[string]string{
		"users:\n  - { name: ann, secret: ${ANN} }\n":                        `secret: ${ANN} }`,
		"users:\n  ann: { secret: abcdefgh, grants: oops }\n":                `ann: { secret: ********, grants: oops }`,
		"users:\n  ann: { secret_file: /etc/ann, grants: oops }\n":           `secret_file: /etc/ann, grants: oops`,
		"sources:\n  a: { type: stdin, quee: news, password: [x, y], b: 1 }": `quee: news, password: [*, *], b: 1`,
	} {
		_, err := Parse("a.yaml", []byte(text), os.LookupEnv)
		var mistakes Errors
		if !errors.As(err, &mistakes) || !strings.Contains(mistakes.Pretty([]byte(text)), want) {
			t.Errorf("%v: %s is not in it:\n%s", err, want, mistakes.Pretty([]byte(text)))
		}
	}
}
