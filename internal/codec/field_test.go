package codec_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestFieldsAreReadByTheRulesOfConditions(t *testing.T) {
	m := &message.Message{Key: "k", Body: []byte(`{"a":1,"b":{"c":"x","d":{}},"lang":"en"}`)}
	m.Attributes.Set("lang", message.String("ja"))
	f := codec.NewFields("a", "b.c", "lang", "key", "b", "none", "a")
	want := []message.Value{message.Int(1), message.String("x"), message.String("ja"), message.String("k"),
		message.Null(), message.Null(), message.Int(1)}
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			if got := f.Read(m); !slices.Equal(got, want) {
				t.Errorf("got %#v", got)
			}
		})
	}
	work.Wait()
	if got := codec.NewFields("a").Read(&message.Message{Body: []byte("text")}); !got[0].IsNull() {
		t.Errorf("got %#v", got)
	}
}
