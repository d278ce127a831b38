package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message/jsontext/jsontexttest"
)

func TestStringsAreReadAsEncodingJSONDoes(t *testing.T) {
	jsontexttest.Check(t, func(quoted string) (string, bool) {
		text, err := Append(nil, []byte(quoted[1:len(quoted)-1]))
		return string(text), err == nil
	})
}

// FuzzAppendIsAsEncodingJSON: a text is the same also where it takes the place of what it is written as.
func FuzzAppendIsAsEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`飛脚 \n\t\b\f\r\"\\\/`, `\u98db\u811a`, `\ud83d\ude00`, `\ud83d`, `\ude00\ud83d`, `\`, `\u12`, `\x`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var want string
		valid := json.Unmarshal([]byte(`"`+raw+`"`), &want) == nil && utf8.ValidString(raw)
		got, err := Append(nil, []byte(raw))
		if valid && (err != nil || string(got) != want) {
			t.Errorf("%q is %q, %v, not %q", raw, got, err, want)
		}
		b := []byte(raw)
		if in, again := Append(b[:0], b); string(in) != string(got) || !errors.Is(again, err) {
			t.Errorf("%q in its place is %q, %v, not %q, %v", raw, in, again, got, err)
		}
	})
}

// FuzzQuotedTextsAreReadAsTheyWere looks for what has to be escaped a byte at a time, too.
func FuzzQuotedTextsAreReadAsTheyWere(f *testing.F) {
	for _, s := range []string{"", "飛脚 \"never\" \\ \t\r\n\x00\x1f\x7f", "0123456701234567\"01234567é", "\xff\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slow := 0
		for slow < len(text) && text[slow] >= ' ' && text[slow] != '"' && text[slow] != '\\' {
			slow++
		}
		if n := Ordinary(text); n != slow || Ordinary([]byte(text)) != slow {
			t.Errorf("%q: %d ordinary bytes, not %d", text, n, slow)
		}
		var again string
		quoted := AppendQuoted(nil, text)
		if utf8.ValidString(text) && (json.Unmarshal(quoted, &again) != nil || again != text) {
			t.Errorf("%q is written as %s, which is %q", text, quoted, again)
		}
	})
}

func TestOrdinaryStopsAtTheFirstSpecialByteWhereverItIs(t *testing.T) {
	for size := range 40 {
		for at := range size {
			for c := range 256 {
				for _, other := range []byte{' ', '!', '#', '[', ']', 0x7f, 0x80, 0xa0, 0xa2, 0xdc, 0xff} {
					text := bytes.Repeat([]byte{other}, size)
					text[at] = byte(c)
					want := size
					if c < ' ' || c == '"' || c == '\\' {
						want = at
					}
					if n := Ordinary(text); n != want {
						t.Fatalf("%q: %d ordinary bytes, wanted %d", text, n, want)
					}
				}
			}
		}
	}
}

func BenchmarkOrdinary(b *testing.B) {
	for _, size := range []int{5, 20, 1000} {
		text := bytes.Repeat([]byte{'a'}, size)
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				Ordinary(text)
			}
		})
	}
}
