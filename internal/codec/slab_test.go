package codec_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestASlabIsDecodedAsItsMessagesAre(t *testing.T) {
	bodies := []string{
		"1,two,3", "1,two,3\n", "1,two,3\r\n", `"1","t ""w"" o",3`, "a\\b,c,d", "飛脚,b,c", ",,", "", "1,2", "1,2,3,4",
		"a\"b,c,d", "\xff,b,c", "a\tb,c,d", "a\nb,c,d",
		"12345678,12345678,1234567", "12345678,1234567\x7f,1234567é", "12345678,123456\x1f8,1234567", "1234567\xc3,b,c",
		`1234567",b,c`, `1234567\,b,c`,
	}
	letters := []string{"a", "1", ",", ",", `"`, `\`, "\n", "\r", "é", "\xff", "\x00", "long text without anything"}
	r := rand.New(rand.NewPCG(9, 22))
	for range 400 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		bodies = append(bodies, b.String())
	}
	var ms []*message.Message
	for i, body := range bodies {
		m := &message.Message{ID: message.NewID(), Body: []byte(body), Key: fmt.Sprint(i),
			Row: []message.Value{message.Int(1)}}
		m.Attributes.Set("was", message.Int(int64(i)))
		ms = append(ms, m)
	}
	for name, c := range map[string]codec.Config{
		"csv":            {Codec: "csv", Columns: []string{"a", "b", "c"}},
		"csv, one":       {Codec: "csv", Columns: []string{`"`}},
		"csv, strings":   {Codec: "csv", Columns: []string{"a", "b", "c"}, Types: map[string]string{"a": "string"}},
		"csv, tab":       {Codec: "csv", Columns: []string{"a", "b"}, Delimiter: "tab"},
		"csv, wide":      {Codec: "csv", Columns: []string{"a", "b"}, Delimiter: "é"},
		"csv, typed":     {Codec: "csv", Columns: []string{"a", "b", "c"}, Types: map[string]string{"a": "int"}},
		"csv, attribute": {Codec: "csv", Columns: []string{"a", "b", "c"}, Attributes: []string{"b"}},
		"csv, rest":      {Codec: "csv", Columns: []string{"a"}, Rest: "more"},
		"text":           {Codec: "text"},
		"bytes":          {Codec: "bytes"},
		"logfmt":         {Codec: "logfmt"},
	} {
		d := mustNew(t, c)
		for _, size := range []int{1, 2, 64, len(ms)} {
			for slab := range slices.Chunk(ms, size) {
				made := make([]*message.Message, len(slab))
				errs := d.DecodeSlab(slab, func(i int, m *message.Message) { made[i] = m })
				for i, m := range slab {
					want, err := d.Decode(m)
					var got error
					if errs != nil {
						got = errs[i]
					}
					if fmt.Sprint(got) != fmt.Sprint(err) {
						t.Fatalf("%s: %q in a slab: %v, alone: %v", name, m.Body, got, err)
					}
					if !reflect.DeepEqual(made[i], want) {
						t.Fatalf("%s: %q in a slab: %+v, alone: %+v", name, m.Body, made[i], want)
					}
				}
			}
		}
	}
}

func TestTheMessagesOfASlabCanBeKeptAndChangedAlone(t *testing.T) {
	d := mustNew(t, codec.Config{Codec: "csv", Columns: []string{"a"}})
	ms := []*message.Message{{Body: []byte("one")}, {Body: []byte("two")}}
	var made []*message.Message
	d.DecodeSlab(ms, func(_ int, m *message.Message) { made = append(made, m) })
	made[0].Body = append(made[0].Body, "more and more and more and more"...)
	made[0].Attributes.Set("x", message.Int(1))
	if string(made[1].Body) != `{"a":"two"}` || len(made[1].Attributes) != 0 || string(ms[0].Body) != "one" {
		t.Errorf("made %s of %s", made[1].Body, ms[0].Body)
	}
}

func BenchmarkDecodeSlab(b *testing.B) {
	d := mustNew(b, codec.Config{Codec: "csv", Columns: []string{"value1", "value2", "value3", "value4", "value5",
		"value6", "value7", "value8", "value9", "value10"}})
	ms := make([]*message.Message, 64)
	for i := range ms {
		ms[i] = &message.Message{Body: fmt.Appendf(nil,
			"%d,123.456,7.25,8.125,999.001,0.001,12.345,543.210,77.7,-1204.5", i)}
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n += len(ms) {
		if errs := d.DecodeSlab(ms, func(int, *message.Message) {}); errs != nil {
			b.Fatal(errs)
		}
	}
}
