package rest_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/rest"
)

// FuzzHandler: whatever is asked is answered, with JSON, and an error's body tells its own status.
func FuzzHandler(f *testing.F) {
	services := newServices()
	s := &service{}
	pubsubpb.RegisterPublisherServer(services, s)
	pubsubpb.RegisterSchemaServiceServer(services, s)
	h, err := rest.New(services, rest.Options{MaxBodyBytes: 4 << 10})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("GET", "/v1/projects/p/topics/t", "pageSize=3&alt=json", "", "application/json")
	f.Add("POST", "/v1/projects/p/topics/t:publish", "", `{"messages": [{"data": "aGk="}]}`, "")
	f.Add("PATCH", "/v1/projects/p/topics/t", "", `{"topic": {"labels": {"a": "b"}}, "updateMask": "labels"}`,
		"text/plain")
	f.Add("PUT", "/v1/projects/p/topics/%41%2F%zz", "a=%zz", `{`, "multipart/form-data")
	f.Add("POST", "/v1/projects/p/schemas", "schemaId=x", `{"type": "AVRO"}`, "application/json; charset=UTF-8")
	f.Fuzz(func(t *testing.T, method, path, query, body, kind string) {
		if method == "" || strings.ContainsFunc(method, func(r rune) bool { return r < 'A' || r > 'Z' }) {
			return // net/http lets no such method through
		}
		u, err := url.ParseRequestURI(path)
		if err != nil || u.IsAbs() || !strings.HasPrefix(path, "/") {
			return // nor such a path
		}
		u.RawQuery = query
		r := httptest.NewRequest(method, "/", strings.NewReader(body))
		r.URL = u
		if kind != "" {
			r.Header["Content-Type"] = []string{kind}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var answer struct{ Error struct{ Code int } }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%s %s?%s: %d %q: %v", method, path, query, w.Code, w.Body, err)
		}
		if w.Code != 200 && answer.Error.Code != w.Code {
			t.Fatalf("%s %s?%s: %d %s", method, path, query, w.Code, w.Body)
		}
	})
}
