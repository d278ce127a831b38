package message

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func at(s string) Value {
	t, _ := ParseTime(s)
	return Time(t)
}

func TestConvertMakesWhatTheColumnHolds(t *testing.T) {
	for _, c := range []struct {
		definition string
		in, want   Value
	}{
		{"a tinyint", Int(-128), Int(-128)},
		{"a tinyint unsigned", Int(255), Int(255)},
		{"a smallint", String(" 32767 "), Int(32767)},
		{"a mediumint", Int(-8388608), Int(-8388608)},
		{"a int", Bool(true), Int(1)},
		{"a int", Float(1.5), Int(2)},
		{"a int", Float(-1.5), Int(-2)},
		{"a int", String("1.4"), Int(1)},
		{"a int", String("1e3"), Int(1000)},
		{"a int", Decimal("-0.5"), Int(-1)},
		{"a bigint", Int(math.MinInt64), Int(math.MinInt64)},
		{"a bigint unsigned", Uint(math.MaxUint64), Uint(math.MaxUint64)},
		{"a bigint unsigned", String("18446744073709551615"), Uint(math.MaxUint64)},
		{"a int", Null(), Null()},
		{"a int", String("1e-999999999"), Int(0)},
		{"a int", String("0e999999999"), Int(0)},
		{"a decimal(5,2)", Float(5e-324), Decimal("0.00")},
		{"a json", String(" [1] "), String("[1]")},
		{"a bit(3)", Int(7), Int(7)},
		{"a bit(64)", Uint(math.MaxUint64), Uint(math.MaxUint64)},
		{"a bit(16)", Bytes([]byte{1, 2}), Int(258)},
		{"a year", Int(2026), Int(2026)},
		{"a year", Int(0), Int(0)},
		{"a year", String("0"), Int(2000)},
		{"a year", String("0000"), Int(0)},
		{"a year", Int(69), Int(2069)},
		{"a year", String("70"), Int(1970)},
		{"a decimal(5,2)", String("1.005"), Decimal("1.01")},
		{"a decimal(5,2)", Float(1.005), Decimal("1.01")},
		{"a decimal(5,2)", Int(-7), Decimal("-7.00")},
		{"a decimal(5,2)", Decimal("999.994"), Decimal("999.99")},
		{"a decimal(20)", Uint(math.MaxUint64), Decimal("18446744073709551615")},
		{"a decimal(2,2)", String("-.005"), Decimal("-0.01")},
		{"a decimal(2,2)", String("-.004"), Decimal("0.00")},
		{"a decimal(2,2)", Int(0), Decimal("0.00")},
		{"a decimal(65,30)", String("12345678901234567890123456789012345.123456789012345678901234567890"),
			Decimal("12345678901234567890123456789012345.123456789012345678901234567890")},
		{"a float", Float(0.1), Float(0.1)},
		{"a float", Float(0.123456789), Float(0.12345679)},
		{"a double", Float(0.123456789), Float(0.123456789)},
		{"a double", String("1e300"), Float(1e300)},
		{"a double", Int(3), Float(3)},
		{"a double", Decimal("0.5"), Float(0.5)},
		{"a date", String("2026-01-02 23:59:59"), at("2026-01-02")},
		{"a date", at("2026-01-02 12:00:00"), at("2026-01-02")},
		{"a datetime", String("2026-01-02T03:04:05.5Z"), at("2026-01-02 03:04:06")},
		{"a datetime(3)", String("2026-01-02 03:04:05.1234"), at("2026-01-02 03:04:05.123")},
		{"a datetime(6)", String("2026-01-02 03:04:05.123456"), at("2026-01-02 03:04:05.123456")},
		{"a timestamp", String("2026-01-02T03:04:05+09:00"), at("2026-01-01 18:04:05")},
		{"a timestamp(6)", String("2038-01-19 03:14:07.999999"), at("2038-01-19 03:14:07.999999")},
		{"a time", String("1:02:03"), String("01:02:03")},
		{"a time", String("1:02"), String("01:02:00")},
		{"a time", String("-838:59:59"), String("-838:59:59")},
		{"a time(2)", String("12:34:56.789"), String("12:34:56.79")},
		{"a time", at("2026-01-02 03:04:05"), String("03:04:05")},
		{"a time", at("1969-12-31 23:00:00"), String("23:00:00")},
		{"a char(3)", String("ab  "), String("ab")},
		{"a varchar(3)", String("ab  "), String("ab ")},
		{"a varchar(2)", String("飛脚"), String("飛脚")},
		{"a varchar(5)", Int(12345), String("12345")},
		{"a varchar(5)", Bytes([]byte("ab")), String("ab")},
		{"a varchar(5)", Bool(true), String("1")},
		{"a varchar(30)", at("2026-01-02 03:04:05.5"), String("2026-01-02 03:04:05.5")},
		{"a text", Float(0.5), String("0.5")},
		{"a tinytext", String(strings.Repeat("x", 255)), String(strings.Repeat("x", 255))},
		{"a binary(3)", Bytes([]byte{1}), Bytes([]byte{1, 0, 0})},
		{"a varbinary(3)", String("abc"), Bytes([]byte("abc"))},
		{"a blob", Int(5), Bytes([]byte("5"))},
		{"a blob", Bytes([]byte{0xff}), Bytes([]byte{0xff})},
		{"a json", String(`{"a": 1}`), String(`{"a": 1}`)},
		{"a json", Int(5), String("5")},
		{"a json", Bool(true), String("true")},
		{"a json", at("2026-01-02"), String(`"2026-01-02T00:00:00Z"`)},
		{"a enum('red','it''s','2')", String("red"), String("red")},
		{"a enum('red','it''s','2')", String("RED "), String("red")},
		{"a enum('red','it''s','2')", Bytes([]byte("it's")), String("it's")},
		{"a enum('red','it''s','2')", String("2"), String("2")},
		{"a enum('red','it''s','2')", String("1"), String("red")},
		{"a enum('red','it''s','2')", Uint(2), String("it's")},
		{"a enum('','飛脚')", String(""), String("")},
		{"a enum('a','A') collate utf8mb4_bin", String("A"), String("A")},
		{"a set('a','b','c')", String("c,A,c"), String("a,c")},
		{"a set('a','b','c')", String(""), String("")},
		{"a set('a','b','c')", Int(6), String("b,c")},
		{"a set('a','b','c')", String("5"), String("a,c")},
		{"a set('a','b','c')", Int(0), String("")},
	} {
		got, err := column(t, c.definition).Convert(c.in)
		if err != nil || got != c.want {
			t.Errorf("%s: %#v became %#v, %v, want %#v", c.definition, c.in, got, err, c.want)
		}
	}
}

func TestConvertRefusesWhatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		definition string
		in         Value
		reason     string
	}{
		{"a int not null", Null(), "must not be null"},
		{"a tinyint", Int(128), "out of its range"},
		{"a tinyint", Int(-129), "out of its range"},
		{"a tinyint unsigned", Int(-1), "tinyint unsigned and the value -1 is out"},
		{"a int", Float(2147483647.5), "out of its range"},
		{"a bigint", Uint(1 << 63), "out of its range"},
		{"a bigint", String("99999999999999999999"), "out of its range"},
		{"a bigint unsigned", Float(1e30), "out of its range"},
		{"a int", String("x"), `cannot hold the string "x"`},
		{"a int", String(""), "cannot hold"},
		{"a int", Float(math.NaN()), "cannot hold"},
		{"a int", Bytes([]byte("1")), "cannot hold the bytes x'31'"},
		{"a int", at("2026-01-02"), "cannot hold the time"},
		{"a int", String("1e999999999"), "cannot hold"},
		{"a int", String("0x10"), "cannot hold"},
		{"a int", String("1_000"), "cannot hold"},
		{"a int", String("1/2"), "cannot hold"},
		{"a bit(3)", Int(8), "out of its range"},
		{"a bit(3)", Int(-1), "out of its range"},
		{"a bit(64)", Bytes(make([]byte, 9)), "cannot hold"},
		{"a year", Int(1900), "out of its range"},
		{"a year", Int(2156), "out of its range"},
		{"a year", Int(100), "out of its range"},
		{"a year", String("x"), "cannot hold"},
		{"a year", Float(1e20), "out of its range"},
		{"a decimal(5,2)", Decimal("999.995"), "out of its range"},
		{"a decimal(5,2) unsigned", Int(-1), "out of its range"},
		{"a decimal(5,2)", String("x"), "cannot hold"},
		{"a decimal(5,2)", Float(math.Inf(1)), "cannot hold"},
		{"a float", Float(1e39), "out of its range"},
		{"a double", String("1e999"), "out of its range"},
		{"a double", Float(math.NaN()), "out of its range"},
		{"a double unsigned", Float(-1), "out of its range"},
		{"a double", String("inf"), "cannot hold"},
		{"a double", Bytes(nil), "cannot hold"},
		{"a date", String("2026-02-30"), "cannot hold"},
		{"a date", Int(20260102), "cannot hold the integer"},
		{"a datetime", String("9999-12-31 23:59:59.9"), "out of its range"},
		{"a timestamp", String("1970-01-01"), "out of its range"},
		{"a timestamp", String("2038-01-19 03:14:08"), "out of its range"},
		{"a datetime", Time(time.UnixMicro(math.MaxInt64)), "out of its range"},
		{"a time", String("839:00:00"), "out of its range"},
		{"a time", String("1:60:00"), "cannot hold"},
		{"a time", String("soon"), "cannot hold"},
		{"a time", String("1"), "cannot hold"},
		{"a time", String("1:2:3:4"), "cannot hold"},
		{"a time", String("1:02:03.x"), "cannot hold"},
		{"a time", Int(1), "cannot hold"},
		{"a time", String("1:+2:03"), "cannot hold"},
		{"a char(2)", String("abc"), "too long: 3 characters, at most 2"},
		{"a varchar(2)", String("飛脚便"), "too long: 3 characters"},
		{"a tinytext", String(strings.Repeat("飛", 86)), "too long: 258 bytes, at most 255"},
		{"a varchar(5)", Bytes([]byte{0xff}), "not valid UTF-8"},
		{"a text", String("\xff"), "not valid UTF-8"},
		{"a binary(2)", Bytes([]byte{1, 2, 3}), "too long: 3 bytes"},
		{"a tinyblob", Bytes(make([]byte, 256)), "too long"},
		{"a blob", String("\xff"), "not valid UTF-8"},
		{"a json", String("{"), "not valid JSON"},
		{"a json", Bytes([]byte("\"\xff\"")), "not valid JSON"},
		{"a json", Float(math.Inf(1)), "out of its range"},
		{"a enum('red','blue') not null", Null(), "must not be null"},
		{"a enum('red','blue')", String("green"), `is enum and the value "green" is none of its members`},
		{"a enum('red','blue')", String(""), "none of its members"},
		{"a enum('red','blue')", Int(0), "none of its members"},
		{"a enum('red','blue')", Int(3), "none of its members"},
		{"a enum('red','blue')", Int(-1), "none of its members"},
		{"a enum('red') collate utf8mb4_bin", String("Red"), "none of its members"},
		{"a enum('red')", at("2026-01-02"), "none of its members"},
		{"a set('a','b')", String("a,x"), "is set and the value \"a,x\" is none of its members"},
		{"a set('a','b')", Int(4), "none of its members"},
		{"a set('a','b')", Bytes([]byte{0xff}), "none of its members"},
		{"a int", String(strings.Repeat("x", 1000)), strings.Repeat("x", 40) + "…"},
	} {
		got, err := column(t, c.definition).Convert(c.in)
		var wrong *ColumnError
		if !errors.As(err, &wrong) || wrong.Column != "a" || !strings.Contains(err.Error(), c.reason) ||
			len(err.Error()) > 200 {
			t.Errorf("%s: %#v became %#v, %v, want %q", c.definition, c.in, got, err, c.reason)
		}
	}
}

