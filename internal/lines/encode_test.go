package lines

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
)

func render(t *testing.T, codec string, m *message.Message) string {
	t.Helper()
	e, err := NewEncoder(Encoding{Codec: codec})
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Append([]byte("> "), m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTextIsTheBodyAsItIs(t *testing.T) {
	if got := render(t, "", &message.Message{Body: []byte("a\x00\xffb")}); got != "> a\x00\xffb" {
		t.Errorf("got %q", got)
	}
}

func TestJSONIsOneLine(t *testing.T) {
	m := &message.Message{Body: []byte("{\n  \"a\": 12345678901234567890.10,\n  \"b\": \"x y\"\n}\n")}
	if got := render(t, JSON, m); got != `> {"a":12345678901234567890.10,"b":"x y"}` {
		t.Errorf("got %q", got)
	}
}

func TestABodyThatIsNotJSONIsRefusedByTheJSONCodec(t *testing.T) {
	e, err := NewEncoder(Encoding{Codec: JSON})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"", "hello", `{"a":1} x`, "{"} {
		b, err := e.Append([]byte("kept"), &message.Message{Body: []byte(body)})
		if !errors.Is(err, ErrNotJSON) || string(b) != "kept" {
			t.Errorf("body %q: %q, %v", body, b, err)
		}
	}
}

func TestTheMessageCodecTellsEverything(t *testing.T) {
	id, err := message.ParseID("0192f0c1-2345-7abc-8def-0123456789ab")
	if err != nil {
		t.Fatal(err)
	}
	m := &message.Message{ID: id, Key: "k\"1", Body: []byte(` {"a": 1} `), Time: time.Unix(1_700_000_000, 5000).UTC()}
	m.Attributes.Set("s", message.String("tab\tnewline\n\x01\x7f"))
	m.Attributes.Set("i", message.Int(-5))
	m.Attributes.Set("u", message.Uint(math.MaxUint64))
	m.Attributes.Set("f", message.Float(1.5))
	m.Attributes.Set("inf", message.Float(math.Inf(1)))
	m.Attributes.Set("b", message.Bool(true))
	m.Attributes.Set("n", message.Null())
	m.Attributes.Set("d", message.Decimal("12.50"))
	m.Attributes.Set("x", message.Bytes([]byte{0xff}))
	m.Death = &message.Death{Queue: "default/q", Step: "sink", Reason: "no\"", Attempts: 3, Time: time.Unix(0, 0)}
	want := `> {"id":"0192f0c1-2345-7abc-8def-0123456789ab","time":"2023-11-14T22:13:20.000005Z","key":"k\"1",` +
		`"attributes":{"b":true,"d":12.50,"f":1.5,"i":-5,"inf":"+Inf","n":null,"s":"tab\tnewline\n\u0001\u007f","u":18446744073709551615,"x":"/w=="},` +
		`"death":{"queue":"default/q","step":"sink","reason":"no\"","attempts":3,"time":"1970-01-01T00:00:00Z"},"body":{"a":1}}`
	if got := render(t, Full, m); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestABodyStandsAsWhatItIs(t *testing.T) {
	for body, want := range map[string]string{
		`[1]`:        `{"body":[1]}`,
		"two\nlines": `{"body":"two\nlines"}`,
		"":           `{"body":""}`,
		"\xff":       `{"body_base64":"/w=="}`,
	} {
		if got := render(t, Full, &message.Message{Body: []byte(body)}); got != "> "+want {
			t.Errorf("body %q: got %s", body, got)
		}
	}
}

func TestAnUnknownCodecIsRefused(t *testing.T) {
	if _, err := NewEncoder(Encoding{Codec: "xml"}); err == nil || !strings.Contains(err.Error(), "xml") {
		t.Errorf("error is %v", err)
	}
}

func FuzzMessageCodecIsAlwaysJSONOnOneLine(f *testing.F) {
	f.Add([]byte(`{"a":1}`), "name", "value", 1.5)
	f.Add([]byte("\xff"), "\x00", "\xff\u2028", math.NaN())
	f.Fuzz(func(t *testing.T, body []byte, name, text string, number float64) {
		m := &message.Message{Body: body, Key: text}
		m.Attributes.Set(name, message.String(text))
		m.Attributes.Set(name+"n", message.Float(number))
		e, err := NewEncoder(Encoding{Codec: Full})
		if err != nil {
			t.Fatal(err)
		}
		b, err := e.Append(nil, m)
		if err != nil || !json.Valid(b) || !utf8.Valid(b) || strings.Contains(string(b), "\n") {
			t.Fatalf("%q, %v", b, err)
		}
	})
}
