package payload

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestAPayloadIsMadeOfBodyAndAttributes(t *testing.T) {
	p, err := Compile("payload",
		`{aps: {alert: .title}, user: $attributes.user, vip: $attributes.vip, none: $attributes.none, k: $key, e: $expires}`)
	if err != nil {
		t.Fatal(err)
	}
	m := &message.Message{Body: []byte(`{"title": "ニュース"}`), Key: "k1"}
	m.Attributes.Set("user", message.Int(42))
	m.Attributes.Set("vip", message.Bool(true))
	got, err := p.Make(m)
	if want := `{"aps":{"alert":"ニュース"},"e":null,"k":"k1","none":null,"user":42,"vip":true}`; err != nil ||
		string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestABadProgramIsShownInItsSetting(t *testing.T) {
	for text, at := range map[string]int{`{aps: }`: 6, `.a | nonsense`: -1, `$nobody`: -1, `input`: -1} {
		_, err := Compile("payload", text)
		var wrong *component.SettingError
		if !errors.As(err, &wrong) || wrong.Setting != "payload" || wrong.Offset != at {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAProgramThatMakesNoPayloadFailsItsMessageAlone(t *testing.T) {
	for text, want := range map[string]string{
		`empty`:                              "made nothing",
		`1, 2`:                               "more than one",
		`error("no title")`:                  "no title",
		`.a.b.c`:                             "expected an object",
		`last(repeat(1))`:                    "ran for more than",
		`reduce range(20000) as $i (1; [.])`: "deeper",
	} {
		p, err := Compile("payload", text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Make(&message.Message{Body: []byte(`{"a": 1}`)}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	p, err := Compile("payload", ".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Make(&message.Message{Body: []byte(`{"a`)}); err == nil ||
		!strings.Contains(err.Error(), "no JSON") {
		t.Errorf("a body that is no JSON: %v", err)
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	p, err := Compile("payload", ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{"n":12345678901234567890}`, `{"n":0.1}`, `[1,2.5,-3]`, `null`} {
		if got, err := p.Make(&message.Message{Body: []byte(text)}); err != nil || string(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
	for _, text := range []string{`{} {}`, ``, strings.Repeat("[", 2000) + strings.Repeat("]", 2000)} {
		if _, err := p.Make(&message.Message{Body: []byte(text)}); err == nil ||
			!strings.Contains(err.Error(), "no JSON") {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

func FuzzMake(f *testing.F) {
	f.Add(`{"a": [1, "x", null]}`)
	f.Add(`{"a"`)
	f.Add(`1e400`)
	p, err := Compile("payload", "{a: .}")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		made, err := p.Make(&message.Message{Body: []byte(text)})
		if err == nil && !json.Valid(made) {
			t.Errorf("%q became %q", text, made)
		}
	})
}
