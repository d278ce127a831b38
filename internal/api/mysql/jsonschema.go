package mysql

import (
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// JSON_SCHEMA_VALID and JSON_SCHEMA_VALIDATION_REPORT by Draft 4 of JSON Schema, as MySQL has them. A schema can make
// that as much work as it likes, and so the work is counted.

// schemed looks whether a document is as a schema says.
type schemed struct {
	*gms.Context
	root  any // the schema
	steps int64
	depth int
}

// failed is the first thing that a document is not.
type failed struct{ schema, document, keyword string }

// deepestSchema is how deep a schema and a document may go together: MySQL's depth of a document.
const deepestSchema = 100

// againstSchema holds a document against a schema, both as arguments of a function; nil: it is as it should be.
func againstSchema(ctx *gms.Context, name string, args []any) (*failed, error) {
	schema, err := documentOf(ctx, name, args[0])
	if err != nil {
		return nil, err
	}
	if _, ok := schema.(map[string]any); !ok {
		return nil, sqlError(3853, "22032", "Invalid JSON type in argument 1 to function %s; an object is required.",
			name)
	}
	document, err := documentOf(ctx, name, args[1])
	if err != nil {
		return nil, err
	}
	return (&schemed{Context: ctx, root: schema}).look(schema, document, "#", "#")
}

func jsonSchemaValid(ctx *gms.Context, args []any) (any, error) {
	f, err := againstSchema(ctx, "json_schema_valid", args)
	return f == nil, err
}

func jsonSchemaReport(ctx *gms.Context, args []any) (any, error) {
	f, err := againstSchema(ctx, "json_schema_validation_report", args)
	if err != nil {
		return nil, err
	}
	report := map[string]any{"valid": f == nil}
	if f != nil {
		report["reason"] = "The JSON document location '" + f.document + "' failed requirement '" + f.keyword +
			"' at JSON Schema location '" + f.schema + "'"
		report["schema-location"], report["document-location"] = f.schema, f.document
		report["schema-failed-keyword"] = f.keyword
	}
	return types.JSONDocument{Val: report}, nil
}

func ofDocument(*gms.Context, []gms.Expression) gms.Type { return types.JSON }

// step counts work, and ends it with its statement.
func (s *schemed) step(n int64) error {
	s.steps += n
	if m := meterOf(s.Context); m != nil && s.steps >= 1<<10 {
		s.steps = 0
		return m.alive()
	}
	return nil
}

// look holds a value against a schema. Both have a path.
func (s *schemed) look(schema, v any, at, in string) (*failed, error) {
	if s.depth++; s.depth > deepestSchema {
		return nil, sqlError(3157, "22032", "The JSON document exceeds the maximum depth.")
	}
	defer func() { s.depth-- }()
	if err := s.step(1); err != nil {
		return nil, err
	}
	rules, ok := schema.(map[string]any)
	if !ok {
		return nil, nil
	}
	if ref, ok := rules["$ref"].(string); ok {
		to, err := s.refer(ref)
		if err != nil {
			return nil, err
		}
		return s.look(to, v, ref, in)
	}
	for _, keyword := range []string{"type", "enum"} {
		if rule, there := rules[keyword]; there && !fitsRule(keyword, rule, v) {
			return &failed{at, in, keyword}, nil
		}
	}
	if f, err := s.together(rules, v, at, in); f != nil || err != nil {
		return f, err
	}
	switch v := v.(type) {
	case map[string]any:
		return s.object(rules, v, at, in)
	case []any:
		return s.array(rules, v, at, in)
	case string:
		return s.text(rules, v, at, in)
	}
	if n, ok := plainNumber(v); ok {
		return numberFails(rules, n, at, in), nil
	}
	return nil, nil
}

// refer finds another schema within the same.
func (s *schemed) refer(ref string) (any, error) {
	if !strings.HasPrefix(ref, "#") {
		return nil, sqlError(erUnsupported, "42000", "This version of MySQL doesn't yet support 'references to external "+
			"resource in JSON Schema'")
	}
	found := s.root
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#"), "/")[1:] {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch in := found.(type) {
		case map[string]any:
			found = in[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(in) {
				return nil, nil
			}
			found = in[i]
		default:
			return nil, nil
		}
	}
	return found, nil
}

// fitsRule is for what a value has to be.
func fitsRule(keyword string, rule, v any) bool {
	wanted, several := rule.([]any)
	if !several {
		wanted = []any{rule}
	}
	if keyword == "enum" {
		return slices.ContainsFunc(wanted, func(one any) bool { return sameValue(one, v) })
	}
	n, isNumber := plainNumber(v)
	return slices.ContainsFunc(wanted, func(kind any) bool {
		switch kind {
		case "integer":
			return isNumber && n == math.Trunc(n)
		case "number":
			return isNumber
		case "null":
			return v == nil
		case "boolean":
			_, ok := v.(bool)
			return ok
		case "string":
			_, ok := v.(string)
			return ok
		case "array":
			_, ok := v.([]any)
			return ok
		case "object":
			_, ok := v.(map[string]any)
			return ok
		}
		return true // it says nothing
	})
}

// together are the rules that are made of other schemas.
func (s *schemed) together(rules map[string]any, v any, at, in string) (*failed, error) {
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		schemas, there := rules[keyword].([]any)
		fit := 0
		for i, one := range schemas {
			f, err := s.look(one, v, at+"/"+keyword+"/"+strconv.Itoa(i), in)
			if err != nil {
				return nil, err
			}
			if f == nil {
				fit++
			}
		}
		if there && (keyword == "allOf" && fit < len(schemas) || keyword == "anyOf" && fit == 0 ||
			keyword == "oneOf" && fit != 1) {
			return &failed{at, in, keyword}, nil
		}
	}
	if not, there := rules["not"]; there {
		if f, err := s.look(not, v, at+"/not", in); f == nil {
			return &failed{at, in, "not"}, err
		}
	}
	return nil, nil
}

