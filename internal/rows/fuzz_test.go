package rows

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// FuzzObject holds the scanner to encoding/json: it takes the same objects and finds the same fields in them.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1}`, ` { "a" : [1,{"b":null}] , "b":"x\n\u98db\ud834\udd1e" } `, `{"a":1,"a":2}`,
		`{"a":-0.5e+10,"b":true,"c":false,"d":null}`, `{"a\u0062":1}`, `{"a":"\ud834"}`,
		`{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":"` + "\x01" + `"}`, `{"a":tru}`, `{"a"}`, `{"a":1,}`, `{"a":1}x`,
		`[]`, `{"a":{"b":{"c":[[[]]]}}}`, "{\"a\":\"\xff\"}", `{"":0}`, `{"a":1e999}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !isObject(string(body)) {
			return
		}
		var want map[string]json.RawMessage
		valid := json.Valid(body)
		if valid && json.Unmarshal(body, &want) != nil {
			t.Fatalf("%q is valid and cannot be read", body)
		}
		n := newNames()
		for name := range want {
			if strings.ContainsRune(name, utf8.RuneError) {
				return // encoding/json mends what is no character
			}
			n.add(name)
		}
		n.add("a field that is not there")
		s := newScanner(n)
		err := s.object(string(body))
		if valid && err != nil &&
			(!utf8.Valid(body) || strings.Contains(err.Error(), "deeper")) {
			return // it is stricter about characters, and depth is bounded
		}
		if valid != (err == nil) {
			t.Fatalf("%q: %v, but encoding/json takes it: %v", body, err, valid)
		}
		if !valid {
			return
		}
		if s.stranger != "" {
			t.Errorf("%q: %q is a stranger", body, s.stranger)
		}
		for name, raw := range want {
			got := s.tokens[n.number[name]]
			text := got.text
			if got.form == plain || got.form == escaped {
				text = `"` + text + `"`
			}
			if text != string(raw) {
				t.Errorf("%q: %q is %s, not %s", body, name, text, raw)
			}
			if content := got.content(); got.form == escaped {
				var want string
				if json.Unmarshal(raw, &want) != nil || content != want {
					t.Errorf("%s says %q, not %q", raw, content, want)
				}
				again := jsontext.AppendQuoted(nil, content)
				if json.Unmarshal(again, &want) != nil || want != content {
					t.Errorf("%q is written as %s", content, again)
				}
			}
		}
		first := slices.Clone(s.tokens)
		if err := s.object(string(body)); err != nil { // guessing now
			t.Errorf("%q the second time: %v", body, err)
		}
		if !slices.Equal(s.tokens, first) {
			t.Errorf("%q the second time: %q, not %q", body, s.tokens, first)
		}
	})
}

// TestGuessingChangesNothing scans an object after another one of the same fields, and alone.
func TestGuessingChangesNothing(t *testing.T) {
	n := newNames()
	n.add("a")
	n.add("b")
	n.add("quoted \"")
	const usual = `{"a":"1","b":"2","quoted \"":"3","c":"4"}`
	pieces := []string{`"a"`, `"b"`, `"c"`, `"quoted \""`, `:`, `:`, `,`, `,`, ` `, `"`, `"x"`, `"long text"`, `"é"`,
		`"\n"`, `"\\"`, "\"\xff\"", "\"\x01\"", `1.5`, `null`, `{}`, `[1]`, `}`, `{`}
	r := rand.New(rand.NewPCG(3, 9))
	bodies := []string{usual, `{"a":"1","b":"2"}`, `{"b":"2","a":"1"}`, `{"a":"1","b":"","c":"3"}`,
		`{"a":"1","a":"2","b":"3"}`, `{"a":"1",`, `{"a":"1`, `{"a":"`, `{"a":`, `{"a":"1" ,"b":"2"}`,
		`{"a":"1", "b":"2"}`}
	for range 5_000 {
		b := []byte(usual)
		for range r.IntN(4) {
			at := r.IntN(len(b))
			b = slices.Replace(b, at, min(len(b), at+r.IntN(6)), []byte(pieces[r.IntN(len(pieces))])...)
		}
		bodies = append(bodies, string(b))
	}
	for _, body := range bodies {
		guessing, alone := newScanner(n), newScanner(n)
		if err := guessing.object(usual); err != nil {
			t.Fatal(err)
		}
		got, want := guessing.object(body), alone.object(body)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q: guessing %v, alone %v", body, got, want)
		}
		if want == nil && (!slices.Equal(guessing.tokens, alone.tokens) || guessing.stranger != alone.stranger) {
			t.Fatalf("%q: guessing %q, %q, alone %q, %q", body, guessing.tokens, guessing.stranger, alone.tokens,
				alone.stranger)
		}
	}
}

