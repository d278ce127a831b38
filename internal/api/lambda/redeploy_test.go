package lambda

import (
	"encoding/base64"
	"strings"
	"testing"
)

// The service changes settings and code one after the other, so that a new runtime meets the old code; our own path
// changes both at once.
func TestSettingsAndCodeAreChangedAtOnce(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	shell := base64.StdEncoding.EncodeToString(packed(t, "index.js", "exports.handler = async () => 'js'"))
	g := r.ok(200, "PUT", "/hikyaku/functions/f", `{"Runtime":"nodejs","Handler":"index.handler","Code":{"ZipFile":"`+
		shell+`"}}`)
	if got := g.json(t); got["Runtime"] != "nodejs" || got["Handler"] != "index.handler" || got["Timeout"] != 60.0 {
		t.Errorf("%s", g.text)
	}
	if g := r.invoke("f", `{}`); g.text != `"js"` {
		t.Errorf("%s", g.text)
	}
	g = r.ok(200, "PUT", "/hikyaku/functions/f", `{"MemorySize":256}`)
	if got := g.json(t); got["MemorySize"] != 256.0 || got["Runtime"] != "nodejs" {
		t.Errorf("%s", g.text)
	}
	if g := r.invoke("f", `{}`); g.text != `"js"` {
		t.Errorf("with other settings alone: %s", g.text)
	}
	for _, body := range []string{`{"Runtime":"provided"}`, `{"Timeout":901}`, `{"Code":{"ZipFile":"bm8="}}`,
		`{"DeadLetterConfig":{"TargetArn":"arn:x"}}`, `{`} {
		if g := r.call("PUT", "/hikyaku/functions/f", body); g.StatusCode != 400 {
			t.Errorf("%s: %s: %s", body, g.Status, g.text)
		}
	}
	if g := r.invoke("f", `{}`); g.text != `"js"` {
		t.Errorf("after what was refused: %s", g.text)
	}
	r.ok(404, "PUT", "/hikyaku/functions/absent", `{}`)
}

func TestAnErrorOfTheFunctionComesWithAdvice(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	for event, want := range map[string]string{`{"leave":true}`: "hikyaku function logs f", `{"answer":1}`: ""} {
		if got := r.invoke("f", event).Header.Get("X-Hikyaku-Advice"); !strings.Contains(got, want) || want == "" &&
			got != "" {
			t.Errorf("%s: %q", event, got)
		}
	}
	r.create("g", map[string]any{"Handler": "app.名"})
	c, err := NewClient(ClientConfig{URL: r.base})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Invoke(t.Context(), "g", "RequestResponse", []byte("{}"), false)
	if err != nil || got.Advice != `see to its handler "app.\u540d" and to what its code has to bring along` {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestADryRunOfAnUpdateIsRefusedAsTheUpdateWouldBe(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	const at = functions + "/f/code"
	dry := `{"DryRun":true,"ZipFile":"` + base64.StdEncoding.EncodeToString(packed(t, "app.py", program)) + `"`
	seen := r.revision(t, functions+"/f/configuration")
	r.recorded(t, []recorded{
		{"PUT", at, `{"DryRun":true,"ZipFile":"bm8="}`, 400, []string{"Could not unzip uploaded file."}, nil},
		{"PUT", at, dry + `,"RevisionId":"other"}`, 412, []string{"does not match the latest Revision Id"}, nil},
		{"PUT", at, dry + `,"RevisionId":"` + seen + `"}`, 200, []string{seen}, nil},
	})
}