func (s *schemed) object(rules, v map[string]any, at, in string) (*failed, error) {
	if keyword := outside(rules, "Properties", len(v)); keyword != "" {
		return &failed{at, in, keyword}, nil
	}
	required, _ := rules["required"].([]any)
	for _, name := range required {
		if _, there := v[text64(name)]; !there {
			return &failed{at, in, "required"}, nil
		}
	}
	properties, _ := rules["properties"].(map[string]any)
	patterns, _ := rules["patternProperties"].(map[string]any)
	depends, _ := rules["dependencies"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		known := false
		try := func(schema any, at string) (*failed, error) {
			known = true
			return s.look(schema, v[name], at, in+"/"+name)
		}
		if schema, there := properties[name]; there {
			if f, err := try(schema, at+"/properties/"+name); f != nil || err != nil {
				return f, err
			}
		}
		for pattern, schema := range patterns {
			fits, err := s.matches(pattern, name)
			if err != nil {
				return nil, err
			}
			if fits {
				if f, err := try(schema, at+"/patternProperties/"+pattern); f != nil || err != nil {
					return f, err
				}
			}
		}
		switch others := rules["additionalProperties"].(type) {
		case bool:
			if !others && !known {
				return &failed{at, in, "additionalProperties"}, nil
			}
		case map[string]any:
			if !known {
				if f, err := try(others, at+"/additionalProperties"); f != nil || err != nil {
					return f, err
				}
			}
		}
		switch needed := depends[name].(type) {
		case []any:
			for _, other := range needed {
				if _, there := v[text64(other)]; !there {
					return &failed{at, in, "dependencies"}, nil
				}
			}
		case map[string]any:
			if f, err := s.look(needed, v, at+"/dependencies/"+name, in); f != nil || err != nil {
				return f, err
			}
		}
	}
	return nil, nil
}

func (s *schemed) array(rules map[string]any, v []any, at, in string) (*failed, error) {
	if keyword := outside(rules, "Items", len(v)); keyword != "" {
		return &failed{at, in, keyword}, nil
	}
	if rules["uniqueItems"] == true {
		for i, one := range v {
			if err := s.step(int64(i)); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(v[:i], func(other any) bool { return sameValue(one, other) }) {
				return &failed{at, in, "uniqueItems"}, nil
			}
		}
	}
	list, several := rules["items"].([]any)
	for i, one := range v {
		schema, place := rules["items"], at+"/items"
		if several && i < len(list) {
			schema, place = list[i], place+"/"+strconv.Itoa(i)
		} else if several {
			if schema, place = rules["additionalItems"], at+"/additionalItems"; schema == false {
				return &failed{at, in, "additionalItems"}, nil
			}
		}
		if f, err := s.look(schema, one, place, in+"/"+strconv.Itoa(i)); f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil
}

func (s *schemed) text(rules map[string]any, v, at, in string) (*failed, error) {
	if keyword := outside(rules, "Length", utf8.RuneCountInString(v)); keyword != "" {
		return &failed{at, in, keyword}, nil
	}
	if pattern, there := rules["pattern"].(string); there {
		if fits, err := s.matches(pattern, v); !fits || err != nil {
			return &failed{at, in, "pattern"}, err
		}
	}
	return nil, nil
}

// matches tells whether a text has something of a pattern. A pattern that is none is passed over, as with MySQL.
func (s *schemed) matches(pattern, text string) (bool, error) {
	_, cost := patternSteps(pattern)
	work := times(cost, int64(len(text)+len(pattern)))
	if work > maxSearch {
		return false, sqlError(erRegexpCapacity, "HY000", "A pattern of a JSON schema takes too many steps")
	}
	if err := s.step(work); err != nil {
		return false, err
	}
	p, err := regexp.Compile(pattern)
	return err != nil || p.MatchString(text), nil
}

// outside is the rule that a count does not keep to; "": there is none.
func outside(rules map[string]any, of string, count int) string {
	if least, ok := plainNumber(rules["min"+of]); ok && float64(count) < least {
		return "min" + of
	}
	if most, ok := plainNumber(rules["max"+of]); ok && float64(count) > most {
		return "max" + of
	}
	return ""
}

func numberFails(rules map[string]any, n float64, at, in string) *failed {
	least, low := plainNumber(rules["minimum"])
	most, high := plainNumber(rules["maximum"])
	of, multiple := plainNumber(rules["multipleOf"])
	switch {
	case low && n < least:
		return &failed{at, in, "minimum"}
	case low && n == least && rules["exclusiveMinimum"] == true:
		return &failed{at, in, "exclusiveMinimum"}
	case high && n > most:
		return &failed{at, in, "maximum"}
	case high && n == most && rules["exclusiveMaximum"] == true:
		return &failed{at, in, "exclusiveMaximum"}
	case multiple && of > 0 && math.Abs(n/of-math.Round(n/of)) > 1e-9:
		return &failed{at, in, "multipleOf"}
	}
	return nil
}

// plainNumber is a value of a document as a number.
func plainNumber(v any) (float64, bool) {
	switch v.(type) {
	case nil, bool, string, []any, map[string]any:
		return 0, false
	}
	n, err := strconv.ParseFloat(text64(v), 64)
	return n, err == nil
}

// sameValue tells whether two values of documents are the same.
func sameValue(a, b any) bool {
	x, ok := plainNumber(a)
	y, also := plainNumber(b)
	if ok || also {
		return ok && also && x == y
	}
	return reflect.DeepEqual(a, b)
}
