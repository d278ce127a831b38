package config

import (
	"encoding"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
)

// object is an object of JSON.
type object = map[string]any

// Patterns of texts that a schema takes where hikyaku does. Whatever comes from the environment passes: only a start
// can tell.
const (
	envPattern      = `\$\{`
	durationPattern = `^\s*\+?((([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+|[0-9]+d|0)\s*$|` + envPattern
	sizePattern     = `^\s*-?[0-9][0-9_]*\s*([kKmMgGtT]([iI]?[bB])?|[bB])?\s*$|` + envPattern
	namePattern     = `^[A-Za-z0-9_-]{1,100}$`
)

// JSONSchema is the schema of a configuration for editors, in the draft that they know best (draft-07). What depends on
// more than one value, as whether inputs are there, only a reading finds.
func JSONSchema() []byte {
	m := &schemaMaker{reference{comments: parseComments(comments)}, object{}}
	s := m.object(reflect.TypeFor[schema]())
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = "Configuration of hikyaku"
	s["definitions"] = m.definitions
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil { // it is made of nothing but texts, numbers, lists and maps
		panic(err)
	}
	return append(text, '\n')
}

// schemaMaker makes the schema of Go types, as the decoder reads them.
type schemaMaker struct {
	reference
	definitions object
}

// object is the schema of a mapping whose keys belong to one of the structs.
func (m *schemaMaker) object(types ...reflect.Type) object {
	properties, required := object{}, []string{}
	for _, t := range types {
		for _, f := range fieldsOf(t) {
			if properties[f.name] != nil {
				continue // it belongs to the first
			}
			properties[f.name] = m.property(&f)
			if f.required() {
				required = append(required, f.name)
			}
		}
	}
	s := object{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["type"], s["required"] = []string{"object"}, required
	}
	return s
}

// property is the schema of a key with what is said of it.
func (m *schemaMaker) property(f *field) object {
	s := m.value(f.typ, f)
	text := strings.ReplaceAll(m.doc(f), "`", "")
	if f.typ == durationType {
		if least := f.tag.Get("min"); least != "" && least != "0" {
			text += " At least " + least + "."
		}
		if most := f.tag.Get("max"); most != "" {
			text += " At most " + most + "."
		}
	}
	if text != "" {
		s["description"] = text
	}
	if standard, ok := f.tag.Lookup("default"); ok {
		s["default"] = jsonValue(standard)
	}
	return s
}

// jsonValue is a default as JSON writes it.
func jsonValue(text string) any {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	if b, err := strconv.ParseBool(text); err == nil {
		return b
	}
	return text
}

// value is the schema of what a type takes.
func (m *schemaMaker) value(t reflect.Type, f *field) object {
	if s := m.own(t); s != nil {
		return s
	}
	p := reflect.PointerTo(t)
	switch {
	case p.Implements(reflect.TypeFor[pairSetter]()):
		return object{"type": []string{"object", "null"}, "additionalProperties": object{"type": "string"}}
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return object{"type": []string{"string", "number", "boolean"}}
	case t == durationType: // 0 wants no unit
		return object{"type": []string{"string", "integer"}, "pattern": durationPattern, "minimum": 0, "maximum": 0}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(m.value(t.Elem(), f))
	case reflect.Struct:
		return m.object(t)
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": m.value(t.Elem(), &field{})}
	case reflect.Slice:
		return listOf(m.value(t.Elem(), &field{tag: f.tag}))
	case reflect.Interface:
		return object{}
	case reflect.Bool:
		return object{"type": []string{"boolean", "string"}, "pattern": envPattern}
	case reflect.String:
		if all := f.oneOf(); len(all) > 0 {
			return oneOf(object{"enum": all}, object{"type": "string", "pattern": envPattern})
		}
		s := object{"type": "string"}
		if f.required() {
			s["minLength"] = 1
		}
		return s
	case reflect.Float32, reflect.Float64:
		return bounded(object{"type": []string{"number", "string"}, "pattern": envPattern}, f)
	}
	s := object{"type": []string{"integer", "string"}, "pattern": envPattern}
	if f.bytes() {
		s["pattern"] = sizePattern
	}
	s["maximum"] = uint64(math.MaxInt64) // of any that is kept
	if reflect.Zero(t).CanUint() {
		s["minimum"] = 0
	} else if t.Bits() < 64 {
		s["maximum"] = uint64(1)<<(t.Bits()-1) - 1
	}
	return bounded(s, f)
}

