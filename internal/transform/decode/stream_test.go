package decode_test

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/transform/decode"
)

func TestTheFirstLineOfAStreamNamesTheColumns(t *testing.T) {
	tr, err := decode.ForStream(decode.Config{Codec: "csv", Header: true, Types: map[string]string{"n": "int"},
		Attributes: []any{"n"}}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range []string{"name,n", "飛脚,7", "a,b", "c,8"} {
		err := tr.Transform(t.Context(), &message.Message{Body: []byte(line)}, func(_ string, m *message.Message) {
			got = append(got, string(m.Body))
		})
		if (err != nil) != (line == "a,b") {
			t.Errorf("%q: %v", line, err)
		}
	}
	if want := `{"name":"飛脚","n":7} {"name":"c","n":8}`; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}

func TestNothingIsDecodedBehindALineThatNamesNoColumns(t *testing.T) {
	tr, err := decode.ForStream(decode.Config{Codec: "csv", Header: true}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"a,a", "1,2"} {
		err := tr.Transform(t.Context(), &message.Message{Body: []byte(line)},
			func(string, *message.Message) { t.Errorf("%q was decoded", line) })
		if err == nil || !strings.Contains(err.Error(), "does not name the columns") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestWithoutAHeaderAStreamIsDecodedAsAnyMessages(t *testing.T) {
	tr, err := decode.ForStream(decode.Config{Codec: "csv", Columns: []string{"a"}}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := tr.Transform(t.Context(), &message.Message{Body: []byte("x")},
		func(string, *message.Message) { n++ }); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
}
