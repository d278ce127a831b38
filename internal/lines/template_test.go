package lines

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestATemplateTakesTimesAndAttributes(t *testing.T) {
	m := &message.Message{Time: time.Date(2026, 2, 3, 4, 5, 6, 0, time.FixedZone("", 3600))}
	m.Attributes.Set("host", message.String("a b"))
	m.Attributes.Set("n", message.Int(7))
	m.Attributes.Set("empty", message.String(""))
	for text, want := range map[string]string{
		"logs": "logs", "": "", "%Y/%m/%d/%H": "2026/02/03/03", "{host}.%S.{n}": "a_b.06.7", "100%%": "100%",
	} {
		made, err := NewTemplate(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if made.Fixed() != (text == "logs" || text == "") {
			t.Errorf("%q: fixed is %v", text, made.Fixed())
		}
		got, err := made.Render(m, func(s string) string { return strings.ReplaceAll(s, " ", "_") })
		if err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"{absent}", "{empty}"} {
		made, err := NewTemplate(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := made.Render(m, strings.ToLower); err == nil {
			t.Errorf("%q is %q", text, got)
		}
	}
	for _, text := range []string{"{", "{}", "{a", "%", "%q", "a%"} {
		if _, err := NewTemplate(text); err == nil {
			t.Errorf("%q is a template", text)
		}
	}
}
