package rest

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFieldsChooseWhatAnAnswerHas(t *testing.T) {
	const answer = `{"topics":[{"name":"a","labels":{"x":"1","y":"2"}},{"name":"b","kmsKeyName":"k"}],"nextPageToken":"t"}`
	for fields, want := range map[string]string{
		"nextPageToken":                 `{"nextPageToken":"t"}`,
		"next_page_token":               `{"nextPageToken":"t"}`,
		"topics":                        `{"topics":[{"labels":{"x":"1","y":"2"},"name":"a"},{"kmsKeyName":"k","name":"b"}]}`,
		"topics/name":                   `{"topics":[{"name":"a"},{"name":"b"}]}`,
		"topics.name,nextPageToken":     `{"nextPageToken":"t","topics":[{"name":"a"},{"name":"b"}]}`,
		"topics(name,labels/x)":         `{"topics":[{"labels":{"x":"1"},"name":"a"},{"name":"b"}]}`,
		"topics(name),topics":           `{"topics":[{"labels":{"x":"1","y":"2"},"name":"a"},{"kmsKeyName":"k","name":"b"}]}`,
		"topics,topics(name)":           `{"topics":[{"labels":{"x":"1","y":"2"},"name":"a"},{"kmsKeyName":"k","name":"b"}]}`,
		"topics(name),topics/labels(y)": `{"topics":[{"labels":{"y":"2"},"name":"a"},{"name":"b"}]}`,
		"*/name":                        `{"nextPageToken":"t","topics":[{"name":"a"},{"name":"b"}]}`,
		"*":                             `{"nextPageToken":"t","topics":[{"labels":{"x":"1","y":"2"},"name":"a"},{"kmsKeyName":"k","name":"b"}]}`,
		"nothing":                       `{}`,
	} {
		var w wishes
		if wrong := w.selected(fields); wrong != nil {
			t.Errorf("%s: %s", fields, wrong.message)
			continue
		}
		got, err := w.shape([]byte(answer))
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s: %s, %v\nwanted %s", fields, got, err, want)
		}
	}
	for _, fields := range []string{",", "a,", "a(", "a(b", "a)b", "a(b))", "a/", "/a", "()", strings.Repeat("a(", 100),
		strings.Repeat("a", 5000)} {
		if s, err := parseSelection(fields); err == nil {
			t.Errorf("%.40s is read as %v", fields, s)
		}
	}
}

func FuzzSelection(f *testing.F) {
	f.Add("topics(name,labels/x),nextPageToken", `{"topics":[{"name":1}]}`)
	f.Fuzz(func(t *testing.T, fields, answer string) {
		s, err := parseSelection(fields)
		if err != nil || !json.Valid([]byte(answer)) {
			return
		}
		w := wishes{fields: s, pretty: true}
		if got, err := w.shape([]byte(answer)); err != nil || !json.Valid(got) {
			t.Errorf("%s of %s: %s, %v", fields, answer, got, err)
		}
	})
}
