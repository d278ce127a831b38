package short

import (
	"strings"
	"testing"
)

// only is the value of an INSERT of one.
func only(t *testing.T, literal string) Value {
	t.Helper()
	s, ok := recognizedRightly(t, "insert into t values ("+literal+")", Mode{})
	if !ok || s.Len() != 1 || s.Width() != 1 {
		t.Fatalf("%s is not recognized", literal)
	}
	return s.Row(0)[0]
}

func TestALiteralIsDecoded(t *testing.T) {
	for literal, want := range map[string]struct {
		kind Kind
		text string
	}{
		"NULL":                    {Null, ""},
		"NuLl":                    {Null, ""},
		"?":                       {Placeholder, ""},
		"''":                      {String, ""},
		"'abc'":                   {String, "abc"},
		`"abc"`:                   {String, "abc"},
		`'a''b'`:                  {String, "a'b"},
		`"a""b"`:                  {String, `a"b`},
		`'a""b'`:                  {String, `a""b`},
		`"a''b"`:                  {String, `a''b`},
		`''''`:                    {String, "'"},
		`'\\'`:                    {String, `\`},
		`'\''''`:                  {String, "''"},
		`'\\''\\'`:                {String, `\'\`},
		`'\0\b\n\r\t\Z'`:          {String, "\x00\b\n\r\t\x1a"},
		`'\N\a\x41\?'`:            {String, "Nax41?"},
		"'\\\n'":                  {String, "\n"},
		"'%_'":                    {String, "%_"},
		"'\x80\xfe\xff'":          {String, "\x80\xfe\xff"},
		"'\\\xff\\'\xfe'":         {String, "\xff'\xfe"},
		"'飛\\脚'":                  {String, "飛脚"},
		"0":                       {Integer, "0"},
		"-0":                      {Integer, "-0"},
		"0012":                    {Integer, "0012"},
		"-9223372036854775808":    {Integer, "-9223372036854775808"},
		"99999999999999999999":    {Integer, "99999999999999999999"},
		"0.0":                     {Decimal, "0.0"},
		"-12.50":                  {Decimal, "-12.50"},
		"x''":                     {Hex, ""},
		"X'00fF'":                 {Hex, "\x00\xff"},
		"0x00fF":                  {Hex, "\x00\xff"},
		"0xabc":                   {Hex, "\x0a\xbc"},
		"0x1":                     {Hex, "\x01"},
		"'" + huge + `\'` + "'":   {String, huge + "'"},
		`'\'` + huge + `''` + "'": {String, "'" + huge + "'"},
	} {
		if v := only(t, literal); v.Kind != want.kind || v.Text() != want.text || string(v.Append(nil)) != want.text {
			t.Errorf("%.40s is the %s %.40q, want the %s %.40q", literal, v.Kind, v.Text(), want.kind, want.text)
		}
	}
}

var huge = strings.Repeat("飛脚 ", 1<<16)

func TestOnlyAnIntegerOf64BitsHasAnInt(t *testing.T) {
	for literal, want := range map[string]int64{
		"0": 0, "-0": 0, "0042": 42, "-7": -7, "9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63,
	} {
		if n, ok := only(t, literal).Int(); !ok || n != want {
			t.Errorf("%s is %d, %v", literal, n, ok)
		}
	}
	for _, literal := range []string{"9223372036854775808", "-9223372036854775809", "1.0", "'1'", "0x1", "NULL", "?"} {
		if n, ok := only(t, literal).Int(); ok {
			t.Errorf("%s is %d", literal, n)
		}
	}
}

func TestTextIsPartOfTheQueryWhereNothingIsEscaped(t *testing.T) {
	plain, quoted := only(t, "'"+huge+"'"), only(t, "'"+huge+"'''")
	if n := testing.AllocsPerRun(10, func() { plain.Text() }); n != 0 {
		t.Errorf("a string without escapes takes %v allocations", n)
	}
	if n := testing.AllocsPerRun(10, func() { quoted.Text() }); n > 2 {
		t.Errorf("a string with escapes takes %v allocations", n)
	}
	room := make([]byte, 0, quoted.Size())
	if n := testing.AllocsPerRun(10, func() { quoted.Append(room) }); n != 0 {
		t.Errorf("appending to a slice with room takes %v allocations", n)
	}
}

func TestVerbsAndKindsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for v := Verb(0); v <= Insert; v++ {
		seen[v.String()] = true
	}
	for k := Null; k <= Placeholder; k++ {
		seen[k.String()] = true
	}
	if want := int(Insert) + 1 + int(Placeholder) + 1; len(seen) != want || Kind(99).String() != "no kind" {
		t.Errorf("%d names for %d things: %v", len(seen), want, seen)
	}
}

func TestARowCannotGrowIntoTheNext(t *testing.T) {
	s, ok := recognizedRightly(t, "insert into t values (1, 2), (3, 4)", Mode{})
	if !ok {
		t.Fatal("it is not recognized")
	}
	_ = append(s.Row(0), Value{})
	if got := s.Row(1)[0].Text(); got != "3" {
		t.Errorf("the second row begins with %q", got)
	}
	if end, _ := Parse("select queue_end()", Mode{}); end.Len() != 0 || end.Width() != 0 {
		t.Errorf("a call has %d rows", end.Len())
	}
}
