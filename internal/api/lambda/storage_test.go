package lambda

import (
	"fmt"
	"net/http"
	"testing"
)

func TestEphemeralStorageIsTheFunctionsBound(t *testing.T) {
	r := newRig(t)
	size := func(got got) string { return fmt.Sprint(got.json(t)["EphemeralStorage"]) }
	if got := size(r.create("f", nil)); got != "map[Size:512]" {
		t.Errorf("unless it is said it is %s", got)
	}
	if got := size(r.create("g",
		map[string]any{"EphemeralStorage": map[string]int{"Size": 1024}})); got != "map[Size:1024]" {
		t.Errorf("said as 1024 it is %s", got)
	}
	if got := size(r.ok(http.StatusOK, "PUT", "/2015-03-31/functions/f/configuration",
		`{"EphemeralStorage":{"Size":2048}}`)); got != "map[Size:2048]" {
		t.Errorf("changed to 2048 it is %s", got)
	}
	_, v, err := r.functions.Version("f", "")
	if err != nil || v.Settings.StorageMB != 2048 {
		t.Errorf("the function has %d MB (%v)", v.Settings.StorageMB, err)
	}
	r.ok(http.StatusBadRequest, "PUT", "/2015-03-31/functions/f/configuration", `{"EphemeralStorage":{"Size":511}}`)
	r.ok(http.StatusBadRequest, "PUT", "/2015-03-31/functions/f/configuration", `{"EphemeralStorage":{"Size":10241}}`)
}
