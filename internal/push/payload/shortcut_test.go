package payload

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/program/programtest"
)

// same makes payloads with and without the short cut. It tells whether the short cut made one.
func same(t *testing.T, text string, g *programtest.Generator) (short bool) {
	p, err := Compile("payload", text)
	if err != nil {
		return false
	}
	long := *p
	long.short = shortcut{}
	for range 2 {
		m := g.Message()
		_, made := p.short.make(m)
		got, err := p.Make(m)
		want, wrong := long.Make(m)
		if string(got) != string(want) || (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
			t.Fatalf("%s\nof %q\nis   %q, %v\nwant %q, %v", text, m.Body, got, err, want, wrong)
		}
		short = short || made
	}
	return short
}

func TestAShortCutMakesTheSamePayload(t *testing.T) {
	met := 0
	for seed := range uint64(2000) {
		g := programtest.New(seed)
		if same(t, g.Program(), g) {
			met++
		}
	}
	if met < 200 {
		t.Errorf("only %d short cuts made a payload", met)
	}
}

func TestUsualPayloadsTakeTheShortCut(t *testing.T) {
	for _, text := range []string{
		`{aps: {alert: "test for \(.id)"}}`, `{aps: {alert: {title, body: .text}}, news}`,
		`{aps: {alert: {title: .content.title, body: "to \(.user.id)"}}}`,
		`{aps: {alert: .title, badge: (.n // 0)}, user: $attributes.user, at: $time}`,
		`{notification: {title: .title, body: .text}, data: {id: $id}}`, ".", ".push",
	} {
		if newShortcut(text).program == nil {
			t.Errorf("%s takes the long way", text)
		}
	}
}