// FuzzNumber holds the conversions of numbers to arithmetic with fractions.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"0", "-0", "1", "-128", "127", "128", "255", "256", "1e2", "1.50e1", "0.1",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "1e-3", "123e-5",
		"00", "+5", ".5", "5.", "1e999", "1e1001", "0e99999", "12345678901234567890.12345"} {
		f.Add(seed, uint8(8), uint8(5), uint8(2))
	}
	f.Fuzz(func(t *testing.T, s string, bits, precision, scale uint8) {
		n, small, ok := parseNumeral(s)
		want, isNumber := new(big.Rat), false
		if ok && small && len(s) < 100 {
			if _, isNumber = want.SetString(strings.TrimSuffix(s, ".")); !isNumber {
				_, isNumber = want.SetString(strings.ReplaceAll(strings.ReplaceAll(s, ".e", "e"), ".E", "E"))
			}
			if !isNumber {
				t.Fatalf("%q is taken for %+v", s, n)
			}
		}
		if !isNumber {
			return
		}
		text := n.text()
		if got, ok := new(big.Rat).SetString(text); !ok || got.Cmp(want) != 0 || strings.ContainsAny(text, "eE+") {
			t.Errorf("%q is written as %q", s, text)
		}
		exact, _ := strconv.ParseFloat(s, 64)
		if v, err := (&Column{Kind: Float, Bits: 64}).ofText(s); err == nil &&
			math.Float64bits(v.Float()) != math.Float64bits(exact) {
			t.Errorf("%q is the float %v, not %v", s, v.Float(), exact)
		}
		width := []int{8, 16, 24, 32, 64}[bits%5]
		least, most := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(width))
		for _, kind := range []Kind{Uint, Int} {
			c := Column{Kind: kind, Bits: width}
			if kind == Int {
				most.Rsh(most, 1)
				least.Neg(most)
			}
			v, err := c.ofText(s)
			fits := want.IsInt() && want.Num().Cmp(least) >= 0 && want.Num().Cmp(most) < 0
			if fits != (err == nil) {
				t.Errorf("%q as %v of %d bits: %v", s, kind, width, err)
			} else if fits && kind == Int && strconv.FormatInt(v.Int(), 10) != want.Num().String() || fits &&
				kind == Uint && strconv.FormatUint(v.Uint(), 10) != want.Num().String() {
				t.Errorf("%q is %v %d", s, kind, v.Int())
			}
		}
		d := Column{Kind: Decimal, Precision: 1 + int(precision%38)}
		d.Scale = int(scale) % (d.Precision + 1)
		unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale)), nil))
		units := new(big.Rat).Mul(want, unit)
		bound := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Precision)), nil)
		fits := units.IsInt() && new(big.Int).Abs(units.Num()).Cmp(bound) < 0
		v, err := d.ofText(s)
		if fits != (err == nil) {
			t.Errorf("%q as decimal(%d,%d): %v", s, d.Precision, d.Scale, err)
		} else if got, ok := new(big.Rat).SetString(v.Text()); fits && (!ok || got.Cmp(want) != 0) {
			t.Errorf("%q is %q", s, v.Text())
		}
	})
}

// FuzzClock holds the reader of times to package time.
func FuzzClock(f *testing.F) {
	for _, seed := range []string{"2024-02-29T23:59:59.123456789+09:00", "2024-02-29 23:59:59", "2024-02-29", "12:34",
		"12:34:56.7", "0000-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "2024-02-30", "2024-02-29T24:00:00Z",
		"2024-02-29 12:00 -0130", "2024-02-29T12:00:00+", "", "T"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k, ok := parseClock(s)
		if want, err := time.Parse(time.RFC3339Nano, s); err == nil {
			// package time takes hours of one digit
			if !ok && strings.Contains(s, "T") && len(s) >= 20 && s[13] == ':' {
				t.Fatalf("%q is refused", s)
			}
			if ok && (k.instant() != want.Unix() || int(k.nanos) != want.Nanosecond()) {
				t.Errorf("%q is %d.%09d, not %v", s, k.instant(), k.nanos, want)
			}
		}
		if want, err := time.Parse("2006-01-02 15:04:05", s); err == nil && ok && !strings.Contains(s, ",") &&
			k.instant() != want.Unix() {
			t.Errorf("%q is %d, not %v", s, k.instant(), want)
		}
		if ok && !k.dated && !k.timed {
			t.Errorf("%q is taken for nothing", s)
		}
	})
}

// FuzzName reads back what it writes.
func FuzzName(f *testing.F) {
	for _, seed := range []string{"t", "public.t", `"a.b"`, `a."b""c"`, `"`, `a"b`, ".", "", `""`, `"a"b`, "表.飛脚"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseName([]string{s})
		if err != nil {
			return
		}
		again, err := ParseName([]string{n.String()})
		if err != nil || again.Quoted('"') != n.Quoted('"') {
			t.Errorf("%q is %q, then %q, %v", s, n, again, err)
		}
	})
}

// FuzzDefinitions never loses a column in silence.
func FuzzDefinitions(f *testing.F) {
	for _, seed := range []string{"id bigint primary key, at timestamp(6), price decimal(10, 2) default '1,5'",
		`"a, b" text`, "a", "", "primary key (a)", "a int,,b int", `"a`, "a int check (a in (1, 2)), b text"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		columns, infer, err := definitions(s)
		if err == nil && (infer || len(columns) == 0) {
			t.Errorf("%q makes nothing", s)
		}
		for _, c := range columns {
			if err == nil && (c.Name == "" || c.Native == "") {
				t.Errorf("%q has a column %+v", s, c)
			}
		}
	})
}
