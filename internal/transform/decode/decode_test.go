package decode_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/transform/decode"
)

func mustNew(t testing.TB, c decode.Config) component.Transform {
	t.Helper()
	tr, err := decode.New(c, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestAMessageBecomesItsFields(t *testing.T) {
	tr := mustNew(t, decode.Config{Codec: "logfmt", Types: map[string]string{"level": "int"},
		Attributes: []any{"level"}})
	m := &message.Message{ID: message.NewID(), Body: []byte(`level=3 text="飛脚 runs"`)}
	var ports []string
	var out []*message.Message
	err := tr.Transform(t.Context(), m, func(port string, m *message.Message) {
		ports, out = append(ports, port),
			append(out, m)
	})
	if err != nil || len(out) != 1 || ports[0] != "" {
		t.Fatalf("%d messages, %v", len(out), err)
	}
	if got, want := string(out[0].Body), `{"level":3,"text":"飛脚 runs"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if v, _ := out[0].Attributes.Get("level"); v != message.Int(3) {
		t.Errorf("level is %#v", v)
	}
	if out[0].ID != m.ID || len(m.Attributes) > 0 || !strings.HasPrefix(string(m.Body), "level=3") {
		t.Error("the id or the message given was changed")
	}
}

func TestWhatDoesNotFitIsRejected(t *testing.T) {
	err := mustNew(t, decode.Config{Codec: "json"}).Transform(t.Context(), &message.Message{Body: []byte(`{"a":`)},
		func(string, *message.Message) {
			t.Error("a broken message went through")
		})
	var e *codec.Error
	if !errors.As(err, &e) || e.Offset != 5 {
		t.Errorf("got %v, want the place", err)
	}
	if _, again := component.AsRetry(err); again {
		t.Error("it would be tried again")
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for setting, c := range map[string]decode.Config{
		"codec":      {},
		"header":     {Codec: "csv", Header: true},
		"columns":    {Codec: "csv"},
		"pattern":    {Codec: "regex", Pattern: "("},
		"types.a":    {Codec: "json", Types: map[string]string{"a": "number"}},
		"attributes": {Codec: "json", Attributes: "every"},
	} {
		_, err := decode.New(c, component.Env{})
		var e *component.SettingError
		if !errors.As(err, &e) || e.Setting != setting {
			t.Errorf("%+v: got %v, want an error about %s", c, err, setting)
		}
	}
}

func TestOneTransformServesManyGoroutines(t *testing.T) {
	tr := mustNew(t, decode.Config{Codec: "csv", Columns: []string{"a", "b"}, Attributes: "all"})
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for i := range 100 {
				m := &message.Message{Body: fmt.Appendf(nil, "%d,\"x\"", i)}
				err := tr.Transform(t.Context(), m, func(_ string, out *message.Message) {
					if got, want := string(out.Body), fmt.Sprintf(`{"a":"%d","b":"x"}`, i); got != want {
						t.Errorf("got %s, want %s", got, want)
					}
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
}

func Example() {
	fields, err := decode.New(decode.Config{
		Codec:      "regex",
		Pattern:    `^(?P<at>\S+ \S+) status (?P<state>\S+) (?P<package>[^ :]+)\S* (?P<version>\S+)$`,
		Types:      map[string]string{"at": "timestamp(2006-01-02 15:04:05)"},
		Attributes: []string{"state"},
	}, component.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := &message.Message{Body: []byte("2025-06-24 14:36:25 status installed libsystemd0:amd64 252.38-1~deb12u1")}
	err = fields.Transform(context.Background(), m, func(_ string, out *message.Message) {
		state, _ := out.Attributes.Get("state")
		fmt.Printf("%s\nstate: %s\n", out.Body, state.Text())
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"at":"2025-06-24T14:36:25Z","state":"installed","package":"libsystemd0","version":"252.38-1~deb12u1"}
	// state: installed
}