// own is the schema of a type that reads its values itself; nil: it does not, or any text may be right.
func (m *schemaMaker) own(t reflect.Type) object {
	env := object{"type": "string", "pattern": envPattern}
	switch t {
	case reflect.TypeFor[queueSettings]():
		return named(m.object(reflect.TypeFor[queueDefinition]()), "")
	case reflect.TypeFor[topicSettings]():
		return named(m.object(reflect.TypeFor[topic]()), "")
	case reflect.TypeFor[functionSettings]():
		return named(m.object(reflect.TypeFor[functionDefinition]()), `^[A-Za-z0-9_-]{1,64}$`)
	case reflect.TypeFor[userSettings]():
		user, rest := m.object(reflect.TypeFor[access.User]()), m.object(reflect.TypeFor[access.User]())
		user["type"], user["required"] = "object", []string{"name"}
		delete(rest["properties"].(object), "name")
		return object{"type": []string{"array", "object", "null"}, "items": user, "additionalProperties": rest}
	case reflect.TypeFor[sourceSettings]():
		return m.components(roomSource, reflect.TypeFor[sourceCommon]())
	case reflect.TypeFor[transformSettings]():
		return m.components(roomTransform, reflect.TypeFor[transformCommon]())
	case reflect.TypeFor[sinkSettings]():
		return m.components(roomSink, reflect.TypeFor[sinkCommon]())
	case reflect.TypeFor[Concurrency]():
		return oneOf(object{"const": "adaptive"}, object{"type": "integer", "minimum": 1, "maximum": maxConcurrency},
			env)
	case reflect.TypeFor[Attempts]():
		return oneOf(object{"const": "unlimited"}, object{"type": "integer", "minimum": 0}, env)
	case reflect.TypeFor[Jitter]():
		return object{"type": "string", "pattern": "^[fF][uU][lL][lL]$|" + envPattern}
	case reflect.TypeFor[Acknowledgements]():
		on := object{"enum": []any{true}}
		return oneOf(on, env, object{"type": "object", "properties": object{"enabled": on},
			"required":             []string{"enabled"},
			"additionalProperties": false})
	}
	return nil
}

// components is the schema of one room: the type of a component says which keys it has.
func (m *schemaMaker) components(r room, common reflect.Type) object {
	kinds := kindsOf(r)
	var names, texts []string
	var each []object
	for _, k := range kinds {
		names, texts = append(names, k.name), append(texts, k.summary)
		of := r.String() + "." + k.name
		definition := m.object(common, reflect.TypeOf(k.newConfig()).Elem())
		definition["description"] = k.summary
		m.definitions[of] = definition
		each = append(each, object{
			"if": object{"properties": object{"type": object{"const": k.name}}, "required": []string{"type"}},
			// the type itself is judged below
			"then": object{"$ref": "#/definitions/" + of},
		})
		definition["properties"].(object)["type"] = object{}
	}
	kind := oneOf(object{"enum": names, "enumDescriptions": texts}, object{"type": "string", "pattern": envPattern})
	kind["description"] = "The kind of " + r.String() + "."
	s := named(object{"type": "object", "properties": object{"type": kind}, "required": []string{"type"},
		"allOf": each},
		namePattern)
	s["maxProperties"] = maxParts
	return s
}

// named is a mapping from names to what each of them takes. "": the names are not looked at.
func named(each object, pattern string) object {
	s := object{"type": []string{"object", "null"}, "additionalProperties": each}
	if pattern != "" {
		s["propertyNames"] = object{"pattern": pattern}
	}
	return s
}

func oneOf(all ...object) object { return object{"anyOf": all} }

// types are those that a schema takes; nil where it does not say so in one place.
func types(s object) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []string:
		return t
	}
	return nil
}

func orNull(s object) object {
	if t := types(s); t != nil {
		if !slices.Contains(t, "null") {
			s["type"] = append(slices.Clone(t), "null")
		}
		return s
	}
	return oneOf(s, object{"type": "null"})
}

// listOf is a list, of which one value stands for a list of one.
func listOf(item object) object {
	list := object{"type": []string{"array", "null"}, "items": item}
	t := types(item)
	if t == nil || slices.Contains(t, "array") {
		return oneOf(list, item)
	}
	one := maps.Clone(item) // what it says of texts, numbers and mappings says nothing of lists
	for _, name := range t {
		if name != "null" {
			list["type"] = append(list["type"].([]string), name)
		}
	}
	delete(one, "type")
	maps.Copy(list, one)
	return list
}

// bounded adds the range of a number.
func bounded(s object, f *field) object {
	for tag, key := range map[string]string{"min": "minimum", "max": "maximum"} {
		if n, err := strconv.ParseFloat(f.tag.Get(tag), 64); err == nil {
			s[key] = n
		}
	}
	return s
}
