package http_test

import (
	"maps"
	"slices"
	"testing"

	door "github.com/hikyaku/hikyaku/internal/api/http"
)

// TestTheDescriptionHoldsEveryRoute keeps openapi.yaml and the table of routes the same. That answers are as described
// is checked by every test that uses rig.do.
func TestTheDescriptionHoldsEveryRoute(t *testing.T) {
	doc, err := loadDescription()
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			described[method+" "+path] = operation.OperationID
		}
	}
	routes := door.Routes()
	for _, r := range slices.Sorted(maps.Keys(routes)) {
		if described[r] != routes[r] {
			t.Errorf("%s is %q, but %q in openapi.yaml", r, routes[r], described[r])
		}
	}
	for _, r := range slices.Sorted(maps.Keys(described)) {
		if _, ok := routes[r]; !ok {
			t.Errorf("%s is in openapi.yaml, but there is no such route", r)
		}
	}
}

func TestTheDescriptionIsServed(t *testing.T) {
	r := start(t, settings{})
	got := r.want(200, "GET", "/openapi.yaml", "")
	if got.header.Get("Content-Type") != "application/yaml" || len(got.body) < 1000 {
		t.Errorf("%v, %d bytes", got.header, len(got.body))
	}
}
