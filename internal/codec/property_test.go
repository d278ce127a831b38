package codec_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/message"
)

// pairs reads a flat JSON object in the order of its fields.
func pairs(t rapid.TB, body []byte) (names, values []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		value, err := d.Token()
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		names = append(names, name.(string))
		s, _ := value.(string)
		values = append(values, s)
	}
	return names, values
}

func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab,;\t\"'\r\n\\ 飛脚=€\x00\u2028")), 0, 12, -1),
		rapid.String().Filter(utf8.ValidString),
	)
}

func TestCSVReadsWhatEncodingCSVWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.SliceOfN(text(), 1, 8).Draw(t, "fields")
		comma := rapid.SampledFrom([]rune{',', ';', '\t', '|', '、'}).Draw(t, "comma")
		var line bytes.Buffer
		w := csv.NewWriter(&line)
		w.Comma = comma
		if err := w.Write(fields); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		columns := make([]string, len(fields))
		for i := range columns {
			columns[i] = "c" + strconv.Itoa(i)
		}
		d, err := codec.New(codec.Config{Codec: "csv", Columns: columns, Delimiter: string(comma)})
		if err != nil {
			t.Fatal(err)
		}
		out, err := d.Decode(&message.Message{Body: line.Bytes()})
		if err != nil {
			t.Fatalf("%q: %v", line.String(), err)
		}
		names, values := pairs(t, out.Body)
		if !cmp.Equal(names, columns) || !cmp.Equal(values, fields) {
			t.Fatalf("%q became %s", line.String(), out.Body)
		}
	})
}

func TestLogfmtReadsWhatIsQuotedLikeJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(text(), 0, 8).Draw(t, "values")
		var line strings.Builder
		var names []string
		for i, v := range values {
			name := "キー" + strconv.Itoa(i)
			names = append(names, name)
			quoted, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			line.WriteString(" " + name + "=" + string(quoted))
		}
		d, err := codec.New(codec.Config{Codec: "logfmt"})
		if err != nil {
			t.Fatal(err)
		}
		out, err := d.Decode(&message.Message{Body: []byte(line.String())})
		if err != nil {
			t.Fatal(err)
		}
		gotNames, gotValues := pairs(t, out.Body)
		if len(values) > 0 && (!cmp.Equal(gotNames, names) || !cmp.Equal(gotValues, values)) {
			t.Fatalf("%s became %s", line.String(), out.Body)
		}
	})
}

// jsonValue draws any JSON value, as encoding/json has it.
func jsonValue(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just(any(nil)), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(text(), func(s string) any { return s }),
		rapid.Map(numberText(), func(s string) any { return json.Number(s) }),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(jsonValue(depth-1), 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(text(), jsonValue(depth-1), 0, 4), func(m map[string]any) any { return m }))
}

func numberText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`-?(0|[1-9][0-9]{0,40})`),
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})\.[0-9]{1,20}`),
		rapid.StringMatching(`-?[1-9](\.[0-9]{1,12})?[eE][+-]?[0-9]{1,2}`))
}

func TestJSONIsCompactedAsTheStandardLibraryDoes(t *testing.T) {
	d := mustNew(t, codec.Config{Codec: "json"})
	rapid.Check(t, func(t *rapid.T) {
		v := jsonValue(3).Draw(t, "value")
		indented, err := json.MarshalIndent(v, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := json.Compact(&want, indented); err != nil {
			t.Fatal(err)
		}
		out, err := d.Decode(&message.Message{Body: indented})
		if err != nil || !bytes.Equal(out.Body, want.Bytes()) {
			t.Fatalf("got %s, %v\nwant %s", out.Body, err, want.Bytes())
		}
	})
}

func TestTreeIsWhatTheStandardLibraryReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.MarshalIndent(jsonValue(3).Draw(t, "value"), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		got, err := codec.Tree(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(standardTree(t, text), numbers(got)); d != "" {
			t.Fatal(d)
		}
	})
}

func standardTree(t rapid.TB, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// numbers makes a json.Number of each int, as the standard library has it.
func numbers(v any) any {
	switch v := v.(type) {
	case int:
		return json.Number(strconv.Itoa(v))
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}

func TestNumbersKeepTheirExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := numberText().Draw(t, "number")
		v, err := codec.Number(text)
		if err != nil {
			if strings.ContainsAny(text, "eE") {
				return // allowed: more digits than a float has, and no plain decimal
			}
			t.Fatal(err)
		}
		want, ok := new(big.Rat).SetString(text)
		got, ok2 := new(big.Rat).SetString(strings.TrimSpace(v.Text()))
		if !ok || !ok2 || want.Cmp(got) != 0 {
			t.Fatalf("%s became %#v", text, v)
		}
	})
}

func TestTypedNumbersKeepTheirDigits(t *testing.T) {
	for _, kind := range []string{"float", "decimal"} {
		d := mustNew(t, codec.Config{Codec: "csv", Columns: []string{"n"}, Types: map[string]string{"n": kind}})
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.StringMatching(` ?[+-]?([0-9]{1,30}\.?|[0-9]{0,30}\.[0-9]{1,30}) ?`).Draw(t, "number")
			out, err := d.Decode(&message.Message{Body: []byte(text)})
			if err != nil {
				t.Fatal(err)
			}
			var fields struct{ N json.Number }
			if err := json.Unmarshal(out.Body, &fields); err != nil {
				t.Fatalf("%s: %v", out.Body, err)
			}
			want, _ := new(big.Rat).SetString(strings.TrimSuffix(strings.TrimSpace(text), "."))
			got, _ := new(big.Rat).SetString(fields.N.String())
			if want == nil || got == nil || want.Cmp(got) != 0 {
				t.Fatalf("%q became %s", text, out.Body)
			}
		})
	}
}
