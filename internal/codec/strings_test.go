package codec_test

import (
	"encoding/json"
	"testing"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/jsontext/jsontexttest"
)

// TestStringsAreReadAsEncodingJSONDoes: also where they are names, and where their texts become attributes.
func TestStringsAreReadAsEncodingJSONDoes(t *testing.T) {
	d, err := codec.New(codec.Config{Codec: "json", Attributes: []string{"text"}})
	if err != nil {
		t.Fatal(err)
	}
	jsontexttest.Check(t, func(quoted string) (string, bool) {
		out, err := d.Decode(&message.Message{Body: []byte(`{"text":` + quoted + `}`)})
		if err != nil {
			return "", false
		}
		text, _ := out.Attributes.Get("text")
		var body struct{ Text string }
		if err := json.Unmarshal(out.Body, &body); err != nil || body.Text != text.Text() {
			t.Errorf("%s: the body %s has another text than %q: %v", quoted, out.Body, text.Text(), err)
		}
		return text.Text(), true
	})
}
