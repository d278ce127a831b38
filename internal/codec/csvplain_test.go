package codec

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTheShortWayOfCSVSaysWhatTheLongOneDoes compares them, and looks that the short one takes what it is made for.
func TestTheShortWayOfCSVSaysWhatTheLongOneDoes(t *testing.T) {
	d, err := New(Config{Codec: "csv", Columns: []string{"a", `b"`, "飛脚"}})
	if err != nil {
		t.Fatal(err)
	}
	short := d.format.(*csvFormat)
	long := *short
	long.plain = plain{}
	records := []string{"1,2,3", "1,2,3\r\n", ",,", "12345678,飛脚,87654321", "1,2", "1,2,3,4", "", `"1",2,3`, `1,2,\`,
		"1,2,\x1f", "\xff,2,3", "1,2,3\n\n", "\r\n", "1,\x7f,2"}
	r := rand.New(rand.NewPCG(1, 2))
	letters := []string{"a", "b", ",", ",", ",", "é", `"`, `\`, "\n", "\x00", "\xff", "12345678"}
	for range 4_000 {
		var b strings.Builder
		for range r.IntN(14) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		records = append(records, b.String())
	}
	taken := 0
	for _, record := range records {
		before := []byte("before")
		got, ok := short.plain.append(before, []byte(record))
		if string(got[:len(before)]) != "before" || !ok && len(got) != len(before) {
			t.Fatalf("%q: %q is left", record, got)
		}
		want, _, err := long.appendDecoded([]byte("before"), []byte(record))
		switch {
		case ok && (err != nil || string(got) != string(want)):
			t.Fatalf("%q: the short way says %s, the long one %s, %v", record, got, want, err)
		case ok:
			taken++
		case err == nil && utf8.ValidString(record) &&
			!strings.ContainsFunc(record, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }):
			t.Errorf("%q: the short way does not take it", record)
		}
	}
	if taken < 20 {
		t.Errorf("only %d of %d records went the short way", taken, len(records))
	}
}

func TestWhatIsPlainIsFoundAtEveryPlace(t *testing.T) {
	for length := range 40 {
		text := []byte(strings.Repeat("x", length))
		if !isPlain(text) {
			t.Errorf("%q is not plain", text)
		}
		for at := range text {
			for c := range 256 {
				text[at] = byte(c)
				want := c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf
				if got := isPlain(text); got != want {
					t.Fatalf("%q: %v", text, got)
				}
			}
			text[at] = 'x'
		}
	}
}
