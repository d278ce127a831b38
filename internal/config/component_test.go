package config

import (
	"slices"
	"strings"
	"testing"
)

const told = `data_dir: data
sources:
  in: { type: queue, queue: jobs }
sinks:
  hook:
    type: webhook
    inputs: [in]
    url: "https://ann:open-sesame@example.com/${PLACE}"
    headers: { X-Key: "abc", Authorization: Bearer qwertz-uiop }
    batch: { max_events: 7 }
`

func TestAComponentIsToldWithoutSecrets(t *testing.T) {
	f, err := Parse("a.yaml", []byte(told), func(string) (string, bool) { return "yard-of-ale", true })
	if err != nil {
		t.Fatal(err)
	}
	kind, all, ok := f.Component("hook")
	if kind != "webhook" || !ok {
		t.Errorf("%q, %v", kind, ok)
	}
	var text []string
	for _, s := range all {
		text = append(text, s.Name+"="+s.Text)
	}
	want := []string{"inputs=in", "url=https://***************@example.com/${PLACE}", "headers.X-Key=********",
		"headers.Authorization=********", "batch.max_events=7"}
	if !slices.Equal(text, want) {
		t.Errorf("told:\n%s\nnot\n%s", strings.Join(text, "\n"), strings.Join(want, "\n"))
	}
	if _, _, ok := f.Component("none"); ok {
		t.Error("there is none of that name")
	}
}
