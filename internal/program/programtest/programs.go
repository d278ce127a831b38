package programtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generator makes things up. It is for one goroutine.
type Generator struct{ r *rand.Rand }

// New returns the generator of a seed: the same makes up the same.
func New(seed uint64) *Generator { return &Generator{rand.New(rand.NewPCG(seed, 0))} }

func pick[T any](g *Generator, of ...T) T { return of[g.r.IntN(len(of))] }

// once tells, on the average once of n times, true.
func (g *Generator) once(n int) bool { return g.r.IntN(n) == 0 }

// Program makes up a program.
func (g *Generator) Program() string { return g.query(3) }

func (g *Generator) query(depth int) string {
	if depth <= 0 {
		return g.term(0)
	}
	switch g.r.IntN(12) {
	case 0:
		return g.query(depth-1) + ", " + g.query(depth-1)
	case 1, 2, 3:
		return g.query(depth-1) + " | " + g.query(depth-1)
	case 4:
		return g.term(depth-1) + pick(g, " // ", " == ", " != ", " and ", " or ") + g.term(depth-1)
	}
	return g.term(depth)
}

func (g *Generator) term(depth int) string {
	if depth <= 0 {
		return pick(g, g.path, g.path, g.path, g.literal, g.variable)()
	}
	switch g.r.IntN(14) {
	case 0, 1, 2:
		return g.object(depth - 1)
	case 3:
		return "[" + g.query(depth-1) + "]"
	case 4, 5:
		return g.interpolation(depth - 1)
	case 6:
		return "(" + g.query(depth-1) + ")" + g.suffix()
	case 7:
		text := "if " + g.query(depth-1) + " then " + g.query(depth-1)
		if g.once(3) {
			text += " elif " + g.query(depth-1) + " then " + g.query(depth-1)
		}
		if !g.once(3) {
			text += " else " + g.query(depth-1)
		}
		return text + " end"
	case 8:
		return pick(g, "select", "map", "select", "map", "first", "path") + "(" + g.query(depth-1) + ")"
	case 9:
		return pick(g, "empty", "not", "tostring", "tonumber", "tostring", "tonumber", "length", "keys", "..", "error",
			"tojson", "type", "add")
	case 10:
		return g.object(depth-1) + g.suffix()
	case 11:
		return "(" + g.path() + " | tonumber)"
	}
	return g.term(0)
}

// names are those of fields, few enough to be met.
var names = []string{"a", "b", "id", "é", "start", "a b"}

func (g *Generator) path() string {
	if g.once(5) {
		return "."
	}
	text := g.field()
	for g.once(2) {
		text += g.suffix()
	}
	if strings.HasPrefix(text, "[") {
		return "." + text
	}
	return text
}

func (g *Generator) field() string {
	name := pick(g, names...)
	switch {
	case strings.ContainsAny(name, " é") || g.once(6):
		return pick(g, ".", ".[") + fmt.Sprintf("%q", name)
	case g.once(6):
		return fmt.Sprintf(".[%q]", name)
	}
	return "." + name
}

func (g *Generator) suffix() string {
	text := pick(g, g.field(), g.field(), "[]", "[0]", "[-1]", "[2]", "[1:2]", "?", "[.a]", "[1.5]", "")
	if strings.HasPrefix(text, `.["`) && !strings.HasSuffix(text, "]") {
		text += "]"
	}
	return text
}

func (g *Generator) literal() string {
	return pick(g, "null", "true", "false", "0", "7", "-7", "1.5", "0.10", "1e3", "1e17", "123456789012345678901234",
		"9007199254740993", "100000000000000", "-0", "1E-9",
		`"text"`, `"飛脚"`, `"a\"\\\n\u0001\u007f\/"`, `"\ud83d\ude00"`, `""`, "[]", "{}", `"12"`, `"-3"`, `"007"`,
		`"1.50"`)
}

// variables are all that any room knows; an unknown one is no program.
func (g *Generator) variable() string {
	return pick(g, "$attributes", "$attributes.user", "$attributes.none", `$attributes["n"]`, "$attributes.user.id",
		"$id", "$key", "$time", "$expires")
}

func (g *Generator) object(depth int) string {
	var members []string
	for range g.r.IntN(4) {
		name := pick(g, names...)
		switch {
		case g.once(8):
			members = append(members, "("+g.query(depth)+"): "+g.term(depth))
		case g.once(8):
			members = append(members, pick(g, "$id", "$key", "$attributes"))
		case strings.ContainsAny(name, " é"):
			name = fmt.Sprintf("%q", name)
			fallthrough
		default:
			if g.once(3) {
				members = append(members, name)
			} else {
				members = append(members, name+": "+g.value(depth))
			}
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// value is what may stand in an object without parentheses, and what may not.
func (g *Generator) value(depth int) string {
	if g.once(3) {
		return "(" + g.query(depth) + ")"
	}
	return g.term(depth)
}

func (g *Generator) interpolation(depth int) string {
	text := `"`
	if g.once(20) {
		text = "@base64 " + text
	}
	for range 1 + g.r.IntN(2) {
		text += pick(g, "", "to ", `\t飛\u0000`) + `\(` + g.query(depth) + ")"
	}
	return text + pick(g, "", " end") + `"`
}
