package programtest

import (
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Body makes up a body: mostly JSON.
func (g *Generator) Body() []byte {
	switch g.r.IntN(40) {
	case 0:
		n := pick(g, 60, 64, 65, 250, 256, 257, 1001)
		return []byte(strings.Repeat(`{"a":[`, n/2) + "1" + strings.Repeat("]}", n/2))
	case 1:
		return []byte(pick(g, "", "text", "{", `{"a":1} 2`, `{"a" 1}`, `[1,]`, `{"a":1,}`, "01", "1.", "+1", "'a'",
			"[1 2]", `"a`, "nul", "\xff", "1e", "-", "[\"\x01\"]"))
	}
	return []byte(g.space() + g.json(3) + g.space())
}

func (g *Generator) space() string {
	if g.once(4) {
		return pick(g, " ", "\n", "\t ", "\r\n")
	}
	return ""
}

func (g *Generator) json(depth int) string {
	n := g.r.IntN(10)
	if depth <= 0 {
		n = g.r.IntN(5)
	}
	switch n {
	case 0:
		return pick(g, "null", "true", "false")
	case 1, 2:
		return g.number()
	case 3, 4:
		return `"` + g.inside() + `"`
	case 5, 6:
		var list []string
		for range g.r.IntN(4) {
			list = append(list, g.space()+g.json(depth-1)+g.space())
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	var list []string
	for range g.r.IntN(6) {
		list = append(list, g.space()+`"`+g.name()+`"`+g.space()+":"+g.space()+g.json(depth-1)+g.space())
	}
	return "{" + strings.Join(list, ",") + "}"
}

func (g *Generator) name() string {
	if g.once(12) {
		return pick(g, `\u0061`, `i\u0064`, `\u00e9`, "", `a\n`, "end", "\xe9", "~\x7f")
	}
	return pick(g, names...)
}

func (g *Generator) number() string {
	return pick(g, "0", "-0", "1", "42", "-7", "1.5", "2.50", "1e3", "1E+2", "0.0", "-0.0", "1e999",
		"123456789012345678901234567890", "9223372036854775807",
		"9223372036854775808", "9007199254740993", "100000000000000000", "0.1234567890123456789", "1e-320", "1e17", "7",
		"42")
}

func (g *Generator) inside() string {
	text := ""
	for range g.r.IntN(3) {
		text += pick(g, "text", "飛脚", "12", "-3", "a b", `\"`, `\\`, `\/`, `\b\f\n\r\t`, `\u0041`, `\u001F`, "\u2028",
			"<&>", "\x7f", `\u007f`, "😀", `\ud83d\ude00`, "1.5")
	}
	if g.once(30) {
		text += pick(g, "\xff", `\ud83d`, `\ude00\ud83d`, `\ud83d\u0041`, `\x`, `\u12`, "\x01", "\xed\xa0\x80",
			"\xc0\x80")
	}
	return text
}

// Message makes up a message with a body.
func (g *Generator) Message() *message.Message {
	m := &message.Message{Body: g.Body()}
	if g.once(2) {
		m.ID, m.Key, m.Time = message.NewID(), pick(g, "k1", "飛", "\xff", `a"b`), time.Unix(1_700_000_000, 123_456_000)
	}
	if g.once(8) {
		m.Expires = time.Unix(2_000_000_000, 0)
	}
	if g.once(10) {
		m.Death = &message.Death{Queue: "default/news", Step: "archive", Reason: "no room", Attempts: 5, Time: m.Time}
	}
	for _, name := range []string{"user", "n", "z\"é"} {
		if g.once(2) {
			m.Attributes.Set(name, g.attribute())
		}
	}
	if g.once(40) {
		m.Attributes.Set("\xff", message.Int(1))
	}
	return m
}

func (g *Generator) attribute() message.Value {
	return pick(g, message.Null(), message.Bool(true), message.Int(-42), message.Int(1<<62), message.Uint(1<<63),
		message.Float(1.5), message.Float(3), message.Float(1e17),
		message.Float(1e-7), message.Decimal("12345678901234567890.10"), message.Decimal("-0"), message.String("飛脚\n"),
		message.String("\xff"), message.String("12"),
		message.Bytes([]byte{0xff, 0}), message.Time(time.Unix(1_700_000_000, 0)))
}
