package rowstest

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// standard are the cases of a kind, as far as the column's limits go.
func standard(c rows.Column) []Case {
	cases := []Case{{Field: "null", Want: "NULL"}}
	switch c.Kind {
	case rows.Bool:
		cases = append(cases, wants("true", "true", "false", "false", "1", "true", "0", "false", `"true"`, "true",
			`"F"`, "false")...)
		return append(cases, refuses("bool", `"maybe"`, `""`)...)
	case rows.Int, rows.Uint:
		return append(cases, integers(c)...)
	case rows.Float:
		return append(cases, floats(c)...)
	case rows.Decimal:
		return append(cases, decimals(c)...)
	case rows.Text:
		return append(cases, texts(c)...)
	case rows.Bytes:
		return append(cases, bytesOf(c)...)
	case rows.Date:
		cases = append(cases, wants(`"2024-02-29"`, "2024-02-29", `"0001-01-01"`, "0001-01-01", `"1969-12-31"`,
			"1969-12-31", `"9999-12-31"`, "9999-12-31", `"2024-02-29T00:00:00Z"`, "2024-02-29")...)
		cases = append(cases, refuses("date", `"2023-02-29"`, `"2024-13-01"`, `"today"`, `""`, "true")...)
		return append(cases, Case{Field: `"2024-02-29 12:00:00"`, Refused: "would be lost"},
			Case{Field: "19000", Refused: "is a number"})
	case rows.TimeOfDay:
		cases = append(cases, wants(`"00:00:00"`, "00:00:00", `"23:59"`, "23:59:00", `"23:59:59.987654321"`,
			"23:59:59"+fraction("987654321", c.Scale), `"12:34:56.5"`, "12:34:56"+fraction("5", c.Scale))...)
		return append(cases, refuses("time of day", `"24:00:00"`, `"12:60:00"`, `"2024-02-29 12:00:00"`, `"noon"`)...)
	case rows.Timestamp, rows.TimestampTZ:
		return append(cases, moments(c)...)
	case rows.UUID:
		const u = "12345678-9abc-def0-1234-56789abcdef0"
		cases = append(cases, wants(strconv.Quote(u), u, strconv.Quote(strings.ToUpper(u)), u,
			strconv.Quote(strings.ReplaceAll(u, "-", "")), u)...)
		return append(cases, refuses("uuid", `"12345678"`, `"12345678-9abc-def0-1234-56789abcdefg"`, "7")...)
	case rows.JSON:
		return append(cases, wants(`{"b":[1,2.5,"x"],"a":{}}`, `{"b":[1,2.5,"x"],"a":{}}`, `[]`, `[]`, `"飛脚 \"x\""`,
			`"飛脚 \"x\""`, `"'; drop"`, `"'; drop"`, "12", "12", "true", "true", `{"n":12345678901234567}`,
			`{"n":12345678901234567}`)...)
	}
	return cases
}

// wants makes cases of fields and what they become.
func wants(pairs ...string) (cases []Case) {
	for i := 0; i < len(pairs); i += 2 {
		cases = append(cases, Case{Field: pairs[i], Want: pairs[i+1]})
	}
	return cases
}

func refuses(because string, fields ...string) (cases []Case) {
	for _, f := range fields {
		cases = append(cases, Case{Field: f, Refused: because})
	}
	return cases
}

func integers(c rows.Column) []Case {
	one := big.NewInt(1)
	least, most := big.NewInt(0), new(big.Int).Sub(new(big.Int).Lsh(one, uint(c.Bits)), one)
	if c.Kind == rows.Int {
		most = new(big.Int).Sub(new(big.Int).Lsh(one, uint(c.Bits-1)), one)
		least = new(big.Int).Neg(new(big.Int).Add(most, one))
	}
	over, under := new(big.Int).Add(most, one).String(), new(big.Int).Sub(least, one).String()
	cases := wants(least.String(), least.String(), most.String(), most.String(), strconv.Quote(most.String()),
		most.String(), most.String()+".0", most.String(),
		"0", "0", "-0", "0", "1e2", "100", "1.50e1", "15", `" 007 "`, "7", `"+7"`, "7", "true", "1")
	cases = append(cases, refuses("out of range", over, under, strconv.Quote(over), "1e30", "1e99999")...)
	cases = append(cases, refuses("no whole number", "1.5", `"0.1"`)...)
	return append(cases, refuses("integer", `"x"`, `""`, `"1 2"`, `"0x10"`, `"NaN"`)...)
}

func floats(c rows.Column) []Case {
	cases := wants("0", "0", "0.1", "0.1", "-1.5e-7", "-1.5e-7", "9007199254740993", "9007199254740992", `" 2.5 "`,
		"2.5", `".5"`, "0.5", "true", "1", "3.4028234e38", "3.4028234e38")
	if c.Bits == 64 {
		cases = append(cases, wants("1.7976931348623157e308", "1.7976931348623157e308", "-2.2250738585072014e-308",
			"-2.2250738585072014e-308", "0.30000000000000004", "0.30000000000000004")...)
	} else {
		cases = append(cases, refuses("out of range", "1e39")...)
	}
	cases = append(cases, refuses("out of range", "1e999", "-1e999")...)
	cases = append(cases, refuses("float", `"x"`, `""`, `"--1"`, `"0x1p4"`, `"1_000"`)...)
	for field, want := range map[string]string{`"NaN"`: "NaN", `"Infinity"`: "+Inf", `"-inf"`: "-Inf"} {
		if want == "NaN" && c.NoNaN || want != "NaN" && c.NoInf {
			cases = append(cases, Case{Field: field, Refused: "is not taken"})
		} else {
			cases = append(cases, Case{Field: field, Want: want})
		}
	}
	return cases
}