func TestConvertIsStable(t *testing.T) {
	definitions := []string{"a tinyint", "a int unsigned", "a bigint", "a bigint unsigned", "a bit(9)",
		"a decimal(8,3)", "a decimal(65,30)", "a float", "a double", "a date", "a datetime(2)", "a timestamp",
		"a time(3)", "a year",
		"a char(4)", "a varchar(6)", "a text", "a binary(4)", "a varbinary(6)", "a blob", "a json",
		"a enum('x','3','')", "a set('x','3')"}
	rapid.Check(t, func(t *rapid.T) {
		c, err := ParseColumn(rapid.SampledFrom(definitions).Draw(t, "column"))
		if err != nil {
			t.Fatal(err)
		}
		v := drawValue(t)
		first, err := c.Convert(v)
		if err != nil {
			return
		}
		if again, err := c.Convert(first); err != nil || again != first {
			t.Fatalf("%s: %#v became %#v, then %#v, %v", c, v, first, again, err)
		}
		cs := Columns{c}
		object := cs.AppendJSON(nil, []Value{first})
		row, err := cs.FromJSON(object)
		if err != nil || row[0] != first && first != String("null") {
			t.Fatalf("%s: %#v is %s, which reads as %#v, %v", c, first, object, row, err)
		}
	})
}

func drawValue(t *rapid.T) Value {
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return Int(rapid.Int64().Draw(t, "int"))
	case 1:
		return Uint(rapid.Uint64().Draw(t, "uint"))
	case 2:
		return Float(rapid.Float64().Draw(t, "float"))
	case 3:
		return String(rapid.String().Draw(t, "string"))
	case 4:
		return Bytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case 5:
		return Time(time.UnixMicro(rapid.Int64Range(-6e16, 2.6e17).Draw(t, "time")))
	case 6:
		return String(rapid.StringMatching(
			`-?[0-9]{0,6}(\.[0-9]{1,5})?(e-?[0-9])?|-?[0-9]{1,3}:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,7})?)?|20[0-9]{2}-0[1-9]-[0-2][0-9]( 1[0-9]:00:00\.[0-9]{1,7})?`).Draw(t, "text"))
	default:
		return Bool(rapid.Bool().Draw(t, "bool"))
	}
}
