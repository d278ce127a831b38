package program

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// call compiles a function or a variable.
func (c *compiler) call(f *gojq.Func) []stage {
	if i := c.find(f); i >= 0 {
		return one(variable{i})
	}
	if c.nested++; c.nested > maxNested {
		return c.leave()
	}
	switch {
	case len(f.Args) == 1 && f.Name == "select":
		return []stage{{keep: c.expression(f.Args[0])}}
	case len(f.Args) == 1 && f.Name == "map":
		return one(array{append([]stage{{each: true}}, c.query(f.Args[0])...)})
	case len(f.Args) > 0:
		return c.leave()
	}
	switch f.Name {
	case "empty":
		return []stage{{comma: [][]stage{}}}
	case "not":
		return one(choice{identity{}, no, yes})
	case "tostring":
		return one(toString{})
	case "tonumber":
		return one(toNumber{})
	}
	return c.leave()
}

func (c *compiler) object(o *gojq.Object) []stage {
	if c.nested++; c.nested > maxNested {
		return c.leave()
	}
	if len(o.KeyVals) == 0 {
		return one(literal("{}"))
	}
	made := make(object, 0, len(o.KeyVals))
	for _, kv := range o.KeyVals {
		var f objectField
		switch {
		case strings.HasPrefix(kv.Key, "$"):
			i := c.find(&gojq.Func{Name: kv.Key})
			if i < 0 || kv.Val != nil {
				return c.leave()
			}
			f = objectField{name: kv.Key[1:], value: variable{i}}
		case kv.Key != "":
			f.name = kv.Key
		case kv.KeyString != nil && kv.KeyString.Queries == nil:
			f.name = kv.KeyString.Str
		default:
			return c.leave()
		}
		switch {
		case !utf8.ValidString(f.name):
			return c.leave()
		case kv.Val != nil:
			f.value = c.expression(kv.Val)
		case f.value == nil:
			f.value = fieldOf{f.name}
		}
		made = append(made, f)
		c.names[f.name] = f.name
	}
	slices.SortFunc(made, func(a, b objectField) int { return strings.Compare(a.name, b.name) })
	for i := range made {
		begin := byte(',')
		switch {
		case i == 0:
			begin = '{'
		case made[i].name == made[i-1].name:
			return c.leave()
		}
		made[i].begin = string(append(appendQuoted([]byte{begin}, made[i].name), ':'))
	}
	return one(made)
}

func (c *compiler) array(a *gojq.Array) []stage {
	if c.nested++; c.nested > maxNested {
		return c.leave()
	}
	if a.Query == nil {
		return one(literal("[]"))
	}
	return one(array{c.query(a.Query)})
}

func (c *compiler) text(s *gojq.String) []stage {
	if s.Queries == nil {
		if !utf8.ValidString(s.Str) {
			return c.leave()
		}
		return one(literal(string(appendQuoted(nil, s.Str))))
	}
	made := make(text, 0, len(s.Queries))
	for _, q := range s.Queries {
		if q.Term == nil {
			return c.leave()
		}
		if plain, ok := plainText(q.Term); ok && len(q.Term.SuffixList) == 0 {
			if !utf8.ValidString(plain) {
				return c.leave()
			}
			made = append(made, textPart{plain: string(appendEscaped(nil, plain))})
			continue
		}
		made = append(made, textPart{value: c.expression(q)})
	}
	return one(made)
}
