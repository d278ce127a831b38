package http_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/message"
)

// FuzzPutJSON: whatever is sent is either refused as a problem of the sender's, or understood so that what is shown of
// it and put again is the same message.
func FuzzPutJSON(f *testing.F) {
	for _, seed := range []string{
		`{"body": "hello"}`, `{"body_base64": "/w=="}`, `{"json": {"a": [1, 2.50, null, "é"]}}`, `{"json": null}`, `{}`,
		`[]`, ``, `{"messages": [{}, {"body": ""}]}`,
		`{"messages": null}`,
		`{"attributes": {"s": "x", "i": 1, "u": 18446744073709551615, "d": 1e400, "f": 1e3, "b": true, "n": null}}`,
		`{"attributes": {"y": {"base64": "AA=="}, "t": {"time": "2026-01-02T03:04:05Z"}, "d": {"decimal": "-1.50"}}}`,
		`{"key": "k", "dedup": "d", "delay": "1h30m", "expires_in": 1.5}`,
		`{"not_before": "2030-01-01T00:00:00Z", "expires": "2030-01-01T00:00:00+09:00"}`,
		`{"id": "01890a5d-ac96-774b-bcce-b302099a8057"}`, "{\"body\": \"\xff\"}", `{"body": "\ud800"}`,
		`{"body": "a"} {}`, `{"delay": 1e300}`, `{"delay": "NaN"}`,
	} {
		f.Add([]byte(seed))
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		msgs, many, err := door.DecodePut(data, now)
		if err != nil {
			var p *door.Problem
			if !errors.As(err, &p) || p.Status != 400 || p.Detail == "" {
				t.Fatalf("%q: %v is no problem of the sender's", data, err)
			}
			if p.Position != nil && (p.Position.Offset > len(data) || p.Position.Line < 1 || p.Position.Column < 1) {
				t.Fatalf("%q: position %+v", data, p.Position)
			}
			return
		}
		if len(msgs) == 0 || !many && len(msgs) != 1 {
			t.Fatalf("%q: %d messages", data, len(msgs))
		}
		for i := range msgs {
			again(t, &msgs[i], now)
		}
	})
}

// again shows a message, puts what is shown, and compares.
func again(t *testing.T, m *message.Message, now time.Time) {
	t.Helper()
	if m.NotBefore.Before(now) && !m.NotBefore.IsZero() && m.NotBefore.Year() > 3000 {
		t.Fatalf("a delay ran over: %v", m.NotBefore)
	}
	c := door.ContentOf(m)
	shown, err := json.Marshal(door.Message{ID: "", Body: c.Body, BodyBase64: c.BodyBase64, Attributes: c.Attributes,
		Key: c.Key, Dedup: c.Dedup})
	if err != nil {
		t.Fatal(err)
	}
	back, _, err := door.DecodePut(shown, now)
	if err != nil {
		t.Fatalf("%s: %v", shown, err)
	}
	if b := back[0]; !bytes.Equal(b.Body, m.Body) || b.Key != m.Key || b.Dedup != m.Dedup ||
		len(b.Attributes) != len(m.Attributes) {
		t.Fatalf("%s became %+v, not %+v", shown, b, m)
	}
	for i, a := range m.Attributes {
		if got := back[0].Attributes[i]; got != a {
			t.Fatalf("%s: attribute %s is %#v, not %#v", shown, a.Name, got.Value, a.Value)
		}
	}
}

func FuzzDuration(f *testing.F) {
	for _, seed := range []string{"30s", "1h30m", "0", "1.5", "-1", "1e9", "1e300", "NaN", "inf", "", "9223372036",
		"0x1p-2", "1_0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := door.ParseDuration(text)
		if err != nil {
			return
		}
		if d < 0 {
			t.Fatalf("%q is %v", text, d)
		}
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var back door.Duration
		if err := json.Unmarshal(data, &back); err != nil || back != d {
			t.Fatalf("%q is %v, shown as %s, read as %v: %v", text, d, data, back, err)
		}
	})
}

func TestValuesWithoutAJSONFormAreShownAsText(t *testing.T) {
	var m message.Message
	m.Attributes.Set("nan", message.Float(math.NaN()))
	m.Attributes.Set("n", message.Int(1))
	data, err := json.Marshal(door.ContentOf(&m))
	if err != nil || !bytes.Contains(data, []byte(`{"n":1,"nan":"NaN"}`)) {
		t.Errorf("%s, %v", data, err)
	}
	if v, _ := m.Attributes.Get("nan"); v.Kind() != message.KindFloat {
		t.Error("the message itself was changed")
	}
}
