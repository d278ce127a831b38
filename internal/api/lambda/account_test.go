package lambda

import (
	"encoding/base64"
	"testing"
)

// usage is how much code an account has.
func (r *rig) usage(t *testing.T) int {
	t.Helper()
	all, _ := r.ok(200, "GET", "/2016-08-19/account-settings", "").json(t)["AccountUsage"].(map[string]any)
	n, _ := all["TotalCodeSize"].(float64)
	return int(n)
}

// The service counts an archive for each version and each layer, also when it is the same one.
func TestTheCodeOfVersionsAndLayersCounts(t *testing.T) {
	r := newRig(t)
	size := len(packed(t, "app.py", program))
	content := zipped(t, map[string]string{"a": "b"})
	layer := `{"Content":{"ZipFile":"` + base64.StdEncoding.EncodeToString(content) + `"}}`
	want := 0
	for _, c := range []struct {
		what string
		do   func()
		more int
	}{
		{"a function", func() { r.create("f", nil) }, size},
		{"a version of it", func() { r.ok(201, "POST", functions+"/f/versions", "") }, size},
		{"a setting", func() { r.ok(200, "PUT", functions+"/f/configuration", `{"Timeout":5}`) }, 0},
		{"a version with that setting", func() { r.ok(201, "POST", functions+"/f/versions", "") }, size},
		{"a layer", func() { r.ok(201, "POST", layersPath+"/l/versions", layer) }, len(content)},
		{"a version of the same content", func() { r.ok(201, "POST", layersPath+"/l/versions", layer) }, len(content)},
		{"a deleted version", func() { r.ok(204, "DELETE", functions+"/f?Qualifier=1", "") }, -size},
	} {
		c.do()
		if want += c.more; r.usage(t) != want {
			t.Errorf("after %s the code has %d bytes, not %d", c.what, r.usage(t), want)
		}
	}
}
