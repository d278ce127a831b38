package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/hamba/avro/v2"
)

// avroType is one type of a definition, in the form that messages are checked with.
type avroType struct {
	kind    avro.Type
	name    string // in a union: what JSON calls the branch
	fields  []avroField
	byName  map[string]int // of fields
	items   *avroType      // of an array or a map
	options []*avroType    // of a union
	branch  map[string]int // of options
	symbols map[string]int // of an enum
	size    int            // of a fixed
	empty   bool           // its binary form never has a byte

	// What only revisions need.
	aliases    []string // full names
	hasDefault bool     // of an enum
}

type avroField struct {
	name       string
	of         *avroType
	aliases    []string
	hasDefault bool
}

func compileAvro(definition string) (*avroType, *DefinitionError) {
	if err := checkNesting(definition); err != nil {
		return nil, err
	}
	if err := checkJSON(definition); err != nil {
		return nil, err
	}
	// A cache of its own: the library's default one would let one definition refer to another.
	parsed, err := avro.ParseWithCache(definition, "", &avro.SchemaCache{})
	if err != nil {
		return nil, &DefinitionError{Message: strings.TrimPrefix(err.Error(), "avro: ")}
	}
	if parsed.Type() == avro.Union {
		return nil, placed(definition, 0, "the type at the top is a union; a schema has one type there, a record as "+
			"a rule")
	}
	c := avroCompiler{named: map[string]*avroType{}}
	return c.compile(parsed)
}

// checkJSON refuses what is no JSON, and tells the place: the library would take it for a type's name. So it does names
// that are too long.
func checkJSON(definition string) *DefinitionError {
	d := json.NewDecoder(strings.NewReader(definition))
	var value any
	err := d.Decode(&value)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return placed(definition, int(syntax.Offset)-1, "this is no JSON: %v", err)
	case err != nil:
		return placed(definition, len(definition), "this is no JSON: %v", err)
	}
	end := int(d.InputOffset())
	if rest := strings.TrimLeft(definition[end:], " \t\r\n"); rest != "" {
		return placed(definition, len(definition)-len(rest), "there is more than one JSON value")
	}
	return checkNames(value)
}

// avroCompiler makes avroTypes. A named type is made once, so that one which refers to itself ends.
type avroCompiler struct{ named map[string]*avroType }

func (c *avroCompiler) compile(s avro.Schema) (*avroType, *DefinitionError) {
	if ref, ok := s.(*avro.RefSchema); ok {
		s = ref.Schema()
	}
	t := &avroType{kind: s.Type(), name: string(s.Type())}
	if n, ok := s.(avro.NamedSchema); ok {
		if known := c.named[n.FullName()]; known != nil {
			return known, nil
		}
		t.name, t.aliases = n.FullName(), n.Aliases()
		c.named[t.name] = t
	}
	var err *DefinitionError
	switch s := s.(type) {
	case *avro.RecordSchema:
		t.kind = avro.Record // an error is one, too
		t.byName = map[string]int{}
		empty := true
		for i, f := range s.Fields() {
			of, err := c.compile(f.Type())
			if err != nil {
				return nil, err
			}
			t.fields = append(t.fields, avroField{f.Name(), of, f.Aliases(), f.HasDefault()})
			t.byName[f.Name()] = i
			empty = empty && of.empty
		}
		t.empty = empty
	case *avro.NullSchema:
		t.empty = true
	case *avro.ArraySchema:
		t.items, err = c.compile(s.Items())
	case *avro.MapSchema:
		t.items, err = c.compile(s.Values())
	case *avro.UnionSchema:
		t.branch = map[string]int{}
		for i, option := range s.Types() {
			of, err := c.compile(option)
			if err != nil {
				return nil, err
			}
			t.options = append(t.options, of)
			t.branch[of.name] = i
		}
		if len(t.options) == 0 {
			return nil, &DefinitionError{Message: "a union has no types"}
		}
	case *avro.EnumSchema:
		t.hasDefault = s.HasDefault()
		t.symbols = map[string]int{}
		for i, symbol := range s.Symbols() {
			t.symbols[symbol] = i
		}
	case *avro.FixedSchema:
		if t.size = s.Size(); t.size < 0 {
			return nil, &DefinitionError{Message: "the size of " + t.name + " is negative"}
		}
		t.empty = t.size == 0
	}
	return t, err
}

// decodeJSON reads one JSON value, whole, with its numbers as they are written.
func decodeJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind the value")
	}
	return value, nil
}
