package webhook

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzAsked reads any query as a wish: what is taken can be answered.
func FuzzAsked(f *testing.F) {
	for _, query := range []string{"do=status&code=503&retry_after=1", "do=hang&delay=1h", "do=&delay=-1s",
		"do=redirect&location=/x", "do=status&code=99999999999999999999", "delay=1s", "do=%zz"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		b, ok, err := asked(values)
		switch {
		case !ok && err != nil:
			t.Errorf("%q: nothing was asked, and it is wrong: %v", query, err)
		case ok && err == nil && (b.Code != 0 && (b.Code < 200 || b.Code > 999) || b.Delay <= 0):
			t.Errorf("%q was taken as %+v", query, b)
		}
	})
}

// FuzzBatchIDs finds the ids of a batch in any body.
func FuzzBatchIDs(f *testing.F) {
	for _, body := range []string{`[{"id":"a"},{"id":"b"}]`,
		"{\"id\":\"a\"}\n{\"id\":\"b\"}\n", `[1]`, `[`, `{`, "null"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if ids := batchIDs(body); len(ids) > len(body) {
			t.Errorf("%q has %d ids", body, len(ids))
		}
	})
}

// FuzzControl takes any body for one that changes the behaviour: it is refused, or taken.
func FuzzControl(f *testing.F) {
	for _, body := range []string{`{"do":"status","code":500}`, `{"do":"hang","delay":"1h"}`, `{"delay":1}`, `[]`, ``} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var b Behaviour
		w := httptest.NewRecorder()
		err := read(w, httptest.NewRequest(http.MethodPut, "/", strings.NewReader(body)), &b)
		if err == nil {
			err = b.check()
		}
		if err == nil && b.Delay <= 0 {
			t.Errorf("%q was taken as %+v", body, b)
		}
	})
}
