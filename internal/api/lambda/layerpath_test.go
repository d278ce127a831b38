package lambda

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/hikyaku/hikyaku/internal/access"
)

// signed is a call of a user whose secret is the name.
func (r *rig) signed(user, method, path, body string) got {
	r.t.Helper()
	return r.signedWith(user, user, method, path, body)
}

// signedWith is a call of a user who knows some secret.
func (r *rig) signedWith(user, secret, method, path, body string) got {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(body))
	hash := hex.EncodeToString(sum[:])
	err = v4.NewSigner().SignHTTP(r.t.Context(), aws.Credentials{AccessKeyID: user, SecretAccessKey: secret}, req, hash,
		"lambda", "us-east-1", time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	return r.call(method, path, body, "Authorization", req.Header.Get("Authorization"), "X-Amz-Date",
		req.Header.Get("X-Amz-Date"))
}

// definition is a request to create f with layers.
func definition(t *testing.T, layers ...string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"FunctionName": "f", "Runtime": "python3.11", "Handler": "app.handler",
		"Role": "arn:aws:iam::000000000000:role/any", "Layers": layers,
		"Code": map[string]any{"ZipFile": packed(t, "app.py", program)}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What a function sees of the machine is the operator's to say, and not that of whoever has the grant on its name.
func TestAUserGivesAFunctionNoFilesOfTheMachineAsALayer(t *testing.T) {
	users, err := access.New([]access.User{{Name: "annabel", Secret: "annabel", Grants: []access.Grant{
		{Can: []string{"admin"}, On: []string{"f"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, folder := range []string{"others", "see/layer", "see/not", "functions/code"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "others"), filepath.Join(dir, "see", "link")); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "archive.zip")
	if err := os.WriteFile(archive, zipped(t, map[string]string{"x": "x"}), 0o600); err != nil {
		t.Fatal(err)
	}
	r := openRig(t, dir, Config{}, users)
	for _, path := range []string{filepath.Join(dir, "others"), filepath.Join(dir, "see", "not"), archive,
		filepath.Join(dir, "see", "link"), filepath.Join(dir, "see", "layer", "..", "..", "others"),
		filepath.Join(dir, "functions", "code"), dir, "/", "/etc", "/nowhere", "/usr/../etc"} {
		g := r.signed("annabel", "POST", functions, definition(t, path))
		if g.StatusCode != 400 || !strings.Contains(g.text, "not among what functions see") {
			t.Errorf("%s: %s: %s", path, g.Status, g.text)
		}
	}
	g := r.signed("annabel", "POST", functions, definition(t, filepath.Join(dir, "see", "layer")))
	if strings.Contains(g.text, "not among what functions see") {
		t.Errorf("%s", g.text)
	}
	r.signed("annabel", "POST", functions, definition(t))
	g = r.signed("annabel", "PUT", functions+"/f/configuration", `{"Layers":["/etc"]}`)
	if !strings.Contains(g.text, "not among what functions see") {
		t.Errorf("an update: %s: %s", g.Status, g.text)
	}
}