func decimals(c rows.Column) []Case {
	cases := wants("0", "0", "-7", "-7", `"007"`, "7", "1e1", "10")
	cases = append(cases, refuses("decimal", `"x"`, `""`, `"NaN"`, `"1,5"`)...)
	cases = append(cases, refuses("out of range", "1e99999")...)
	if c.Precision == 0 {
		return append(cases, wants("12345.678", "12345.678", "1.5e-3", "0.0015", "-0.1", "-0.1")...)
	}
	most := strings.Repeat("9", c.Precision-c.Scale)
	over := "1" + strings.Repeat("0", c.Precision-c.Scale)
	if c.Scale > 0 {
		most += "." + strings.Repeat("9", c.Scale)
		cases = append(cases, wants("0."+strings.Repeat("0", c.Scale-1)+"1", "0."+strings.Repeat("0", c.Scale-1)+"1",
			"1."+strings.Repeat("0", c.Scale+3), "1")...)
	}
	cases = append(cases, wants(most, most, "-"+most, "-"+most, strconv.Quote(most), most)...)
	cases = append(cases, refuses("out of range", over, "-"+over, "1e900")...)
	return append(cases, refuses("digits behind the point", "0."+strings.Repeat("0", c.Scale)+"1")...)
}

func texts(c rows.Column) []Case {
	cases := wants(`""`, "", `"飛脚 𝄞 é"`, "飛脚 𝄞 é", `"a'b\"c\\d%_"`, `a'b"c\d%_`, `"line\nbreak\ttab\r"`,
		"line\nbreak\ttab\r", `"\u98db\ud834\udd1e"`, "飛𝄞", `"\\N"`, `\N`, `"NULL"`, "NULL",
		"12.50", "12.50", "true", "true", `{"a": 1}`, `{"a": 1}`, `" x"`, " x",
		`"\ud834"`, "\uFFFD", `"a\udd1eb"`, "a\uFFFDb")
	if c.NoNUL {
		cases = append(cases, refuses("U+0000", `"a\u0000b"`)...)
	} else {
		cases = append(cases, Case{Field: `"a\u0000b"`, Want: "a\x00b"})
	}
	if c.Length > 0 && c.Length <= 1<<20 {
		letter, n := "字", c.Length
		if !c.Runes {
			letter = "x"
		}
		full := strings.Repeat(letter, n)
		cases = append(cases, Case{Field: strconv.Quote(full), Want: full},
			Case{Field: strconv.Quote(full + "x"), Refused: fmt.Sprint("longer than ", n)})
	}
	return cases
}

func bytesOf(c rows.Column) []Case {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	if c.Length > 0 {
		all = all[:min(len(all), c.Length)]
	}
	cases := wants(`""`, "", `"AA=="`, "00", `"AA"`, "00", strconv.Quote(base64.StdEncoding.EncodeToString(all)),
		hex.EncodeToString(all), strconv.Quote(base64.RawURLEncoding.EncodeToString(all)), hex.EncodeToString(all))
	if c.Length > 0 && c.Length <= 1<<20 {
		over := make([]byte, c.Length+1)
		cases = append(cases, Case{Field: strconv.Quote(base64.StdEncoding.EncodeToString(over)), Refused: "more than"})
	}
	return append(cases, refuses("base64", `"!!"`, `"A"`)...)
}

// fraction is what a column keeps of a second's digits.
func fraction(digits string, scale int) string {
	digits = strings.TrimRight(digits[:min(len(digits), scale)], "0")
	if digits == "" {
		return ""
	}
	return "." + digits
}

func moments(c rows.Column) []Case {
	zone := ""
	if c.Kind == rows.TimestampTZ {
		zone = "Z"
	}
	var cases []Case
	for field, want := range map[string]string{
		"2024-02-29T23:59:59Z":               "2024-02-29 23:59:59",
		"2024-02-29 23:59:59":                "2024-02-29 23:59:59",
		"2024-02-29":                         "2024-02-29 00:00:00",
		"2024-02-29T12:00":                   "2024-02-29 12:00:00",
		"2024-02-29T08:00:00+09:00":          "2024-02-28 23:00:00",
		"2024-02-29 23:30:00 -0130":          "2024-03-01 01:00:00",
		"2024-02-29T23:59:59.987654321Z":     "2024-02-29 23:59:59" + fraction("987654321", c.Scale),
		"2024-02-29T23:59:59.000001Z":        "2024-02-29 23:59:59" + fraction("000001", c.Scale),
		"1999-12-31T23:59:59.5+00":           "1999-12-31 23:59:59" + fraction("5", c.Scale),
		"1969-12-31T23:59:59.25Z":            "1969-12-31 23:59:59" + fraction("25", c.Scale),
		"0001-01-01T00:00:00Z":               "0001-01-01 00:00:00",
		"9999-12-31T23:59:59.9999999999999Z": "9999-12-31 23:59:59" + fraction("999999999", c.Scale),
	} {
		cases = append(cases, Case{Field: strconv.Quote(field), Want: want + zone})
	}
	cases = append(cases, refuses("timestamp", `"2023-02-29T00:00:00Z"`, `"2024-02-29T25:00:00Z"`, `"yesterday"`, `""`,
		`"2024-02-29T23:59:59+25:00"`)...)
	return append(cases, Case{Field: "1700000000", Refused: "timestamp(unix)"},
		Case{Field: `"12:00:00"`, Refused: "has no date"})
}
