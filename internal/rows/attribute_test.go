package rows

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// shown writes a value for comparison.
func shown(v Value) string {
	switch v.Kind() {
	case Null:
		return "null"
	case Bool:
		return fmt.Sprint(v.Bool())
	case Int:
		return fmt.Sprint(v.Int())
	case Uint:
		return fmt.Sprint(v.Uint())
	case Float:
		return fmt.Sprint(v.Float())
	case Date:
		return time.Unix(v.Int()*daySeconds, 0).UTC().Format(time.DateOnly)
	case TimeOfDay:
		return time.Duration(v.Int()).String()
	case Timestamp, TimestampTZ:
		return v.Time().Format(time.RFC3339Nano)
	case UUID, Bytes:
		return fmt.Sprintf("%x", v.Text())
	}
	return v.Text()
}

func TestAttributesKeepWhatTheyAre(t *testing.T) {
	at := time.Date(1969, 12, 31, 23, 59, 59, 123456000, time.UTC)
	for _, c := range []struct {
		value  message.Value
		column Column
		want   string // a ! stands before a part of the reason
	}{
		{message.Null(), Column{Kind: Int, Nullable: true}, "null"},
		{message.Null(), Column{Kind: Int}, "!null is not taken"},
		{message.Bool(true), Column{Kind: Bool}, "true"},
		{message.Bool(true), Column{Kind: Int, Bits: 8}, "1"},
		{message.Bool(false), Column{Kind: Text}, "false"},
		{message.Bool(false), Column{Kind: Date}, "!is no date"},
		{message.Int(-129), Column{Kind: Int, Bits: 8}, "!out of range"},
		{message.Uint(math.MaxUint64), Column{Kind: Uint, Bits: 64}, "18446744073709551615"},
		{message.Uint(math.MaxUint64), Column{Kind: Int, Bits: 64}, "!out of range"},
		{message.Int(1), Column{Kind: Bool}, "true"},
		{message.Int(2), Column{Kind: Bool}, "!neither 0 nor 1"},
		{message.Int(5), Column{Kind: JSON}, "5"},
		{message.Int(5), Column{Kind: Bytes}, "!is no bytes"},
		{message.Float(1e21), Column{Kind: Decimal}, "1000000000000000000000"},
		{message.Float(1e300), Column{Kind: Int, Bits: 64}, "!out of range"},
		{message.Float(math.NaN()), Column{Kind: Float, Bits: 64}, "NaN"},
		{message.Float(math.Inf(-1)), Column{Kind: Float, NoInf: true}, "!is not taken"},
		{message.Float(math.NaN()), Column{Kind: Int, Bits: 64}, "!is no integer"},
		{message.Float(0.1), Column{Kind: Text}, "0.1"},
		{message.Decimal("12.50"), Column{Kind: Decimal, Precision: 4, Scale: 1}, "12.5"},
		{message.Decimal("12.55"), Column{Kind: Decimal, Precision: 4, Scale: 1},
			"!more than 1 digits behind the point"},
		{message.String("12"), Column{Kind: Int, Bits: 64}, "12"},
		{message.String(`{"a":1}`), Column{Kind: JSON}, `{"a":1}`},
		{message.String(`{"a":`), Column{Kind: JSON}, `"{\"a\":"`},
		{message.String("a\xff"), Column{Kind: Text}, "!no valid UTF-8"},
		{message.String("AAE="), Column{Kind: Bytes}, "0001"},
		{message.Bytes([]byte("a\xff")), Column{Kind: Bytes}, "61ff"},
		{message.Bytes([]byte("a\xff")), Column{Kind: Bytes, Length: 1}, "!more than 1"},
		{message.Bytes([]byte("0123456789abcdef")), Column{Kind: UUID}, "30313233343536373839616263646566"},
		{message.Bytes([]byte("text")), Column{Kind: Text}, "text"},
		{message.Bytes([]byte("a\xff")), Column{Kind: Text}, "!no valid UTF-8"},
		{message.Time(at), Column{Kind: TimestampTZ, Scale: 6}, "1969-12-31T23:59:59.123456Z"},
		{message.Time(at), Column{Kind: Timestamp, Scale: 3}, "1969-12-31T23:59:59.123Z"},
		{message.Time(at), Column{Kind: Timestamp}, "1969-12-31T23:59:59Z"},
		{message.Time(at), Column{Kind: Text}, "1969-12-31T23:59:59.123456Z"},
		{message.Time(at), Column{Kind: JSON}, `"1969-12-31T23:59:59.123456Z"`},
		{message.Time(at), Column{Kind: Date}, "!would be lost"},
		{message.Time(at.Truncate(24 * time.Hour)), Column{Kind: Date}, "1969-12-31"},
		{message.Time(at), Column{Kind: Int, Bits: 64}, "!is no integer"},
	} {
		v, err := c.column.ofAttribute(c.value)
		if why, refused := strings.CutPrefix(c.want, "!"); refused {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%#v as %v: %s, %v", c.value, c.column.Kind, shown(v), err)
			}
			continue
		}
		if err != nil || shown(v) != c.want || v.Kind() != c.column.Kind && v.Kind() != Null {
			t.Errorf("%#v as %v: %s, %v; not %s", c.value, c.column.Kind, shown(v), err, c.want)
		}
	}
}

func TestAttributesBecomeOneObject(t *testing.T) {
	var as message.Attributes
	as.Set("b", message.Bytes([]byte{0, 255}))
	as.Set("f", message.Float(math.Inf(1)))
	as.Set("g", message.Float(-1e-9))
	as.Set("i", message.Int(-5))
	as.Set("n", message.Null())
	as.Set("q\"\n", message.String("\x01\t\\ 飛脚"))
	as.Set("t", message.Time(time.Unix(0, 0)))
	as.Set("y", message.Bool(true))
	text := appendAttributes(nil, as)
	if want := `{"b":"AP8=","f":"+Inf","g":-1e-09,"i":-5,"n":null,"q\"\n":"\u0001\t\\ 飛脚","t":"1970-01-01T00:00:00Z","y":true}`; string(text) != want || !json.Valid(text) {
		t.Errorf("%s, not %s", text, want)
	}
}

func TestReasonsShowOnlyTheBeginningOfAValue(t *testing.T) {
	c := Column{Name: "n", Kind: Int, Bits: 32, Native: "int4"}
	_, err := c.ofText(strings.Repeat("飛脚", 100_000))
	if err == nil || len(err.Error()) > 200 || !strings.Contains(err.Error(), "the column n is int4: ") ||
		!strings.Contains(err.Error(), "600000 bytes") {
		t.Errorf("%.300v", err)
	}
}
